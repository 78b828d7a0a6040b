// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
)

// largestBenchmark is the one of the published network's size.
const largestBenchmark = "../../config/samples/benchmark/near-scaling-70-shards.yaml"

// shortened is that benchmark with one run of a minute: of half an hour, the rest
// would be more of the same.
func shortened(t *testing.T) *v1alpha1.Benchmark {
	t.Helper()
	benchmark, err := manifest.ReadBenchmark(largestBenchmark)
	if err != nil {
		t.Fatal(err)
	}
	benchmark.Namespace = metav1.NamespaceDefault
	// The machines are where those of the preset are.
	benchmark.Spec.Network.Template.Spec.Regions = []v1alpha1.Region{
		{Name: "us-central1", Nodes: 47}, {Name: "us-east1", Nodes: 47}, {Name: "us-east4", Nodes: 46},
	}
	steps := benchmark.Spec.Load.Ramp.Steps
	for i := range steps {
		steps[i].DurationSeconds = 2
	}
	benchmark.Spec.WarmUpSeconds, benchmark.Spec.DurationSeconds = ptr.To[int32](5), 30
	// A run by itself has no spread. And what stand-ins execute in half a minute to a
	// hundredth says how busy this machine is.
	benchmark.Spec.Repetitions = 1
	var criteria []v1alpha1.BenchmarkCriterion
	for _, criterion := range benchmark.Spec.Criteria {
		switch criterion.Figure {
		case v1alpha1.FigureExecutedPerSecondSpreadPercent:
			continue
		case v1alpha1.FigureExecutedPerSecond:
			criterion.AtLeast = resource.NewQuantity(criterion.AtLeast.Value()/2, resource.DecimalSI)
		}
		criteria = append(criteria, criterion)
	}
	benchmark.Spec.Criteria = criteria
	return benchmark
}

// addMachine adds a machine for pods that are no nodes: all others are for nodes alone.
func (c *cluster) addMachine(t *testing.T) {
	t.Helper()
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "fake-default"}}
	if err := c.Create(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Minute, func(ctx context.Context) error {
		if err := c.Get(ctx, client.ObjectKeyFromObject(machine), machine); err != nil {
			return err
		}
		for _, condition := range machine.Status.Conditions {
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && len(machine.Spec.Taints) == 0 {
				return nil
			}
		}
		return fmt.Errorf("machine %s is %+v", machine.Name, machine.Status.Conditions)
	})
}

// benchmark has the operator make a benchmark of the published size: all of its
// generators start together, what was measured is there soon after its end, and
// nothing is left of it once it is deleted.
func (s *scale) benchmark(t *testing.T) {
	benchmark := shortened(t)
	s.cluster.addMachine(t)
	pods := s.cluster.runRecorders(t, benchmark.Name)
	if err := s.cluster.Create(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	eventually(t, 6*time.Minute, func(ctx context.Context) error {
		if err := pods.failed(); err != nil {
			t.Fatal(err)
		}
		if err := s.cluster.Get(ctx, client.ObjectKeyFromObject(benchmark), benchmark); err != nil {
			return err
		}
		if benchmark.Status.Phase == v1alpha1.BenchmarkFailed {
			t.Fatalf("the benchmark failed: %v, runs %+v", benchmark.Status.Verdict, benchmark.Status.Runs)
		}
		if benchmark.Status.Phase != v1alpha1.BenchmarkSucceeded {
			return fmt.Errorf("the benchmark is %s: %+v", benchmark.Status.Phase, benchmark.Status.Runs)
		}
		return nil
	})
	made, err := artifact.Read(t.Context(), pods.artifact())
	if err != nil {
		t.Fatal(err)
	}
	run := &made.Runs[0]
	generators, spread := s.nodes.Loading(benchmark.Name)
	if generators != published.validators || len(run.Nodes) != published.validators {
		t.Errorf("%d generators signed, and %d nodes are in the result, want %d", generators, len(run.Nodes), published.validators)
	}
	s.figures["secondsBetweenGenerators"] = spread.Seconds()
	s.figures["secondsUntilCollected"] = pods.endOf(resources.RecorderName(benchmark.Name, 1)).
		Sub(time.UnixMilli(run.Window.EndMs)).Seconds()
	t.Logf("%d generators started within %s; the benchmark says %q", generators, spread, benchmark.Status.Verdict)

	if err := s.cluster.Delete(t.Context(), benchmark); err != nil {
		t.Fatal(err)
	}
	eventually(t, time.Duration(s.size.validators)*2*time.Second, s.cluster.empty)
}
