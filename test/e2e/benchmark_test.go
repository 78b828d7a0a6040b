// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/resources"
)

const (
	benchmarkNamespace = "benchmarks"
	// benchmarkRate is a load that two validators carry on a busy machine.
	benchmarkRate = 50
)

// testBenchmark runs a benchmark of a schedule while the operator is killed, and those
// of which a validator, or the loader, is killed. It waits most of the time, so other parts run beside it.
func (c *cluster) testBenchmark(t *testing.T) {
	t.Parallel()
	c.newNamespace(t, benchmarkNamespace, "restricted")
	endpoint := c.startBucket(t, bucketNamespace, benchmarkNamespace)
	t.Run("operator killed", func(t *testing.T) {
		t.Parallel()
		s := c.newBenchmarkSchedule(t, "steady", 2)
		b := s.untilStarted(t)
		b.untilLoaded(t)
		c.killOperator(t)
		s.suspend(t)
		b.untilEnded(t, v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded)
		b.checkFigures(t)
		b.checkArtifact(t)
		s.checkListed(t, b)
		s.remove(t, b)
	})
	t.Run("closed loop", func(t *testing.T) {
		t.Parallel()
		spec := newClosedLoopSpec()
		spec.Upload = uploadTo(endpoint)
		b := c.newBenchmarkOf(t, "loop", spec)
		b.untilEnded(t, v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded)
		b.checkSteered(t)
		b.checkUploaded(t, endpoint)
		b.remove(t)
	})
	t.Run("fixed count", func(t *testing.T) {
		t.Parallel()
		b := c.newBenchmarkOf(t, "count", newFixedCountSpec())
		b.untilEnded(t, v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded)
		b.remove(t)
	})
	t.Run("a network that runs", func(t *testing.T) {
		t.Parallel()
		c.testBenchmarkOfRunningNetwork(t)
	})
	t.Run("users", c.testUsers)
	t.Run("loader killed", c.testLoaderKilled)
	t.Run("validator killed", func(t *testing.T) {
		t.Parallel()
		b := c.newBenchmark(t, "broken", 1)
		b.untilLoaded(t)
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: b.Namespace, Name: resources.PodName("broken-s0-p1")}}
		if err := c.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
		b.untilEnded(t, v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken)
		b.remove(t)
	})
}

// testBenchmarkOfRunningNetwork runs a benchmark that names a network, which has a load of
// its own and has it again afterwards.
func (c *cluster) testBenchmarkOfRunningNetwork(t *testing.T) {
	t.Helper()
	spec := newBenchmarkSpec(1)
	own := *spec.Network.Template.Spec.DeepCopy()
	own.Load = &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](5)},
	}
	n := c.create(t, benchmarkNamespace, "running", &own)
	n.waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	before := n.mustRead(t)
	spec.Network = v1alpha1.BenchmarkNetwork{Name: n.name}
	b := c.newBenchmarkOf(t, "named", spec)
	b.untilEnded(t, v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded)
	b.checkSteered(t)
	after := n.mustRead(t)
	if after.UID != before.UID || after.Generation != before.Generation || after.Labels[resources.LabelBenchmarkUID] != "" {
		t.Errorf("the network was %+v, and is %+v", before.ObjectMeta, after.ObjectMeta)
	}
	eventually(t, "the own load of "+n.name, func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		if load := live.Status.Load; load == nil || load.OfferedTransfersPerSecond == nil || *load.OfferedTransfersPerSecond != 5 {
			return fmt.Errorf("its load is %+v", load)
		}
		return nil
	})
	b.remove(t)
	n.remove(t)
	n.waitForEnd(t)
}

// benchmark is a Benchmark of the cluster.
type benchmark struct {
	*v1alpha1.Benchmark
	*cluster
}

// newBenchmark makes a benchmark of a small network. When the test fails, it says
// how it was.
func (c *cluster) newBenchmark(t *testing.T, name string, repetitions int32) *benchmark {
	t.Helper()
	return c.newBenchmarkOf(t, name, newBenchmarkSpec(repetitions))
}

