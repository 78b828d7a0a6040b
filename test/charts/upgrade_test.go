// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	upgradeNamespace = "shardyard-system"
	agentsNamespace  = "op-shardyard-node-tuning"
	tunedMachine     = "machine-1"
)

// release is the operator's release, of which one program runs: that of the
// latest revision, with its arguments.
type release struct {
	cluster
	program string
	running *operator
	agent   *agent
}

// TestUpgradesAndRollbacks upgrades both charts and rolls them back, CRDs
// included, while an operator runs with what they say: networks and tuned machines
// stay as they are, until their own specs change.
func TestUpgradesAndRollbacks(t *testing.T) {
	r := &release{cluster: startCluster(t), program: buildOperator(t)}
	r.installOperator(t, earlierOperatorChart(t), "--namespace", upgradeNamespace, "--create-namespace",
		"--set", "image.tag=v1,nodeImage.tag=v1")
	r.run(t)
	r.mustRun(t, "install", "quickstart", testnetChart)
	eventually(t, func(ctx context.Context) error { return r.isApplied(ctx, "quickstart", 4) })
	r.tuneMachine(t)
	before := r.validators(t)

	r.upgrade(t, "v2", "upgrade", "op", operatorChart, "--namespace", upgradeNamespace, "--set", "image.tag=v2,nodeImage.tag=v2")
	if names := r.definition(t).Spec.Names.ShortNames; len(names) != 1 {
		t.Errorf("after the upgrade the CRD has the short names %v, want one", names)
	}
	r.check(t, before)
	r.upgrade(t, "v1", "rollback", "op", "--namespace", upgradeNamespace)
	if names := r.definition(t).Spec.Names.ShortNames; len(names) != 0 {
		t.Errorf("after the rollback the CRD has the short names %v, want none", names)
	}
	r.check(t, before)

	r.upgradeNetwork(t)
	r.disableTuning(t)
	r.running.stop(t)
}

// run has an operator run with the arguments of the latest revision.
func (r *release) run(t *testing.T) {
	t.Helper()
	if r.running != nil {
		r.running.stop(t)
	}
	r.running = r.runOperator(t, r.program, upgradeNamespace, "op-shardyard")
}

// upgrade brings the release to another revision, and does what the cluster would
// do then: it starts another operator, and replaces the agent by one of its image.
// All the while the machine counts as tuned.
func (r *release) upgrade(t *testing.T, tag string, arguments ...string) {
	t.Helper()
	ready := r.watchReady(t)
	r.mustRun(t, arguments...)
	r.run(t)
	key := client.ObjectKey{Namespace: agentsNamespace, Name: "tuning"}
	set := &appsv1.DaemonSet{}
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, key, set); err != nil {
			return err
		}
		if image := set.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, ":"+tag) {
			return fmt.Errorf("the agents are made of %s", image)
		}
		return nil
	})
	r.agent.leave(t)
	r.agent.enter(t, set)
	eventually(t, func(context.Context) error { return r.agent.wasAsked() })
	ready()
}

// watchReady notes whether the NodeTuning is ever not ready, until the result is
// called.
func (r *release) watchReady(t *testing.T) (check func()) {
	t.Helper()
	watcher, err := client.NewWithWatch(r.config, client.Options{Scheme: r.Scheme()})
	if err != nil {
		t.Fatal(err)
	}
	events, err := watcher.Watch(t.Context(), &v1alpha1.NodeTuningList{})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var stopping atomic.Bool
	var seen int
	var violation string
	go func() {
		defer close(ended)
		for event := range events.ResultChan() {
			nodeTuning, ok := event.Object.(*v1alpha1.NodeTuning)
			if !ok {
				if !stopping.Load() {
					violation = fmt.Sprintf("the watch ended: %v", event.Object)
				}
				return
			}
			seen++
			if !meta.IsStatusConditionTrue(nodeTuning.Status.Conditions, v1alpha1.ConditionReady) ||
				len(nodeTuning.Status.Machines) != 1 || nodeTuning.Status.Machines[0].SettingsHash == "" {
				violation = fmt.Sprintf("meanwhile the NodeTuning is %+v", nodeTuning.Status)
			}
		}
	}()
	return func() {
		t.Helper()
		stopping.Store(true)
		events.Stop()
		<-ended
		if violation != "" || seen == 0 {
			t.Errorf("of %d states seen: %s", seen, violation)
		}
	}
}

