// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/resources"
)

var oneGibibyte = resource.MustParse("1Gi")

// twoVariants has two variants, two runs of each.
func twoVariants(spec *v1alpha1.BenchmarkSpec) {
	spec.Repetitions = 2
	spec.Variants = []v1alpha1.BenchmarkVariant{
		{Name: "before"}, {Name: "after", Features: &v1alpha1.NodeFeatures{SignatureBatchSize: ptr.To[int32](1)}},
	}
	spec.Baseline = &v1alpha1.BenchmarkBaseline{Figures: []v1alpha1.BenchmarkFigure{v1alpha1.FigureExecutedPerSecond}}
}

// The operator is another one at each step.
func TestABenchmark(t *testing.T) {
	t.Parallel()
	c := newCluster(t, twoVariants)
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")

	var runs []string
	for _, run := range c.status().Runs {
		runs = append(runs, fmt.Sprintf("%d %s-%d %s %d", run.Number, run.Variant, run.Repetition, run.Phase, *run.TransfersPerSecond))
	}
	want := []string{"1 before-1 Recorded 100", "2 after-1 Recorded 200", "3 after-2 Recorded 300", "4 before-2 Recorded 400"}
	if !slices.Equal(runs, want) {
		t.Errorf("the runs are %q, want %q", runs, want)
	}
	if len(c.networks) != 4 || len(c.recorders) != 4 {
		t.Errorf("%d networks carried a load, and %d recorders ran, want 4 of each", len(c.networks), len(c.recorders))
	}
	status := c.status()
	if status.RunsSummary != "4/4" || *status.TransfersPerSecond != 100 || status.Figures[0].Value != "99.6" {
		t.Errorf("the status is %+v", status)
	}
	if artifact := status.Artifact; artifact == nil || artifact.ClaimName != "bench-records" || artifact.Path != "artifact" {
		t.Errorf("the artifact is %+v", artifact)
	}
	if status.ObservedGeneration != c.benchmark.Generation {
		t.Errorf("the status is about generation %d, want %d", status.ObservedGeneration, c.benchmark.Generation)
	}
	c.checkOwned()
	before := c.benchmark.ResourceVersion
	c.reconcile()
	if c.benchmark.ResourceVersion != before {
		t.Error("a benchmark that has ended was written")
	}
}

// checkOwned checks that the cluster deletes all that is left with the benchmark.
func (c *cluster) checkOwned() {
	c.t.Helper()
	for name, object := range map[string]client.Object{
		"bench-benchmark": &corev1.ConfigMap{}, "bench-records": &corev1.PersistentVolumeClaim{},
		"bench-recorder": &networkingv1.NetworkPolicy{}, "bench-judge": &corev1.Pod{},
	} {
		if !c.get(object, name) || !metav1.IsControlledBy(object, c.benchmark) {
			c.t.Errorf("%s is not the benchmark's: %+v", name, object)
		}
	}
}

// The networks of variants differ in what the variants say, and are otherwise what
// the template says.
func TestTheNetworksOfRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
		twoVariants(spec)
		spec.Network.Template.Spec.Volume = &v1alpha1.VolumeSpec{
			Size: oneGibibyte, Retention: v1alpha1.VolumeRetentionRetain,
		}
	})
	sizes := map[string]int32{}
	for range maxSteps {
		if network := c.network(); network != nil {
			sizes[network.Labels[resources.LabelRun]] = *network.Spec.Node.Features.SignatureBatchSize
			image := ""
			if network.Labels[resources.LabelRun] != "1" {
				image = "shardnode:test"
			}
			if got := network.Spec.Node.Image; got != image {
				t.Errorf("run %s has the image %q, want %q as the first one", network.Labels[resources.LabelRun], got, image)
			}
			if network.Spec.Volume.Retention != v1alpha1.VolumeRetentionDelete {
				t.Errorf("run %s leaves disks to the next", network.Labels[resources.LabelRun])
			}
		}
		if c.ended() {
			break
		}
		c.act()
		c.reconcile()
	}
	if want := map[string]int32{"1": 0, "2": 1, "3": 1, "4": 0}; fmt.Sprint(sizes) != fmt.Sprint(want) {
		t.Errorf("the batch sizes of the runs are %v, want %v", sizes, want)
	}
}