func (c *cluster) newBenchmarkOf(t *testing.T, name string, spec v1alpha1.BenchmarkSpec) *benchmark {
	t.Helper()
	b := &benchmark{cluster: c, Benchmark: &v1alpha1.Benchmark{
		ObjectMeta: metav1.ObjectMeta{Namespace: benchmarkNamespace, Name: name}, Spec: spec,
	}}
	if err := c.Create(t.Context(), b.Benchmark); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			b.show(t)
		}
	})
	return b
}

func newBenchmarkSpec(repetitions int32) v1alpha1.BenchmarkSpec {
	network := newSpec()
	network.ProducersPerShard, network.Regions[0].Nodes = 2, 2
	return v1alpha1.BenchmarkSpec{
		Network: v1alpha1.BenchmarkNetwork{Template: v1alpha1.BenchmarkNetworkTemplate{Spec: network}},
		Load: v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
			Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](benchmarkRate), DurationSeconds: 1}},
		}},
		WarmUpSeconds:   ptr.To[int32](5),
		DurationSeconds: 10,
		Repetitions:     repetitions,
		Criteria: []v1alpha1.BenchmarkCriterion{
			{Figure: v1alpha1.FigureExecutedPerSecond, AtLeast: ptr.To(resource.MustParse("25"))},
		},
	}
}

// newClosedLoopSpec is a benchmark whose controller goes to the most that it may ask
// for: blocks come faster than they should under so little.
func newClosedLoopSpec() v1alpha1.BenchmarkSpec {
	spec := newBenchmarkSpec(1)
	spec.Network.Template.Spec.Protocol.ChunkWaitMilliseconds = 5000
	spec.Load = v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{
		TargetBlockTimeMilliseconds: 1500, InitialTransfersPerSecond: benchmarkRate - 10, MaxTransfersPerSecond: benchmarkRate,
	}}
	return spec
}

// newFixedCountSpec is a benchmark of as many transfers, each of which has to be executed.
func newFixedCountSpec() v1alpha1.BenchmarkSpec {
	spec := newBenchmarkSpec(1)
	spec.Load = v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: 997}, Signing: v1alpha1.SigningBefore,
	}
	spec.WarmUpSeconds, spec.DurationSeconds = ptr.To[int32](0), 90
	spec.Criteria = []v1alpha1.BenchmarkCriterion{
		{Figure: v1alpha1.FigureCompletionSeconds, AtMost: ptr.To(resource.MustParse("90"))},
		{Figure: v1alpha1.FigureFailedPerSecond, AtMost: ptr.To(resource.MustParse("0"))},
	}
	return spec
}

func (b *benchmark) show(t *testing.T) {
	t.Helper()
	b.cluster.show(t, "--namespace", b.Namespace, "describe", "benchmark", b.Name)
	b.cluster.show(t, "--namespace", b.Namespace, "get", "shardnetworks,pods,pvc", "--output", "wide")
	b.cluster.show(t, "--namespace", b.Namespace, "logs", "--selector", resources.LabelBenchmark+"="+b.Name, "--prefix", "--tail", "20")
	b.showOperator(t)
}

func (b *benchmark) read(ctx context.Context) error {
	return b.Get(ctx, client.ObjectKeyFromObject(b.Benchmark), b.Benchmark)
}

// untilLoaded waits until the network of a run carries its load and is recorded.
func (b *benchmark) untilLoaded(t *testing.T) {
	t.Helper()
	n := b.network(t, b.Namespace, b.Name)
	eventually(t, "the load of "+b.Name, func(ctx context.Context) error {
		live, err := n.read(ctx)
		if err != nil {
			return err
		}
		if live.Status.Load == nil {
			return fmt.Errorf("its network is %+v", live.Status)
		}
		return nil
	})
}