// validators are the generations of the StatefulSets: they change with what the
// pods are made of.
func (r *release) validators(t *testing.T) map[string]int64 {
	t.Helper()
	var sets appsv1.StatefulSetList
	if err := r.List(t.Context(), &sets); err != nil {
		t.Fatal(err)
	}
	generations := map[string]int64{}
	for i := range sets.Items {
		set := &sets.Items[i]
		generations[set.Name] = set.Generation
		if image := set.Spec.Template.Spec.Containers[0].Image; !strings.HasSuffix(image, "/shardnode:v1") {
			t.Errorf("%s is made of %s", set.Name, image)
		}
	}
	return generations
}

// check compares validators with what they were, once the operator has looked at
// their network: it makes again what somebody took away.
func (r *release) check(t *testing.T, before map[string]int64) {
	t.Helper()
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Namespace: metav1.NamespaceDefault, Name: resources.RPCServiceName("quickstart"),
	}}
	if err := r.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error { return r.Get(ctx, client.ObjectKeyFromObject(service), service) })
	if after := r.validators(t); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("the validators are of generations %v, want %v as before", after, before)
	}
	status := r.network(t).Status
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionImageCompatible) || status.DefaultNodeImage != status.NodeImage {
		t.Errorf("the status is %+v", status)
	}
}

func (r *release) network(t *testing.T) *v1alpha1.ShardNetwork {
	t.Helper()
	network := &v1alpha1.ShardNetwork{}
	if err := r.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: "quickstart"}, network); err != nil {
		t.Fatal(err)
	}
	return network
}

// upgradeNetwork upgrades and rolls back the release of a network.
func (r *release) upgradeNetwork(t *testing.T) {
	t.Helper()
	made := func(image string) func(context.Context) error {
		return func(ctx context.Context) error {
			var sets appsv1.StatefulSetList
			if err := r.List(ctx, &sets); err != nil {
				return err
			}
			for i := range sets.Items {
				if got := sets.Items[i].Spec.Template.Spec.Containers[0].Image; got != image {
					return fmt.Errorf("%s is made of %s, want %s", sets.Items[i].Name, got, image)
				}
			}
			return nil
		}
	}
	original := r.network(t).Status.NodeImage
	r.mustRun(t, "upgrade", "quickstart", testnetChart, "--set", "network.node.image=registry/shardnode:mine")
	eventually(t, made("registry/shardnode:mine"))
	r.mustRun(t, "rollback", "quickstart")
	eventually(t, made(original))
}

// disableTuning turns the tuning off: the machine is put back first, and the
// agents' namespace goes with the upgrade after that.
func (r *release) disableTuning(t *testing.T) {
	t.Helper()
	disable := []string{"upgrade", "op", operatorChart, "--namespace", upgradeNamespace, "--set", "nodeTuning.enabled=false"}
	r.mustRun(t, disable...)
	r.run(t)
	restorers := &appsv1.DaemonSet{}
	eventually(t, func(ctx context.Context) error {
		return r.Get(ctx, client.ObjectKey{Namespace: agentsNamespace, Name: resources.RestoringName("tuning")}, restorers)
	})
	r.agent.leave(t)
	r.agent.enter(t, restorers)
	nodeTuning := &v1alpha1.NodeTuning{}
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, client.ObjectKey{Name: "tuning"}, nodeTuning); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(nodeTuning.Status.Conditions, v1alpha1.ConditionReady)
		if ready == nil || ready.Reason != v1alpha1.ReasonTuningDisabled || len(nodeTuning.Status.Machines) > 0 {
			return fmt.Errorf("the status is %+v", nodeTuning.Status)
		}
		return nil
	})
	if err := r.Delete(t.Context(), nodeTuning); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, client.ObjectKey{Name: "tuning"}, nodeTuning); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the NodeTuning is still there: %v: %w", nodeTuning.Finalizers, err)
		}
		return nil
	})
	r.agent.leave(t)

	r.mustRun(t, disable...)
	r.run(t)
	namespace := &corev1.Namespace{}
	// Nothing here removes namespaces: it is on its way out for good.
	if err := r.Get(t.Context(), client.ObjectKey{Name: agentsNamespace}, namespace); err != nil || namespace.DeletionTimestamp == nil {
		t.Errorf("the namespace of the agents is kept: %v", err)
	}
	// One that is made now is told so, and goes when it is deleted.
	nodeTuning = &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: "late"},
		Spec:       v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{RmemMaxBytes: 134217728}},
	}
	if err := r.Create(t.Context(), nodeTuning); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, client.ObjectKeyFromObject(nodeTuning), nodeTuning); err != nil {
			return err
		}
		if ready := meta.FindStatusCondition(nodeTuning.Status.Conditions, v1alpha1.ConditionReady); ready == nil {
			return fmt.Errorf("nothing is said of a NodeTuning that nobody acts on")
		}
		return nil
	})
	if err := r.Delete(t.Context(), nodeTuning); err != nil {
		t.Fatal(err)
	}
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, client.ObjectKeyFromObject(nodeTuning), nodeTuning); !apierrors.IsNotFound(err) {
			return fmt.Errorf("the NodeTuning is still there: %v: %w", nodeTuning.Finalizers, err)
		}
		return nil
	})
}