// Variants of two images take turns; what the names came to is told to the recorders.
func TestTheImagesOfRuns(t *testing.T) {
	t.Parallel()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
		twoVariants(spec)
		spec.Variants[0].Image = "shardnode:1"
	})
	images := map[string]string{}
	for range maxSteps {
		if network := c.network(); network != nil {
			number := network.Labels[resources.LabelRun]
			images[number] = network.Spec.Node.Image
			c.runNode("bench-s0-p0-"+number, "shardnode@sha256:"+number)
			if recorder := c.pod("bench-recorder-" + number); recorder != nil &&
				!slices.Contains(recorder.Spec.Containers[0].Args, "--node-image-id=shardnode@sha256:"+number) {
				t.Errorf("the recorder of run %s is told %q", number, recorder.Spec.Containers[0].Args)
			}
		} else {
			c.must(c.client.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(c.benchmark.Namespace),
				client.MatchingLabels(resources.NetworkLabels("bench")), client.GracePeriodSeconds(0)))
		}
		if c.ended() {
			break
		}
		c.act()
		c.reconcile()
	}
	// What the operator names first, the later runs of the variant that names none have.
	want := map[string]string{"1": "shardnode:1", "2": "", "3": "shardnode:test", "4": "shardnode:1"}
	if !maps.Equal(images, want) {
		t.Errorf("the images of the runs are %v, want %v", images, want)
	}
	if got := c.status().NodeImage; got != "shardnode:test" {
		t.Errorf("the image of nodes that name none is %q", got)
	}
}

// There is no load before its recorder runs, and it is the benchmark's.
func TestTheLoadWaitsForItsRecorder(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.untilRun(v1alpha1.RunRecording)
	for range 5 {
		c.reconcile()
	}
	recorder := c.pod("bench-recorder-1")
	if recorder == nil || c.status().Runs[0].RecorderUID != string(recorder.UID) {
		t.Fatalf("the recorder is %+v", recorder)
	}
	if load := c.network().Spec.Load; load != nil {
		t.Fatalf("there is a load before its recorder runs: %+v", load)
	}
	if arguments := recorder.Spec.Containers[0].Args; !slices.Contains(arguments, "--node-image=shardnode:test") ||
		!slices.Contains(arguments, "--run=1") {
		t.Errorf("the recorder is told %q", arguments)
	}
	c.start(recorder)
	c.reconcile()
	load := c.network().Spec.Load
	if load == nil || *load.Ramp.Steps[0].TransfersPerSecond != 100 {
		t.Errorf("the load is %+v", load)
	}
}

// A load whose rate a controller, or a search, finds, or that has none, is told by the
// recorder: the network never has one in its spec.
func TestLoadsThatARecorderFinds(t *testing.T) {
	t.Parallel()
	for name, load := range map[string]v1alpha1.LoadSpec{
		"a closed loop": {Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{
			TargetBlockTimeMilliseconds: 1500, InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 1000,
		}},
		"a search": {Profile: v1alpha1.LoadProfileSearch, Search: &v1alpha1.SearchLoad{
			InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 1000,
		}},
		"a fixed count": {
			Profile: v1alpha1.LoadProfileFixedCount, FixedCount: &v1alpha1.FixedCountLoad{Transfers: 1000},
			Signing: v1alpha1.SigningBefore,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			testALoadThatARecorderFinds(t, load)
		})
	}
}

