// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/deaths"
)

// ownLoad is what the network of somebody else carries by itself.
var ownLoad = v1alpha1.LoadSpec{
	Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To[int64](7)},
}

// newNamedCluster has a benchmark that names a network, which runs and carries a load.
func newNamedCluster(t *testing.T, edit func(*v1alpha1.BenchmarkSpec), editNetwork func(*v1alpha1.ShardNetwork)) *cluster {
	t.Helper()
	network := &v1alpha1.ShardNetwork{}
	c := newCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
		network.Spec = *spec.Network.Template.Spec.DeepCopy()
		spec.Network = v1alpha1.BenchmarkNetwork{Name: "running"}
		if edit != nil {
			edit(spec)
		}
	})
	network.Namespace, network.Name, network.Labels = c.benchmark.Namespace, "running", map[string]string{"team": "protocol"}
	network.Spec.Load = ownLoad.DeepCopy()
	if editNetwork != nil {
		editNetwork(network)
	}
	c.must(c.client.Create(t.Context(), network))
	c.makeReady()
	c.carryOwnLoad()
	return c
}

// carryOwnLoad has the network say that it carries the load of its spec.
func (c *cluster) carryOwnLoad() {
	c.t.Helper()
	network := c.network()
	network.Status.Load = &v1alpha1.LoadStatus{Schedule: "own", StartTime: metav1.NewTime(c.clock)}
	c.must(c.client.Status().Update(c.t.Context(), network))
}

// giveUpLoad does what the operator does with a network that is claimed.
func (c *cluster) giveUpLoad() {
	c.t.Helper()
	if network := c.network(); network != nil && network.Status.Load != nil && resources.ClaimedFor(network, c.benchmark) {
		network.Status.Load = nil
		c.must(c.client.Status().Update(c.t.Context(), network))
	}
}

// untilMeasured waits until the network carries the load of the first run.
func (c *cluster) untilMeasured() {
	c.t.Helper()
	for range maxSteps {
		if network := c.network(); network != nil && c.loaded(network) {
			return
		}
		c.giveUpLoad()
		if pod := c.pod("bench-recorder-1"); pod != nil && pod.Status.Phase == corev1.PodPending {
			c.start(pod)
			continue
		}
		c.reconcile()
	}
	c.t.Fatalf("the network does not carry the load; it was told\n%s", strings.Join(c.told, "\n"))
}

// checkReleased checks that a network is as somebody else made it.
func (c *cluster) checkReleased(network *v1alpha1.ShardNetwork) {
	c.t.Helper()
	if network.DeletionTimestamp != nil || !maps.Equal(network.Labels, map[string]string{"team": "protocol"}) {
		c.t.Errorf("the network is left as %+v", network.ObjectMeta)
	}
	for _, entry := range network.ManagedFields {
		if entry.Manager == FieldManager && entry.FieldsV1 != nil && entry.FieldsV1.GetRawString() != "{}" {
			c.t.Errorf("the benchmark still says of the network: %s", entry.FieldsV1.GetRawString())
		}
	}
}

// A network that is named carries the load of all runs and then its own again. Nothing
// of its spec is changed.
func TestANamedNetwork(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions = 2 }, nil)
	before := c.network()
	c.untilRun(v1alpha1.RunPreparing)
	for range 5 {
		c.reconcile()
	}
	if network := c.network(); !resources.ClaimedFor(network, c.benchmark) || c.pod("bench-recorder-1") != nil {
		t.Fatalf("with its own load, the network is %+v, and the recorder %v", network.Labels, c.pod("bench-recorder-1"))
	}
	c.giveUpLoad()
	c.until("the second run", func() bool { return len(c.status().Runs) == 2 })
	if !resources.ClaimedFor(c.network(), c.benchmark) {
		t.Error("between two runs, the network has its own load")
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	after := c.network()
	if after.UID != before.UID || after.Generation != before.Generation {
		t.Errorf("the network was %+v, and is %+v", before.ObjectMeta, after.ObjectMeta)
	}
	if len(c.networks) != 1 || len(c.recorders) != 2 {
		t.Errorf("%d networks carried a load, and %d recorders ran, want 1 and 2", len(c.networks), len(c.recorders))
	}
	for _, run := range c.status().Runs {
		if run.NetworkUID != string(before.UID) || run.NetworkGeneration != before.Generation {
			t.Errorf("the run is of %s in generation %d, want %s in %d", run.NetworkUID, run.NetworkGeneration, before.UID, before.Generation)
		}
	}
}

