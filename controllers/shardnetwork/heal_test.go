// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// healed is a network of four whose nodes all take part, and come no closer to the
// chain for a minute before they are started again.
func healed(t *testing.T, changes ...func(*v1alpha1.ShardNetwork)) *runningPods {
	t.Helper()
	cluster := newCluster(t)
	network := cluster.create(append(changes, func(network *v1alpha1.ShardNetwork) {
		network.Spec.Healing.StuckAfterSeconds = 60
	})...)
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.reconcile()
	check(t, network, v1alpha1.ConditionKeepingUp, metav1.ConditionTrue, v1alpha1.ReasonAllKeepUp)
	return pods
}

// advance has the chain go on for so long, without some nodes, and the operator look
// at it meanwhile.
func (p *runningPods) advance(duration time.Duration, but ...int) {
	p.clusters[""].t.Helper()
	for end := p.clusters[""].clock.Add(duration); p.clusters[""].clock.Before(end); {
		for i := range p.heights {
			if !slices.Contains(but, i) {
				p.heights[i].Add(uint64(pollInterval.Milliseconds() / 250))
			}
		}
		p.reconcile()
	}
}

// goes says which pods are being deleted.
func (p *runningPods) goes() (going []int) {
	p.clusters[""].t.Helper()
	for i := range p.plan.Nodes {
		if p.pod(i).DeletionTimestamp != nil {
			going = append(going, i)
		}
	}
	return going
}

func (p *runningPods) checkGoes(want ...int) {
	p.clusters[""].t.Helper()
	if got := p.goes(); !slices.Equal(got, want) {
		p.clusters[""].t.Fatalf("the pods %v are deleted, want %v: %+v", got, want, p.network.Status.NodesBehind)
	}
}

// A node that stands still is started again once, and not a second time before it had
// twice the time to come closer, whichever operator is there.
func TestStuckNodeIsStartedAgain(t *testing.T) {
	t.Parallel()
	pods := healed(t)
	c := pods.clusters[""]
	pods.advance(20*time.Second, 1)
	check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionFalse, v1alpha1.ReasonNodeBehind)
	pods.advance(55*time.Second, 1)
	pods.checkGoes()
	pods.advance(5*time.Second, 1)
	pods.checkGoes(1)
	check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionFalse, v1alpha1.ReasonNodeRestarted)
	if counted := c.restartsOf(pods.network.Name); counted != 1 {
		t.Errorf("%v restarts are counted", counted)
	}
	c.told("Warning NodeRestarted quickstart-s0-p1 stands still at height 1200 since ")

	// It is back, where it was.
	pods.end(1)
	pods.start(1)
	c.restart()
	pods.advance(120*time.Second, 1)
	pods.checkGoes()
	pods.advance(5*time.Second, 1)
	pods.checkGoes(1)
	if restarts := pods.network.Status.NodesBehind[0].Restarts; restarts != 2 {
		t.Errorf("the status counts %d restarts", restarts)
	}

	// It comes back, and catches up.
	pods.end(1)
	pods.start(1)
	pods.heights[1].Store(pods.heights[0].Load())
	pods.advance(time.Minute)
	check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionTrue, v1alpha1.ReasonAllKeepUp)
	pods.checkGoes()
}

// restartsOf is what the metric says of a network.
func (c *cluster) restartsOf(network string) (counted float64) {
	c.t.Helper()
	registry := prometheus.NewPedanticRegistry()
	if err := registry.Register(c.reconciler.restarts); err != nil {
		c.t.Fatal(err)
	}
	families, err := registry.Gather()
	if err != nil {
		c.t.Fatal(err)
	}
	want := map[string]string{"namespace": c.namespace, "network": network}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := map[string]string{}
			for _, label := range metric.GetLabel() {
				labels[label.GetName()] = label.GetValue()
			}
			if maps.Equal(labels, want) {
				counted += metric.GetCounter().GetValue()
			}
		}
	}
	return counted
}