func testALoadThatARecorderFinds(t *testing.T, load v1alpha1.LoadSpec) {
	t.Helper()
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
		spec.Repetitions, spec.Load = 2, load
		if load.FixedCount != nil {
			spec.WarmUpSeconds = ptr.To[int32](0)
		}
	})
	c.untilRun(v1alpha1.RunRecording)
	c.until("the recorder", func() bool { return c.pod("bench-recorder-1") != nil })
	recorder := c.pod("bench-recorder-1")
	c.start(recorder)
	for range 5 {
		c.reconcile()
	}
	network := c.network()
	if network.Spec.Load != nil || !resources.LoadedByRecorder(network) {
		t.Errorf("the operator tells nodes their load: %+v of %+v", network.Spec.Load, network.ObjectMeta)
	}
	if arguments := recorder.Spec.Containers[0].Args; !slices.Contains(arguments, "--admin-token=/etc/shardyard-admin/admin.token") {
		t.Errorf("the recorder is told %q", arguments)
	}
	steering := &networkingv1.NetworkPolicy{}
	if !c.get(steering, "bench-steering") || !metav1.IsControlledBy(steering, c.benchmark) {
		t.Errorf("the policy of its recorders is %+v", steering)
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if len(c.networks) != 2 {
		t.Errorf("%d networks carried a load, want 2", len(c.networks))
	}
}

// What breaks a run ends the benchmark, and says what happened in which run. No
// other run is made.
func TestABrokenRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		harm func(c *cluster)
		want string
	}{
		"the recorder says so": {
			func(c *cluster) {
				message, err := summary.Encode(summary.Run{Fault: "validator bench-s0-p0 ended in the middle and was started again"})
				c.must(err)
				c.end(c.pod("bench-recorder-1"), 0, message)
			},
			"run 1 of before does not count: validator bench-s0-p0 ended in the middle and was started again",
		},
		"the recorder fails": {
			func(c *cluster) { c.end(c.pod("bench-recorder-1"), 1, "error: no room\n") },
			"run 1 of before does not count: its recorder ended: it ended with exit code 1: error: no room",
		},
		"the recorder says nothing": {
			func(c *cluster) { c.end(c.pod("bench-recorder-1"), 0, "") },
			"its recorder ended and did not say what it recorded",
		},
		"the recorder is deleted": {
			func(c *cluster) {
				c.must(c.client.Delete(c.t.Context(), c.pod("bench-recorder-1"), client.GracePeriodSeconds(0)))
			},
			"the pod of its recorder was deleted",
		},
		"the network is deleted": {
			func(c *cluster) { c.must(c.client.Delete(c.t.Context(), c.network())) },
			"its network was deleted",
		},
		"the network is another": {
			func(c *cluster) {
				network := c.network()
				c.must(c.client.Delete(c.t.Context(), network))
				network.ResourceVersion, network.UID = "", ""
				c.must(c.client.Create(c.t.Context(), network))
			},
			"its network was deleted, and there is another of its name",
		},
		"the network loses a node": {
			func(c *cluster) {
				c.condition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesMissing, "bench-s0-p0 is gone")
			},
			"its network lost nodes: NodesMissing: bench-s0-p0 is gone",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, twoVariants)
			c.underLoad()
			test.harm(c)
			c.reconcile()
			c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken, test.want)
			if runs := c.status().Runs; len(runs) != 1 || runs[0].Phase != v1alpha1.RunBroken || len(c.networks) > 1 {
				t.Errorf("the runs are %+v, of %d networks with load", runs, len(c.networks))
			}
			if c.status().TransfersPerSecond != nil || c.status().Artifact != nil {
				t.Errorf("there are figures: %+v", c.status())
			}
		})
	}
}