// The recorder of a network that is named reads what it is, and reaches its nodes.
func TestTheRecorderOfANamedNetwork(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, nil, nil)
	c.untilMeasured()
	arguments := c.pod("bench-recorder-1").Spec.Containers[0].Args
	for _, want := range []string{"--network=/etc/shardyard-network/network.json", "--admin-token=/etc/shardyard-admin/admin.token"} {
		if !slices.Contains(arguments, want) {
			t.Errorf("the recorder is told %q, want %s", arguments, want)
		}
	}
	config := &corev1.ConfigMap{}
	if !c.get(config, "bench-network") || !metav1.IsControlledBy(config, c.benchmark) {
		t.Fatalf("the network of its pods is %+v", config)
	}
	read := &v1alpha1.ShardNetwork{}
	c.must(json.Unmarshal([]byte(config.Data["network.json"]), read))
	network := c.network()
	if read.Name != "running" || read.UID != network.UID || !read.CreationTimestamp.Equal(&network.CreationTimestamp) ||
		read.Spec.Genesis != network.Spec.Genesis {
		t.Errorf("its pods read %+v", read)
	}
	for _, name := range []string{"bench-recorder", "bench-steering"} {
		policy := &networkingv1.NetworkPolicy{}
		if !c.get(policy, name) {
			t.Fatalf("there is no policy %s", name)
		}
		content, err := json.Marshal(policy.Spec)
		c.must(err)
		if !strings.Contains(string(content), `"shardyard.dev/network":"running"`) {
			t.Errorf("the policy %s is %s", name, content)
		}
	}
}

// What a network has to be before a benchmark that names it begins.
func TestNamedNetworksThatAreRefused(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		edit   func(*v1alpha1.ShardNetwork)
		change func(c *cluster)
		want   string
	}{
		"none": {
			nil, func(c *cluster) { c.must(c.client.Delete(c.t.Context(), c.network())) },
			"there is no ShardNetwork running in its namespace",
		},
		"one that is not ready": {
			nil, func(c *cluster) {
				c.condition(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonDegraded, "a node is gone")
			},
			"it is not ready: Degraded: a node is gone",
		},
		"one whose spec is new": {
			nil, func(c *cluster) {
				network := c.network()
				network.Spec.Load.Constant.TransfersPerSecond = ptr.To[int64](8)
				c.must(c.client.Update(c.t.Context(), network))
			},
			"it has not taken up its spec yet",
		},
		"one with a region elsewhere": {
			func(network *v1alpha1.ShardNetwork) { network.Spec.Regions[0].Cluster = "east" }, nil,
			"region north of the ShardNetwork running is in another cluster",
		},
		"one that another benchmark made": {
			func(network *v1alpha1.ShardNetwork) {
				network.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(
					&v1alpha1.Benchmark{ObjectMeta: metav1.ObjectMeta{Name: "other", UID: "other"}},
					v1alpha1.GroupVersion.WithKind(v1alpha1.KindBenchmark))}
			}, nil,
			"it carries the load of the Benchmark other",
		},
		"one that signs less": {
			nil, nil,
			"its producers sign 1000000 at most",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCluster(t, func(spec *v1alpha1.BenchmarkSpec) {
				if strings.Contains(test.want, "1000000") {
					spec.Load.Ramp.Steps[0].TransfersPerSecond = ptr.To[int64](1_000_001)
				}
			}, test.edit)
			if test.change != nil {
				test.change(c)
			}
			c.reconcile()
			if ready := c.ready(); c.status().Phase != v1alpha1.BenchmarkFailed || ready.Reason != v1alpha1.ReasonNotRunnable ||
				!strings.Contains(ready.Message, test.want) || len(c.status().Runs) > 0 {
				t.Errorf("the benchmark is %s by %s: %s; want %s", c.status().Phase, ready.Reason, ready.Message, test.want)
			}
			if network := c.network(); network != nil && network.Labels[resources.LabelLoad] != "" {
				t.Errorf("the network is %+v", network.Labels)
			}
		})
	}
}