// untilEnded waits until the benchmark has ended, in a phase and by a reason.
func (b *benchmark) untilEnded(t *testing.T, phase v1alpha1.BenchmarkPhase, reason string) {
	t.Helper()
	eventually(t, "the end of "+b.Name, func(ctx context.Context) error {
		if err := b.read(ctx); err != nil {
			return err
		}
		if b.Status.EndTime == nil {
			return fmt.Errorf("it is %s: %+v", b.Status.Phase, b.Status.Conditions)
		}
		return nil
	})
	status := &b.Status
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	if status.Phase != phase || ready.Reason != reason {
		t.Errorf("%s is %s by %s, want %s by %s: %s", b.Name, status.Phase, ready.Reason, phase, reason, ready.Message)
	}
}

// checkFigures checks what both runs measured.
func (b *benchmark) checkFigures(t *testing.T) {
	t.Helper()
	status := &b.Status
	if len(status.Runs) != 2 || status.RunsSummary != "2/2" || status.Artifact == nil {
		t.Errorf("the status is %+v", status)
	}
	for i := range status.Runs {
		run := &status.Runs[i]
		if rate := run.TransfersPerSecond; rate == nil || *rate < benchmarkRate/2 || *rate > 2*benchmarkRate {
			t.Errorf("run %d is %+v, want it to execute about %d transfers per second", run.Number, run, benchmarkRate)
		}
	}
	known := func(name v1alpha1.BenchmarkFigure) bool {
		return slices.ContainsFunc(status.Figures, func(figure v1alpha1.BenchmarkFigureStatus) bool { return figure.Figure == name })
	}
	for _, name := range []v1alpha1.BenchmarkFigure{
		v1alpha1.FigureExecutedPerSecond, v1alpha1.FigureBlockTimeP99Milliseconds, v1alpha1.FigureCPUMicrosecondsPerTransfer,
	} {
		if !known(name) {
			t.Errorf("%s is not known: %+v", name, status.Figures)
		}
	}
}

// checkArtifact fetches the result, as a user would.
func (b *benchmark) checkArtifact(t *testing.T) {
	t.Helper()
	folder := t.TempDir()
	shardyard := program{filepath.Join(t.TempDir(), "shardyard"), os.Environ()}
	program{"go", append(os.Environ(), "CGO_ENABLED=0")}.mustRun(t, "build", "-o", shardyard.path, "../../cmd/shardyard")
	output := shardyard.mustRun(t, "bench", "fetch", b.Name, "--namespace", b.Namespace, "--kubeconfig", b.kubeconfig, "--output", folder)
	if !strings.Contains(output, "Succeeded: ") {
		t.Errorf("the result says\n%s", output)
	}
	made, err := artifact.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Runs) != 2 || made.Runs[0].GenesisHash == made.Runs[1].GenesisHash || len(made.Runs[0].MeasuredBlocks()) < 2 {
		t.Errorf("the runs are %+v", made.Runs)
	}
}

// checkSteered checks that the recorder had the producers sign what its controller
// asked for: it read the token, reached the admin API, and knew each node by its key.
func (b *benchmark) checkSteered(t *testing.T) {
	t.Helper()
	status := &b.Status
	if len(status.Runs) != 1 || status.Runs[0].TransfersPerSecond == nil || *status.Runs[0].TransfersPerSecond < benchmarkRate/2 {
		t.Errorf("the runs are %+v, want one that executes about %d transfers per second", status.Runs, benchmarkRate)
	}
	policy := &networkingv1.NetworkPolicy{}
	if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.Namespace, Name: resources.SteeringPolicyName(b.Name)}, policy); err != nil {
		t.Error(err)
	}
}

// remove deletes the benchmark, and waits until nothing of it is left.
func (b *benchmark) remove(t *testing.T) {
	t.Helper()
	if err := b.Delete(t.Context(), b.Benchmark, client.PropagationPolicy(metav1.DeletePropagationForeground)); err != nil {
		t.Fatal(err)
	}
	b.network(t, b.Namespace, b.Name).waitForEnd(t)
}