// An API server that does not answer is no news of a benchmark, and is asked again.
func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.underLoad()
	before, told := c.benchmark.DeepCopy(), len(c.events.Events)
	reconciler := &Reconciler{
		client: c.client, reader: silentAboutNetworks{c.client}, recorder: c.events, settings: c.settings,
		now: func() time.Time { return c.clock },
	}
	_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
	c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	if err == nil || !equality.Semantic.DeepEqual(before.Status, c.benchmark.Status) || len(c.events.Events) != told {
		t.Errorf("it is told %+v: %v", c.ready(), err)
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

// Of a new benchmark, nothing is said then, nor when somebody wrote what it looks at.
func TestAnAPIServerThatDoesNotAnswerAtFirst(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	conflicting, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	c.must(err)
	for what, reconciler := range map[string]*Reconciler{
		"no answer": {client: c.client, reader: silentAboutNetworks{c.client}},
		"a conflict": {reader: c.client, client: interceptor.NewClient(conflicting, interceptor.Funcs{
			Apply: func(context.Context, client.WithWatch, runtime.ApplyConfiguration, ...client.ApplyOption) error {
				return apierrors.NewConflict(corev1.Resource("persistentvolumeclaims"), "bench", errors.New("it was written"))
			},
		})},
	} {
		reconciler.recorder, reconciler.settings, reconciler.now = c.events, c.settings, func() time.Time { return c.clock }
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
		if want := (v1alpha1.BenchmarkStatus{ObservedGeneration: -1}); err == nil || !equality.Semantic.DeepEqual(want, *c.status()) {
			t.Errorf("%s: the status is %+v: %v", what, c.status(), err)
		}
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

// silentAboutNetworks is an API server that does not answer who reads networks.
type silentAboutNetworks struct{ client.Reader }

func (s silentAboutNetworks) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if _, ok := object.(*v1alpha1.ShardNetwork); ok {
		return apierrors.NewTimeoutError("the request did not end in time", 1)
	}
	return s.Reader.Get(ctx, key, object, options...)
}

// A chain that does not keep up is what is measured.
func TestAnOverloadedNetworkIsMeasured(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.underLoad()
	c.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded, "shards without a chunk")
	c.condition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesNotReady, "bench-s0-p0 is behind")
	c.reconcile()
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

func TestANetworkThatDoesNotBecomeReady(t *testing.T) {
	t.Parallel()
	t.Run("somebody has to change something", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, nil)
		for c.network() == nil {
			c.reconcile()
		}
		c.condition(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonBudgetExceeded, "it costs too much")
		c.reconcile()
		c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken,
			"run 1 does not count: its network cannot become ready: BudgetExceeded: it costs too much")
	})
	t.Run("it takes too long", func(t *testing.T) {
		t.Parallel()
		c := newCluster(t, nil)
		for c.network() == nil {
			c.reconcile()
		}
		c.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting, "no machine takes it")
		c.clock = c.clock.Add(30 * time.Minute)
		c.reconcile()
		if got := c.status().Runs[0].Phase; got != v1alpha1.RunPreparing {
			t.Fatalf("the run is %s before its time", got)
		}
		c.clock = c.clock.Add(time.Second)
		c.reconcile()
		c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken,
			"its network was not ready within 30m0s: Starting: no machine takes it")
	})
}

func TestTheVerdict(t *testing.T) {
	t.Parallel()
	for outcome, want := range map[result.Outcome]struct {
		phase  v1alpha1.BenchmarkPhase
		reason string
	}{
		result.Failed:    {v1alpha1.BenchmarkFailed, v1alpha1.ReasonCriterionMissed},
		result.Regressed: {v1alpha1.BenchmarkRegressed, v1alpha1.ReasonRegressed},
	} {
		t.Run(string(outcome), func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, nil)
			c.verdict.Outcome, c.verdict.Words = outcome, []string{"it decided", "and another"}
			c.checkEnd(want.phase, want.reason, "it decided")
			if c.status().Artifact == nil || len(c.status().Verdict) != 2 {
				t.Errorf("the status is %+v", c.status())
			}
			told := ""
			for len(c.events.Events) > 0 {
				told = <-c.events.Events
			}
			if !strings.Contains(told, "Warning "+want.reason) {
				t.Errorf("the last event is %q, want a warning", told)
			}
		})
	}
}

func TestAJudgeThatFails(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.until("the judge", func() bool { return c.pod("bench-judge") != nil })
	c.end(c.pod("bench-judge"), 1, "error: read record of run 1: no such file")
	c.reconcile()
	c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonNoResult,
		"all runs are recorded, and there is no result: it ended with exit code 1: error: read record of run 1")
}