// Of two benchmarks that name one network, the second is refused while the first one is
// under way, and not after it.
func TestOneNetworkForTwoBenchmarks(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, nil, nil)
	c.untilMeasured()
	second := func(name string) *v1alpha1.Benchmark {
		other := &v1alpha1.Benchmark{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.benchmark.Namespace, Name: name}, Spec: c.benchmark.Spec,
		}
		c.must(c.client.Create(t.Context(), other))
		c.reconcileOne(name)
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(other), other))
		return other
	}
	early := second("early")
	if message := early.Status.Conditions[0].Message; early.Status.Phase != v1alpha1.BenchmarkFailed ||
		!strings.Contains(message, "it carries the load of the Benchmark bench") {
		t.Errorf("the other benchmark is %s: %s", early.Status.Phase, message)
	}
	c.until("the end of the first", c.ended)
	if late := second("late"); late.Status.Phase != v1alpha1.BenchmarkRunning {
		t.Errorf("the next benchmark is %s: %+v", late.Status.Phase, late.Status.Conditions)
	}
}

// What changes a network that is named breaks its run, and gives it its own load again.
func TestABrokenRunOfANamedNetwork(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		harm func(c *cluster)
		want string
	}{
		"its spec changes": {
			func(c *cluster) {
				network := c.network()
				network.Spec.Load.Constant.TransfersPerSecond = ptr.To[int64](8)
				c.must(c.client.Update(c.t.Context(), network))
			},
			"run 1 does not count: somebody changed the spec of its network",
		},
		"somebody takes it back": {
			func(c *cluster) {
				network := c.network()
				delete(network.Labels, resources.LabelLoad)
				c.must(c.client.Update(c.t.Context(), network))
			},
			"run 1 does not count: somebody gave its network another load",
		},
		"a validator starts again": {
			func(c *cluster) {
				message, err := summary.Encode(summary.Run{Fault: "validator running-s0-p0 ended in the middle and was started again"})
				c.must(err)
				c.end(c.pod("bench-recorder-1"), 0, message)
			},
			"run 1 does not count: validator running-s0-p0 ended in the middle",
		},
		"it loses a node": {
			func(c *cluster) {
				c.condition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesMissing, "running-s0-p0 is gone")
			},
			"its network lost nodes: NodesMissing: running-s0-p0 is gone",
		},
		"it goes": {
			func(c *cluster) { c.must(c.client.Delete(c.t.Context(), c.network())) },
			"its network was deleted",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCluster(t, nil, nil)
			c.untilMeasured()
			test.harm(c)
			c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken, test.want)
		})
	}
}

// The network has its own load again once the recorder has ended: two would tell its
// nodes a load.
func TestTheRecorderEndsBeforeItsClaim(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, nil, nil)
	c.untilMeasured()
	recorder := c.pod("bench-recorder-1")
	recorder.Finalizers = []string{"test/slow"}
	c.must(c.client.Update(t.Context(), recorder))
	c.condition(v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesMissing, "running-s0-p0 is gone")
	for range 5 {
		c.reconcile()
	}
	if recorder = c.pod("bench-recorder-1"); recorder == nil || recorder.DeletionTimestamp == nil {
		t.Fatalf("the recorder is %+v, want one that is told to end", recorder)
	}
	if !resources.ClaimedFor(c.network(), c.benchmark) {
		t.Error("the network has its own load again while its recorder runs")
	}
	recorder.Finalizers = nil
	c.must(c.client.Update(t.Context(), recorder))
	c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken, "its network lost nodes")
}

