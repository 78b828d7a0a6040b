// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/internal/policy"
)

// remove removes the network of a run, and its recorder: whatever is left of one run
// would be part of the next. The network goes last but all that it made, so that
// once it is gone, its nodes are.
func (r *run) remove(ctx context.Context, observation *policy.BenchmarkObservation) error {
	if r.benchmark.Spec.Network.Name != "" {
		return r.leave(ctx, observation)
	}
	if network := observation.Network; network != nil {
		if err := r.objects.Delete(ctx, network, metav1.DeletePropagationForeground); err != nil {
			return fmt.Errorf("delete network: %w", err)
		}
	}
	return r.removeRecorder(ctx, observation)
}

// removeRecorder removes the recorder of a run.
func (r *run) removeRecorder(ctx context.Context, observation *policy.BenchmarkObservation) error {
	// What a recorder that failed wrote into its log is worth reading.
	if pod := observation.Recorder; pod != nil && (!policy.PodEnded(pod) || r.present().Fault == "") {
		if err := r.objects.Delete(ctx, pod, metav1.DeletePropagationBackground); err != nil {
			return fmt.Errorf("delete recorder: %w", err)
		}
	}
	return nil
}

// removeJudge removes the pod that could not make the result on its machine.
func (r *run) removeJudge(ctx context.Context, observation *policy.BenchmarkObservation) error {
	if err := r.objects.Delete(ctx, observation.Judge, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("delete judge: %w", err)
	}
	return nil
}

// removeUploader removes the pod that did not upload the result in time.
func (r *run) removeUploader(ctx context.Context, observation *policy.BenchmarkObservation) error {
	if err := r.objects.Delete(ctx, observation.Uploader, metav1.DeletePropagationBackground); err != nil {
		return fmt.Errorf("delete uploader: %w", err)
	}
	return nil
}