// Whoever catches up is left alone, however long that takes.
func TestNodeThatCatchesUpIsLeftAlone(t *testing.T) {
	t.Parallel()
	pods := healed(t)
	pods.heights[0].Add(2000)
	pods.heights[2].Add(2000)
	pods.heights[3].Add(2000)
	for range 60 {
		pods.heights[1].Add(5)
		pods.advance(pollInterval)
	}
	pods.checkGoes()
	check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionFalse, v1alpha1.ReasonNodeBehind)
}

// Nobody is started again while the chain stands still, and whoever was behind when it
// did has all the time that there is from then on.
func TestNobodyIsStartedAgainWhileTheChainStandsStill(t *testing.T) {
	t.Parallel()
	pods := healed(t)
	pods.advance(60*time.Second, 1)
	for range 60 {
		pods.clusters[""].mustReconcile(pods.network)
	}
	if message := check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged); !strings.Contains(
		message, "the chain stands still") {
		t.Errorf("the message is %q", message)
	}
	pods.checkGoes()
	pods.advance(55*time.Second, 1)
	pods.checkGoes()
}

// runFault has a fault of a validator go on.
func (c *cluster) runFault(pods *runningPods) *v1alpha1.Fault {
	c.t.Helper()
	fault := &v1alpha1.Fault{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "cut-off"},
		Spec: v1alpha1.FaultSpec{
			NetworkName: pods.network.Name, Action: v1alpha1.FaultActionPartition, DurationSeconds: 60,
			Validators: v1alpha1.FaultValidators{Names: []string{pods.plan.Nodes[1].Name}},
		},
	}
	if err := c.client.Create(c.t.Context(), fault); err != nil {
		c.t.Fatal(err)
	}
	fault.Status.Phase = v1alpha1.FaultRunning
	if err := c.client.Status().Update(c.t.Context(), fault); err != nil {
		c.t.Fatal(err)
	}
	return fault
}

// What keeps a node behind on purpose is no reason to start it again.
func TestFaultIsNotHealed(t *testing.T) {
	t.Parallel()
	pods := healed(t)
	c := pods.clusters[""]
	fault := c.runFault(pods)
	pods.advance(3*time.Minute, 1)
	pods.checkGoes()
	if message := check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged); !strings.Contains(
		message, "the Fault cut-off goes on") {
		t.Errorf("the message is %q", message)
	}

	fault.Status.Phase = v1alpha1.FaultMeasured
	if err := c.client.Status().Update(t.Context(), fault); err != nil {
		t.Fatal(err)
	}
	pods.advance(65*time.Second, 1)
	pods.checkGoes(1)
}

// A fault that begins just now may not be in a cache.
func TestFaultThatBeginsIsNotHealed(t *testing.T) {
	t.Parallel()
	pods := healed(t)
	c := pods.clusters[""]
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	c.reconciler.client = interceptor.NewClient(direct, interceptor.Funcs{
		List: func(ctx context.Context, next client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, ok := list.(*v1alpha1.FaultList); ok {
				return nil
			}
			return next.List(ctx, list, options...)
		},
	})
	c.runFault(pods)
	pods.advance(3*time.Minute, 1)
	pods.checkGoes()
}

// Where nothing is to be healed, it is told.
func TestNodeBehindIsReported(t *testing.T) {
	t.Parallel()
	pods := healed(t, func(network *v1alpha1.ShardNetwork) { network.Spec.Healing.Mode = v1alpha1.HealingReport })
	pods.advance(3*time.Minute, 1)
	pods.checkGoes()
	if message := check(t, pods.network, v1alpha1.ConditionKeepingUp, metav1.ConditionFalse, v1alpha1.ReasonNodeBehind); !strings.Contains(
		message, "quickstart-s0-p1 stands still at height 1200") {
		t.Errorf("the message is %q", message)
	}
}
