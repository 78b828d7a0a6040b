// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/topology"
)

// How far the chain is, nobody says while no node answers; how far it was at least, that
// stays.
func TestHighestFinalizedHeightStays(t *testing.T) {
	t.Parallel()
	r := &run{status: &v1alpha1.ShardNetworkStatus{}}
	for _, step := range []struct{ told, want, highest int64 }{
		{told: -1, want: -1, highest: -1},
		{told: 0, want: 0, highest: 0},
		{told: 1200, want: 1200, highest: 1200},
		{told: -1, want: -1, highest: 1200},
		{told: 1100, want: 1100, highest: 1200},
		{told: 1300, want: 1300, highest: 1300},
	} {
		observation := &observed.Network{Network: &v1alpha1.ShardNetwork{}, Nodes: make([]observed.Node, 1)}
		if step.told >= 0 {
			observation.Nodes[0].Status = &chain.Status{FinalizedHeight: uint64(step.told)}
		}
		r.summariseChain(observation)
		got, highest := ptr.Deref(r.status.FinalizedHeight, -1), ptr.Deref(r.status.HighestFinalizedHeight, -1)
		if got != step.want || highest != step.highest {
			t.Errorf("after %d the height is %d, and the highest %d; want %d and %d", step.told, got, highest, step.want, step.highest)
		}
	}
}

// That the nodes ran as another spec says makes no network ready whose nodes nobody could
// look at since.
func TestReadyOfASpecThatNobodySawTheNodesOf(t *testing.T) {
	t.Parallel()
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Name: "quickstart", Generation: 1}}
	r := &run{
		Reconciler: &Reconciler{now: time.Now}, network: network, plan: &topology.Plan{}, status: &v1alpha1.ShardNetworkStatus{},
	}
	notePlanned := func() {
		for _, kind := range []string{
			v1alpha1.ConditionWithinLifetime, v1alpha1.ConditionWithinBudget, v1alpha1.ConditionGenesisReady,
			v1alpha1.ConditionImageCompatible, v1alpha1.ConditionApplied,
		} {
			r.note(condition.New(kind, metav1.ConditionTrue, "Test", "all is well"))
		}
	}
	notePlanned()
	for _, kind := range []string{
		v1alpha1.ConditionMachinesTuned, v1alpha1.ConditionNodesReady, v1alpha1.ConditionProducing, v1alpha1.ConditionTCPTuned,
		v1alpha1.ConditionUpdated,
	} {
		r.note(condition.New(kind, metav1.ConditionTrue, "Test", "all is well"))
	}
	for i, want := range []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionUnknown} {
		generation := int64(i) + 1
		network.Generation = generation
		notePlanned()
		r.summarise()
		ready := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Status != want || ready.ObservedGeneration != generation || r.status.ObservedGeneration != generation {
			t.Errorf("of generation %d, Ready is %+v, want %s", generation, ready, want)
		}
	}
}

// A cache that has not heard of what was written yet has nothing be lost.
func TestStatusFromBefore(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	network := c.create()
	before := network.DeepCopy()
	c.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorUnavailable)
	written := network.ResourceVersion

	unchanged := func() {
		t.Helper()
		if c.read(network); network.ResourceVersion != written {
			t.Errorf("a status is written over one that is newer: %+v", network.Status.Conditions)
		}
	}
	catchUp := c.lagBehind(before)
	c.mustReconcile(network)
	unchanged()
	// A cache that stays behind is an error, but not at once.
	c.clock = c.clock.Add(maxCacheLag)
	c.mustReconcile(network)
	unchanged()
	if err := c.reconcile(network); !apierrors.IsConflict(err) {
		t.Errorf("the cache stays behind, and the error is %v", err)
	}
	unchanged()
	catchUp()
	c.clock = c.clock.Add(reportInterval)
	c.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorUnavailable)
}

// A new operator knows of nothing that was written before, and writes over none of it.
func TestStatusFromBeforeOfANewOperator(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	network := c.create()
	before := network.DeepCopy()
	c.mustReconcile(network)
	written := network.ResourceVersion
	c.restart()
	catchUp := c.lagBehind(before)
	c.mustReconcile(network)
	if network.ResourceVersion != written {
		t.Errorf("a status is written over one that is newer: %+v", network.Status.Conditions)
	}
	catchUp()
	c.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorUnavailable)
}