// tuneMachine makes a machine, and a NodeTuning that tunes it.
func (r *release) tuneMachine(t *testing.T) {
	t.Helper()
	if err := r.Create(t.Context(), &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: tunedMachine, Labels: map[string]string{corev1.LabelOSStable: string(corev1.Linux)},
	}}); err != nil {
		t.Fatal(err)
	}
	nodeTuning := &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: "tuning"},
		Spec:       v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{RmemMaxBytes: 134217728}},
	}
	if err := r.Create(t.Context(), nodeTuning); err != nil {
		t.Fatal(err)
	}
	set := &appsv1.DaemonSet{}
	eventually(t, func(ctx context.Context) error {
		return r.Get(ctx, client.ObjectKey{Namespace: agentsNamespace, Name: nodeTuning.Name}, set)
	})
	r.agent = newAgent(t, r.cluster)
	r.agent.enter(t, set)
	eventually(t, func(ctx context.Context) error {
		if err := r.Get(ctx, client.ObjectKeyFromObject(nodeTuning), nodeTuning); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(nodeTuning.Status.Conditions, v1alpha1.ConditionReady) {
			return fmt.Errorf("the status is %+v", nodeTuning.Status)
		}
		return nil
	})
}

// agent stands in for the agent of the machine, which is this one.
type agent struct {
	cluster
	pod *corev1.Pod

	lock   sync.Mutex
	report *tuning.Report
	asked  bool
}

// newAgent serves where agents do.
func newAgent(t *testing.T, cluster cluster) *agent {
	t.Helper()
	a := &agent{cluster: cluster}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(tuning.Port)))
	if err != nil {
		t.Fatal(err)
	}
	//nolint:gosec // The operator is the only client, and this test its only one.
	server := &http.Server{Handler: a}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	return a
}

func (a *agent) ServeHTTP(writer http.ResponseWriter, _ *http.Request) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.asked = true
	if a.report == nil {
		http.Error(writer, "nobody is there", http.StatusServiceUnavailable)
		return
	}
	_ = json.NewEncoder(writer).Encode(a.report)
}

// wasAsked says whether somebody asked since the agent entered.
func (a *agent) wasAsked() error {
	a.lock.Lock()
	defer a.lock.Unlock()
	if !a.asked {
		return fmt.Errorf("nobody asks the agent")
	}
	return nil
}

// enter has a pod of a DaemonSet run on the machine, and do what it is told.
func (a *agent) enter(t *testing.T, set *appsv1.DaemonSet) {
	t.Helper()
	settings := ""
	for _, argument := range set.Spec.Template.Spec.Containers[0].Args {
		if value, found := strings.CutPrefix(argument, "--settings="); found {
			settings = value
		}
	}
	a.lock.Lock()
	a.asked = false
	a.report = &tuning.Report{Tuning: "tuning", Machine: tunedMachine, SettingsHash: tuning.Hash(settings)}
	if settings != tuning.NoSettings {
		a.report.Settings = []tuning.SettingReport{{Name: "rmemMaxBytes", State: v1alpha1.SettingApplied}}
	}
	a.lock.Unlock()

	a.pod = &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: set.Namespace, GenerateName: "agent-", Labels: set.Spec.Template.Labels},
		Spec:       set.Spec.Template.Spec,
	}
	a.pod.Spec.NodeName = tunedMachine
	if err := a.Create(t.Context(), a.pod); err != nil {
		t.Fatal(err)
	}
	// Before the agent runs: the operator takes restorers away as soon as theirs is done.
	eventually(t, func(ctx context.Context) error {
		if err := a.Get(ctx, client.ObjectKeyFromObject(set), set); err != nil {
			return err
		}
		set.Status.ObservedGeneration, set.Status.DesiredNumberScheduled = set.Generation, 1
		return a.cluster.Status().Update(ctx, set)
	})
	a.pod.Status = corev1.PodStatus{
		Phase: corev1.PodRunning, HostIP: "127.0.0.1", HostIPs: []corev1.HostIP{{IP: "127.0.0.1"}},
	}
	if err := a.Status().Update(t.Context(), a.pod); err != nil {
		t.Fatal(err)
	}
}

// leave ends the agent.
func (a *agent) leave(t *testing.T) {
	t.Helper()
	a.lock.Lock()
	a.report = nil
	a.lock.Unlock()
	if err := a.Delete(t.Context(), a.pod, client.GracePeriodSeconds(0)); client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
}
