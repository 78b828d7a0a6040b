// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/policy/pods"
)

// remove removes the network of a run, and its recorder: whatever is left of one run
// would be part of the next. The network goes last but all that it made, so that
// once it is gone, its nodes are.
func (r *run) remove(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	if r.benchmark.Spec.Network.Name != "" {
		return r.leave(ctx, observation)
	}
	if network := observation.Network; network != nil {
		if err := r.delete(ctx, "network", network, metav1.DeletePropagationForeground); err != nil {
			return err
		}
	}
	return r.removeRecorder(ctx, observation)
}

// removeRecorder removes the recorder of a run.
func (r *run) removeRecorder(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	// What a recorder that failed wrote into its log is worth reading.
	if pod := observation.Recorder; pod != nil && (!pods.Ended(pod) || r.present().Fault == "") {
		return r.delete(ctx, "recorder", pod, metav1.DeletePropagationBackground)
	}
	return nil
}

// removePod removes a pod of the whole benchmark that did not do its part.
func (r *run) removePod(ctx context.Context, role string, pod *corev1.Pod) error {
	return r.delete(ctx, role, pod, metav1.DeletePropagationBackground)
}

// delete deletes an object of the benchmark. Nothing moves while one that is being deleted
// already is not gone yet: an event says when it is.
func (r *run) delete(ctx context.Context, role string, object client.Object, propagation metav1.DeletionPropagation) error {
	deleted, err := r.objects.Delete(ctx, object, propagation)
	if err != nil {
		return fmt.Errorf("delete %s: %w", role, err)
	}
	r.moved = r.moved || deleted
	return nil
}