func TestWhatCannotBeRun(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edit func(*v1alpha1.BenchmarkSpec)
		want string
	}{
		"a region elsewhere": {
			func(spec *v1alpha1.BenchmarkSpec) { spec.Network.Template.Spec.Regions[0].Cluster = "east" },
			"region north of its network is in another cluster",
		},
		"users whom no node serves": {
			func(spec *v1alpha1.BenchmarkSpec) {
				byUsers(spec)
				spec.Network.Template.Spec.RPCNodes, spec.Network.Template.Spec.Regions[0].Nodes = 0, 1
			},
			"the users of an open loop talk to rpc nodes in a cluster, and its network has none: give spec.network.template.spec.rpcNodes",
		},
		"nothing to compare with": {
			func(spec *v1alpha1.BenchmarkSpec) {
				spec.Baseline = &v1alpha1.BenchmarkBaseline{Figures: []v1alpha1.BenchmarkFigure{v1alpha1.FigureExecutedPerSecond}}
			},
			"there is nothing to compare with: name the result of an earlier benchmark in spec.baseline.artifact",
		},
		"more than producers sign before": {
			func(spec *v1alpha1.BenchmarkSpec) {
				spec.Load.Signing, spec.DurationSeconds = v1alpha1.SigningBefore, 60_000
				spec.Load.Ramp.Steps[0].TransfersPerSecond = ptr.To[int64](15_000)
			},
			"its network cannot carry the load: a producer has to sign ",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t, test.edit)
			c.reconcile()
			c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonNotRunnable, test.want)
			if c.network() != nil {
				t.Error("a network was made for it")
			}
		})
	}
}

// An operator that cannot make recorders says so, and one that can goes on.
func TestWithoutRecorders(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	image := c.settings.Image
	c.settings.Image = ""
	c.reconcile()
	if ready := c.ready(); c.status().Phase != v1alpha1.BenchmarkPending || !strings.Contains(ready.Message, "--recorder-image") {
		t.Errorf("the benchmark is %s: %s", c.status().Phase, ready.Message)
	}
	c.settings.Image = image
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

// Nothing of anybody else is touched.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	stranger := &v1alpha1.ShardNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.benchmark.Namespace, Name: c.benchmark.Name},
		Spec:       c.benchmark.Spec.Network.Template.Spec,
	}
	c.must(c.client.Create(t.Context(), stranger))
	for range 3 {
		if err := c.tryReconcile(); err == nil {
			t.Error("nothing will be tried again")
		}
	}
	if ready := c.ready(); ready.Reason != v1alpha1.ReasonNameTaken || len(c.status().Runs) > 0 {
		t.Errorf("the benchmark is %s: %s", ready.Reason, ready.Message)
	}
	if network := c.network(); network.UID != stranger.UID || network.DeletionTimestamp != nil || len(network.Labels) > 0 {
		t.Errorf("the network of somebody else is %+v", network.ObjectMeta)
	}
	c.must(c.client.Delete(t.Context(), stranger))
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

// While something only has to be gone, the operator looks no more often than at what waits: an
// event says when it is.
func TestWhatIsRemovedIsWaitedFor(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.untilRun(v1alpha1.RunRemoving)
	c.reconcile()
	if c.result.RequeueAfter != stepInterval {
		t.Errorf("the operator looks again %s after it removed something, want %s", c.result.RequeueAfter, stepInterval)
	}
	for range 3 {
		c.reconcile()
		if network := c.network(); network == nil || network.DeletionTimestamp == nil {
			t.Fatalf("the network is %+v", network)
		}
		if c.result.RequeueAfter != pollInterval {
			t.Errorf("the operator looks again after %s, want %s", c.result.RequeueAfter, pollInterval)
		}
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
}

// Nothing is made for a benchmark that is being deleted.
func TestDeletionInTheMiddle(t *testing.T) {
	t.Parallel()
	c := newCluster(t, nil)
	c.underLoad()
	c.must(c.client.Delete(t.Context(), c.benchmark, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	c.must(c.client.Delete(t.Context(), c.network()))
	c.must(c.client.Delete(t.Context(), c.pod("bench-recorder-1"), client.GracePeriodSeconds(0)))
	for range 5 {
		c.reconcile()
	}
	if c.network() != nil || c.pod("bench-recorder-1") != nil {
		t.Error("something was made of a benchmark that is being deleted")
	}
}