// reconcileOne runs an operator once for a benchmark, whichever it is.
func (c *cluster) reconcileOne(name string) {
	c.t.Helper()
	reconciler := &Reconciler{
		client: c.client, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
	}
	_, err := reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKey{Namespace: c.benchmark.Namespace, Name: name}})
	c.must(err)
}

// A benchmark that is deleted in the middle leaves the network as it was.
func TestTheNetworkOfADeletedBenchmark(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, nil, nil)
	c.untilMeasured()
	c.must(c.client.Delete(t.Context(), c.benchmark))
	c.reconcileOne(c.benchmark.Name)
	c.checkReleased(c.network())
}

// coOwn has the owner of the network apply it as he reads it, with what a benchmark says of
// it.
func (c *cluster) coOwn() {
	c.t.Helper()
	network := c.network()
	read := &unstructured.Unstructured{}
	read.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha1.KindShardNetwork))
	read.SetNamespace(network.Namespace)
	read.SetName(network.Name)
	read.SetLabels(network.Labels)
	read.SetAnnotations(map[string]string{"team.example/pager": "on"})
	c.must(c.client.Apply(c.t.Context(), client.ApplyConfigurationFromUnstructured(read), client.FieldOwner("kubectl"), client.ForceOwnership))
}

// A claim is taken back whoever else says the same of the network, and nothing but it. The
// next one finds nothing in its way.
func TestAClaimThatSomebodyElseAppliesAsWell(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(c *cluster){
		"the run counts": func(c *cluster) {
			c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
		},
		"the run breaks": func(c *cluster) {
			c.end(c.pod("bench-recorder-1"), 1, "error: no answer")
			c.checkEnd(v1alpha1.BenchmarkFailed, v1alpha1.ReasonRunBroken, "run 1 does not count")
		},
		"the benchmark is deleted": func(c *cluster) {
			c.must(c.client.Delete(c.t.Context(), c.benchmark))
			c.reconcileOne(c.benchmark.Name)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newNamedCluster(t, nil, nil)
			before := c.network()
			c.untilMeasured()
			c.coOwn()
			end(c)
			after := c.network()
			c.checkReleased(after)
			if after.UID != before.UID || after.Generation != before.Generation || after.Annotations["team.example/pager"] != "on" {
				t.Errorf("the network was %+v, and is %+v", before.ObjectMeta, after.ObjectMeta)
			}

			next := &v1alpha1.Benchmark{
				ObjectMeta: metav1.ObjectMeta{Namespace: c.benchmark.Namespace, Name: "next"}, Spec: c.benchmark.Spec,
			}
			c.must(c.client.Create(t.Context(), next))
			for range 5 {
				c.reconcileOne(next.Name)
			}
			if network := c.network(); !resources.ClaimedFor(network, next) || !resources.RunOf(network, 1) {
				t.Errorf("the network of the next benchmark is %+v", network.Labels)
			}
		})
	}
}

// An operator that is killed before, and after, each of its writes has each run measured
// once, and leaves the network as it was.
func TestKilledWithANamedNetwork(t *testing.T) {
	t.Parallel()
	c := newNamedCluster(t, func(spec *v1alpha1.BenchmarkSpec) { spec.Repetitions = 2 }, nil)
	killer := &deaths.Deaths{}
	mortal := killer.Client(t, apiServer, scheme)
	for range 2 * maxSteps {
		if c.ended() {
			break
		}
		c.giveUpLoad()
		c.act()
		killer.Revive()
		reconciler := &Reconciler{
			client: mortal, reader: c.client, recorder: c.events, settings: c.settings, now: func() time.Time { return c.clock },
		}
		_, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.benchmark)})
		if err != nil && !errors.Is(err, deaths.ErrKilled) {
			t.Fatal(err)
		}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.benchmark), c.benchmark))
	}
	c.checkEnd(v1alpha1.BenchmarkSucceeded, v1alpha1.ReasonSucceeded, "all is well")
	if len(c.recorders) != 2 {
		t.Errorf("%d recorders ran, want 2", len(c.recorders))
	}
}
