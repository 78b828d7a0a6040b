// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

// evict asks the API server to evict the pod of a validator, as whoever drains
// its machine does, and says whether it may go. The budget's status is what the
// cluster's disruption controller would make of so many healthy pods.
func (p *runningPods) evict(index, healthy int) bool {
	c := p.holder(index)
	c.t.Helper()
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: p.network.Name}}
	c.read(budget)
	budget.Status = policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: budget.Generation,
		ExpectedPods:       int32(len(p.plan.Nodes)), DesiredHealthy: int32(len(p.plan.Nodes)), CurrentHealthy: int32(healthy),
	}
	if err := c.client.Status().Update(c.t.Context(), budget); err != nil {
		c.t.Fatal(err)
	}
	err := c.client.SubResource("eviction").Create(c.t.Context(), p.pod(index), &policyv1.Eviction{})
	if err != nil && !apierrors.IsTooManyRequests(err) {
		c.t.Fatal(err)
	}
	return err == nil
}

// checkLetGo checks which validators' pods may be evicted.
func (p *runningPods) checkLetGo(want ...int) {
	p.clusters[""].t.Helper()
	if err := p.letGo(want...); err != nil {
		p.clusters[""].t.Error(err)
	}
}

// letGo says when other pods may be evicted than those of some validators.
func (p *runningPods) letGo(want ...int) error {
	var got []int
	for i := range p.plan.Nodes {
		if p.pod(i).Labels[resources.LabelEviction] == resources.EvictionAllowed {
			got = append(got, i)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("%v may be evicted, want %v", got, want)
	}
	return nil
}

func TestDrain(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.reconcile()
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady)
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionTrue, v1alpha1.ReasonNothingDrained)
	for i := range pods.plan.Nodes {
		if pods.evict(i, 4) {
			t.Fatalf("%s may be evicted from a machine that nobody drains", pods.plan.Nodes[i].Name)
		}
	}

	// Two at a time are drained.
	pods.cordon(1, true)
	pods.cordon(2, true)
	pods.reconcile()
	pods.checkLetGo(1)
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDraining)
	if pods.evict(2, 3) {
		t.Fatal("both may be evicted at a time")
	}
	if !pods.evict(1, 3) {
		t.Fatal("nobody may be evicted")
	}
	pods.reconcile()
	pods.checkLetGo(1)

	// The second waits for the first, which is held again from its first moment.
	pods.end(1)
	pods.reconcile()
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
	if pods.evict(2, 3) {
		t.Fatal("the second may be evicted before the first is back")
	}
	pods.cordon(1, false)
	pods.start(1)
	if pods.evict(1, 4) {
		t.Fatal("who came back may be evicted again")
	}
	pods.reconcile()
	pods.checkLetGo(2)
	if !pods.evict(2, 3) {
		t.Fatal("the second may not be evicted once the first is back")
	}
}

func TestMachineIsKeptAfterAll(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.cordon(0, true)
	pods.reconcile()
	pods.checkLetGo(0)
	// An operator that was restarted knows as much.
	cluster.restart()
	pods.reconcile()
	pods.checkLetGo(0)

	pods.cordon(0, false)
	pods.reconcile()
	pods.checkLetGo()
	if pods.evict(0, 4) {
		t.Error("it may be evicted all the same")
	}
	pods.reconcile()
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionTrue, v1alpha1.ReasonNothingDrained)
}

// On a chain that stands still no pod is ready, which a budget alone takes for
// pods that nobody needs.
func TestDrainWhileTheChainStandsStill(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Volume = &v1alpha1.VolumeSpec{}
		network.Spec.Volume.Size.Set(1 << 30)
	})
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	pods.finalize(cluster.clock.Add(-time.Minute))
	for i := range pods.plan.Nodes {
		pods.unready(i)
		pods.cordon(i, true)
	}
	for range 3 {
		cluster.mustReconcile(network)
		pods.checkLetGo()
	}
	check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionFalse, v1alpha1.ReasonDrainWaiting)
	for i := range pods.plan.Nodes {
		if pods.evict(i, 0) {
			t.Errorf("%s may be evicted", pods.plan.Nodes[i].Name)
		}
	}
}

// A pod that changed since it was looked at is another one, or in another state.
func TestEvictionIsAboutThePodThatWasSeen(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	seen := observed.Node{Validator: pods.plan.Nodes[0], Pod: pods.pod(0)}
	run := &run{Reconciler: cluster.reconciler, network: network, plan: pods.plan}
	run.reachClusters(t.Context())

	pods.unready(0)
	if err := run.setEviction(t.Context(), &seen, true); err != nil {
		t.Fatal(err)
	}
	pods.checkLetGo()
	pods.end(0)
	if err := run.setEviction(t.Context(), &seen, true); err != nil {
		t.Fatal(err)
	}
	pods.start(0)
	if err := run.setEviction(t.Context(), &seen, true); err != nil {
		t.Fatal(err)
	}
	pods.checkLetGo()
}

// The operator counts the nodes of all clusters together, and has the rights to
// do so in members.
func TestDrainOverTwoClusters(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	network := here.createSpanning()
	here.mustReconcile(network)
	pods := here.runPods(network, map[string]*cluster{far: there.cluster})
	// The second producer of the first shard is there, the first one here.
	pods.cordon(1, true)
	here.eventually(network, func() error {
		pods.finalize(here.clock)
		return pods.letGo(1)
	})
	pods.cordon(0, true)
	pods.reconcile()
	pods.checkLetGo(1)
	if pods.evict(0, 3) {
		t.Error("the producer here may be evicted with the one there")
	}
	if !pods.evict(1, 3) {
		t.Error("the producer there may not be evicted")
	}
}