// A network that was made again under its name has nothing said of it that was seen of the
// one before.
func TestStatusOfAnotherNetworkOfTheName(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	before := c.create()
	if err := c.client.Delete(t.Context(), before.DeepCopy()); err != nil {
		t.Fatal(err)
	}
	after := c.create()
	c.lagBehind(before)
	c.mustReconcile(after)
	if after.UID == before.UID || len(after.Status.Conditions) > 0 {
		t.Errorf("of a network that nobody looked at, it is said: %+v", after.Status.Conditions)
	}
}

// What is written in the middle of a run is told as well, and once.
func TestTransitionsAreToldAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	network := c.create()
	c.mustReconcile(network)
	r := &run{
		Reconciler: c.reconciler, network: network.DeepCopy(), status: network.Status.DeepCopy(),
		memory: c.reconciler.memories.of(client.ObjectKeyFromObject(network), network.UID),
	}
	r.note(policy.NameTaken("Service", "quickstart-p2p"))
	if err := r.writeStatus(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.told("Warning NameTaken Applied")
	if err := r.publish(t.Context()); err != nil {
		t.Fatal(err)
	}
	select {
	case again := <-c.reconciler.recorder.(*events.FakeRecorder).Events:
		t.Errorf("it is told again: %s", again)
	default:
	}
}

// A network that goes, and of which another cluster may have something, says so once: the
// next look waits for the cache.
func TestDeletionFromBefore(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	if err := here.client.Delete(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	there.gate.set(true)
	here.read(network)
	before := network.DeepCopy()
	here.mustReconcile(network)
	check(t, network, v1alpha1.ConditionRemoved, metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable)
	written := network.ResourceVersion
	catchUp := here.lagBehind(before)
	for range 2 {
		here.mustReconcile(network)
		here.clock = here.clock.Add(-pollInterval)
	}
	if network.ResourceVersion != written {
		t.Errorf("a status is written over one that is newer: %+v", network.Status.Conditions)
	}
	catchUp()
	there.gate.set(false)
	here.eventually(network, func() error { return here.isGone(network) })
}

// An update that cannot be noted does not begin: who looks next would not know since when
// there may be trouble of its making.
func TestUpdateThatIsNotNoted(t *testing.T) {
	t.Parallel()
	m := running(t)
	m.change(logMore)
	m.mustReconcile(m.network)
	m.work()
	before := m.network.DeepCopy()
	labelled := before.DeepCopy()
	labelled.Labels = map[string]string{"team": "protocol"}
	if err := m.client.Patch(t.Context(), labelled, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	m.reconciler.memories.of(client.ObjectKeyFromObject(before), before.UID).written = ""
	catchUp := m.lagBehind(before)
	if m.mustReconcile(m.network); len(m.pods()) != 4 {
		t.Errorf("of 4 nodes, %d are replaced by an update of which nothing is known", 4-len(m.pods()))
	}
	catchUp()
	m.until(metav1.ConditionTrue, v1alpha1.ReasonUpToDate)
	if !slices.Equal(m.made, everyValidator) {
		t.Errorf("%v were replaced, want each once", m.made)
	}
}

// A cluster that was restored from a backup may go on with earlier versions.
func TestNetworkThatWasRestored(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	network := c.create()
	c.reconciler.memories.of(client.ObjectKeyFromObject(network), network.UID).wrote("999999999999", c.clock)
	c.mustReconcile(network)
	if len(network.Status.Conditions) > 0 {
		t.Error("a network is looked at that its cache may lag behind")
	}
	c.clock = c.clock.Add(maxCacheLag)
	c.mustReconcile(network)
	if len(network.Status.Conditions) == 0 {
		t.Error("a network that is behind for good is left alone")
	}
}

// lagBehind has the operator's cache have a network as it was, until it catches up.
func (c *cluster) lagBehind(network *v1alpha1.ShardNetwork) (catchUp func()) {
	upToDate := c.reconciler.client
	c.reconciler.client = interceptor.NewClient(upToDate.(client.WithWatch), interceptor.Funcs{
		Get: func(
			ctx context.Context, next client.WithWatch, key client.ObjectKey, object client.Object, options ...client.GetOption,
		) error {
			if read, ok := object.(*v1alpha1.ShardNetwork); ok {
				network.DeepCopyInto(read)
				return nil
			}
			return next.Get(ctx, key, object, options...)
		},
	})
	return func() { c.reconciler.client = upToDate }
}
