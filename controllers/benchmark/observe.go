// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/figures"
	"github.com/shardyard/shardyard/internal/bench/summary"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/resources"
)

// observe finds what there is of a benchmark.
func (r *run) observe(ctx context.Context) (*benchmarkpolicy.Observation, error) {
	observation := &benchmarkpolicy.Observation{Benchmark: r.benchmark, Now: r.now()}
	for i, planned := range r.runs {
		observation.Runs = append(observation.Runs, v1alpha1.BenchmarkRunStatus{
			Number: int32(i + 1), Variant: planned.VariantName, Repetition: int32(planned.Repetition),
		})
	}
	if err := r.observeNetwork(ctx, observation); err != nil {
		return nil, err
	}
	var err error
	if present, ok := benchmarkpolicy.PresentRun(r.status); ok {
		if observation.NodeImageIDs, err = r.nodeImageIDs(ctx, &r.status.Runs[present]); err != nil {
			return nil, err
		}
		observation.Recorder, err = r.findPod(ctx, resources.RecorderName(r.benchmark.Name, r.status.Runs[present].Number))
	} else if len(r.status.Runs) == len(r.runs) {
		observation.Judge, err = r.findPod(ctx, resources.JudgeName(r.benchmark.Name))
		if err == nil && r.benchmark.Spec.Upload != nil {
			observation.Uploader, err = r.findPod(ctx, resources.UploaderName(r.benchmark.Name))
		}
	}
	if err != nil {
		return nil, err
	}
	observation.Recorded, observation.Judged = recorded(observation.Recorder), judged(observation.Judge)
	observation.UploadedTo = uploadedTo(observation.Uploader)
	return observation, nil
}

// observeNetwork finds the network of the benchmark.
func (r *run) observeNetwork(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	if r.benchmark.Spec.Network.Name != "" {
		return r.observeNamed(ctx, observation)
	}
	network := &v1alpha1.ShardNetwork{}
	found, err := r.objects.Find(ctx, network, v1alpha1.KindShardNetwork, r.benchmark.Name)
	if err == nil && found {
		observation.Network = network
	}
	return err
}

// nodeImageIDs are what the name of the node image came to on the machines of a run's
// nodes, each once; none once the run is recorded, when nobody asks any more.
func (r *run) nodeImageIDs(ctx context.Context, present *v1alpha1.BenchmarkRunStatus) ([]string, error) {
	if present.Phase != v1alpha1.RunRecording || present.RecorderUID != "" {
		return nil, nil
	}
	pods := &corev1.PodList{}
	if err := r.reader.List(ctx, pods, client.InNamespace(r.benchmark.Namespace),
		client.MatchingLabels(resources.NetworkLabels(resources.NetworkOf(r.benchmark)))); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	var ids []string
	for i := range pods.Items {
		for _, container := range pods.Items[i].Status.ContainerStatuses {
			if container.Name == resources.ContainerName && container.ImageID != "" {
				ids = append(ids, container.ImageID)
			}
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// findPod finds a pod of the benchmark; nil when there is none.
func (r *run) findPod(ctx context.Context, name string) (*corev1.Pod, error) {
	pod := &corev1.Pod{}
	found, err := r.objects.Find(ctx, pod, "Pod", name)
	if err != nil || !found {
		return nil, err
	}
	return pod, nil
}

// recorded is what a recorder said; nil when it said nothing that is understood.
func recorded(pod *corev1.Pod) *benchmarkpolicy.Recorded {
	said, err := summary.Decode[summary.Run](lastMessage(pod))
	if err != nil {
		return nil
	}
	return &benchmarkpolicy.Recorded{
		Fault:              said.Fault,
		From:               metav1.NewMicroTime(time.UnixMilli(said.Window.BeginMs)),
		To:                 metav1.NewMicroTime(time.UnixMilli(said.Window.EndMs)),
		TransfersPerSecond: rounded(said.ExecutedPerSecond),
	}
}

// judged is what the judge said; nil when it said nothing that is understood.
func judged(pod *corev1.Pod) *benchmarkpolicy.Judged {
	said, err := summary.Decode[summary.Result](lastMessage(pod))
	if err != nil {
		return nil
	}
	phase := v1alpha1.BenchmarkPhase(said.Outcome)
	if !benchmarkpolicy.Ended(phase) {
		return nil
	}
	made := &benchmarkpolicy.Judged{Phase: phase, Words: said.Words}
	for i := range said.Figures {
		figure := &said.Figures[i]
		made.Figures = append(made.Figures, v1alpha1.BenchmarkFigureStatus{Figure: figure.Name, Value: figures.Number(figure.Value)})
		if figure.Name == v1alpha1.FigureExecutedPerSecond {
			made.TransfersPerSecond = rounded(&figure.Value)
		}
	}
	return made
}

// uploadedTo is where an uploader said that the result is; empty when it said nothing
// that is understood.
func uploadedTo(pod *corev1.Pod) string {
	said, err := summary.Decode[summary.Upload](lastMessage(pod))
	if err != nil {
		return ""
	}
	return said.URL
}

// lastMessage is the termination message of a pod's container; empty when there is
// none.
func lastMessage(pod *corev1.Pod) string {
	if pod == nil {
		return ""
	}
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.ExitCode == 0 {
			return ended.Message
		}
	}
	return ""
}

func rounded(rate *float64) *int64 {
	if rate == nil {
		return nil
	}
	whole := int64(math.Round(*rate))
	return &whole
}