// A member that was joined before the operator looked at machines goes on, but
// nobody is let go there.
func TestMemberThatDoesNotShowItsMachines(t *testing.T) {
	t.Parallel()
	here := newCluster(t)
	there := here.joinMember()
	there.hideMachines()
	network := here.createSpanning()
	here.mustReconcile(network)
	pods := here.runPods(network, map[string]*cluster{far: there.cluster})
	pods.cordon(1, true)
	here.eventually(network, func() error {
		pods.finalize(here.clock)
		return here.has(network, v1alpha1.ConditionNodesReady, metav1.ConditionTrue)
	})
	check(t, network, v1alpha1.ConditionClustersAvailable, metav1.ConditionTrue, v1alpha1.ReasonAllClustersAvailable)
	message := check(t, network, v1alpha1.ConditionMachinesKept, metav1.ConditionUnknown, v1alpha1.ReasonMachinesUnknown)
	if !strings.Contains(message, "the machines of the cluster far cannot be looked at") || !strings.Contains(message, "nodes is forbidden") {
		t.Errorf("the message is %q", message)
	}
	pods.checkLetGo()
}

// hideMachines takes the right to look at machines from the operator's account.
func (m *member) hideMachines() {
	m.t.Helper()
	binding := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "shardyard-member-" + m.namespace}}
	m.read(binding)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: binding.RoleRef.Name}}
	m.read(role)
	if err := m.client.Delete(m.t.Context(), binding); err != nil {
		m.t.Fatal(err)
	}
	rest := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: binding.Name}}
	for _, rule := range role.Rules {
		if !slices.Contains(rule.Resources, "nodes") {
			rest.Rules = append(rest.Rules, rule)
		}
	}
	again := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: binding.Name}, Subjects: binding.Subjects, RoleRef: binding.RoleRef,
	}
	again.RoleRef.Name = rest.Name
	for _, object := range []client.Object{rest, again} {
		if err := m.client.Create(m.t.Context(), object); err != nil {
			m.t.Fatal(err)
		}
	}
}

func TestMachinesThatAreLost(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pods.machine(0)}}
	cluster.read(machine)
	machine.Status.Conditions = []corev1.NodeCondition{{
		Type: corev1.NodeReady, Status: corev1.ConditionUnknown, Message: "Kubelet stopped posting node status.",
	}}
	if err := cluster.client.Status().Update(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	pods.unready(0)
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonMachineNotReady)

	if err := cluster.client.Delete(t.Context(), machine); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonMachineGone)
}

// A machine is looked at when it changes, and no network but those on it.
func TestMachinesThatChange(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	pods := cluster.runPods(network, nil)
	machine := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: pods.machine(0)}}
	got := cluster.reconciler.requestsOn(t.Context(), machine)
	if want := client.ObjectKeyFromObject(network); len(got) != 1 || got[0].NamespacedName != want {
		t.Errorf("looked at are %v, want %v", got, want)
	}
	machine.Name = "another"
	if got := cluster.reconciler.requestsOn(t.Context(), machine); len(got) > 0 {
		t.Errorf("of a machine without pods, looked at are %v", got)
	}

	cases := map[string]struct {
		change func(*corev1.Node)
		want   bool
	}{
		"heartbeat": {func(machine *corev1.Node) { machine.Status.Conditions[0].LastHeartbeatTime = metav1.Now() }, false},
		"cordoned":  {func(machine *corev1.Node) { machine.Spec.Unschedulable = true }, true},
		"tainted": {func(machine *corev1.Node) {
			machine.Spec.Taints = []corev1.Taint{{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule}}
		}, true},
		"silent": {func(machine *corev1.Node) { machine.Status.Conditions[0].Status = corev1.ConditionUnknown }, true},
	}
	for name, test := range cases {
		before := &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{
			{Type: corev1.NodeReady, Status: corev1.ConditionTrue},
		}}}
		after := before.DeepCopy()
		test.change(after)
		if got := machineChanged.Update(event.UpdateEvent{ObjectOld: before, ObjectNew: after}); got != test.want {
			t.Errorf("%s: it is looked at: %v, want %v", name, got, test.want)
		}
	}
}

// Earlier operators made a budget for each shard. Beside another one that
// selects the same pods, every eviction fails.
func TestEarlierBudgetsAreDeleted(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	budget := func(name string) *policyv1.PodDisruptionBudget {
		return &policyv1.PodDisruptionBudget{
			ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: name, Labels: resources.NetworkLabels(network.Name)},
			Spec: policyv1.PodDisruptionBudgetSpec{
				MaxUnavailable: ptr.To(intstr.FromInt32(1)),
				Selector:       &metav1.LabelSelector{MatchLabels: resources.NetworkLabels(network.Name)},
			},
		}
	}
	own, foreign := budget("quickstart-s0"), budget("somebody-elses")
	own.OwnerReferences = []metav1.OwnerReference{resources.OwnerReference(network)}
	for _, object := range []client.Object{own, foreign} {
		if err := cluster.client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	cluster.mustReconcile(network)
	for object, want := range map[client.Object]bool{own: false, foreign: true, budget("quickstart"): true} {
		err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(object), object)
		if client.IgnoreNotFound(err) != nil {
			t.Fatal(err)
		}
		if there := err == nil; there != want {
			t.Errorf("%s is there: %v, want %v", object.GetName(), there, want)
		}
	}
}
