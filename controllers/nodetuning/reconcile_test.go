// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

const (
	applied     = v1alpha1.SettingApplied
	unavailable = v1alpha1.SettingUnavailable
	drifted     = v1alpha1.SettingDrifted
)

func TestTune(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, "0 of 0 machines")
	c.check(v1alpha1.ConditionSteady, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer, "")
	if !slices.Contains(c.tuning.Finalizers, finalizer) {
		t.Errorf("the finalizers are %v before the first machine is changed", c.tuning.Finalizers)
	}

	first, second := c.addMachine(), c.addMachine()
	c.settle()
	spec := &c.tuning.Spec.Settings
	c.answer(first, spec, 2, applied, applied)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, "1 of 2 machines are tuned; the agent of machine-2")

	// An agent of earlier settings says nothing about these.
	c.answer(second, &v1alpha1.NodeTuningSettings{RmemMaxBytes: 4096}, 1, applied)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing, "1 of 2 machines")

	c.answer(second, spec, 1, drifted, unavailable)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonSettingsUnavailable,
		"machine-2 does not take rmemMaxBytes: about rmemMaxBytes")
	c.check(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSettingsUnavailable, "machine-2 does not take")
	c.check(v1alpha1.ConditionSteady, metav1.ConditionFalse, v1alpha1.ReasonDrifted, "on machine-2, about interfaceQdisc")
	encoded, err := tuning.Encode(spec)
	c.must(err)
	want := v1alpha1.NodeTuningStatus{
		ObservedGeneration: 1,
		Machines:           []v1alpha1.TunedMachine{{Name: "machine-1", SettingsHash: tuning.Hash(encoded)}, {Name: "machine-2"}},
		MachinesWanted:     ptr.To[int32](2),
		MachinesTuned:      ptr.To[int32](1),
		Settings: []v1alpha1.SettingSummary{
			{Name: "interfaceQdisc", Applied: 1, Drifted: 1}, {Name: "rmemMaxBytes", Applied: 1, Unavailable: 1},
		},
		Exceptions: []v1alpha1.SettingException{
			{Machine: "machine-2", Setting: "interfaceQdisc", State: drifted, Message: "about interfaceQdisc"},
			{Machine: "machine-2", Setting: "rmemMaxBytes", State: unavailable, Message: "about rmemMaxBytes"},
		},
	}
	got := c.tuning.Status.DeepCopy()
	got.Conditions = nil
	if !reflect.DeepEqual(*got, want) {
		t.Errorf("the status is\n%+v, want\n%+v", *got, want)
	}

	c.answer(second, spec, 2, drifted, applied)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "2 of 2 machines read back all settings")
}

// A reconciliation of what is already so writes nothing.
func TestNothingToDo(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	c.settle()
	c.reconcile()
	set, status := c.set(), c.tuning.ResourceVersion
	c.reconcile()
	if now := c.set(); now.ResourceVersion != set.ResourceVersion {
		t.Errorf("the DaemonSet was written: %s, then %s", set.ResourceVersion, now.ResourceVersion)
	}
	if c.tuning.ResourceVersion != status {
		t.Errorf("the NodeTuning was written: %s, then %s", status, c.tuning.ResourceVersion)
	}
}

// What somebody else makes of the DaemonSet is put right.
func TestTheDaemonSetIsKept(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	set := c.set()
	want := set.DeepCopy().Spec
	set.Spec.Template.Spec.Containers[0].Image = "other:1"
	set.Spec.Template.Spec.Containers[0].Args = set.Spec.Template.Spec.Containers[0].Args[:1]
	c.must(c.client.Update(t.Context(), set))
	c.reconcile()
	if got := c.set().Spec; !reflect.DeepEqual(got, want) {
		t.Errorf("the DaemonSet is %+v, want %+v", got, want)
	}
	c.must(c.client.Delete(t.Context(), c.set()))
	c.reconcile()
	if c.set() == nil {
		t.Error("the DaemonSet was not made again")
	}
}

// Another spec is another DaemonSet, of which nothing of the old one is left.
func TestAnotherSpec(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.tuning.Spec.NodeSelector = map[string]v1alpha1.LabelValue{"a": "b"}
	c.must(c.client.Update(t.Context(), c.tuning))
	c.reconcile()
	c.tuning.Spec.NodeSelector = nil
	c.tuning.Spec.Settings = v1alpha1.NodeTuningSettings{RmemMaxBytes: 4096}
	c.must(c.client.Update(t.Context(), c.tuning))
	c.reconcile()
	pod := c.set().Spec.Template.Spec
	if want := map[string]string{corev1.LabelOSStable: "linux"}; !reflect.DeepEqual(pod.NodeSelector, want) {
		t.Errorf("the machines are selected by %v, want %v", pod.NodeSelector, want)
	}
	if want := `--settings={"rmemMaxBytes":4096}`; !slices.Contains(pod.Containers[0].Args, want) {
		t.Errorf("the agents are told %q, want %s", pod.Containers[0].Args, want)
	}
}

// No machine, and a machine that has another tuning, are said.
func TestWhoseMachine(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	c.settle()
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonNoMachines, "spec.nodeSelector")

	pod := c.addMachine().pod
	other := pod.DeepCopy()
	other.ObjectMeta = metav1.ObjectMeta{Namespace: pod.Namespace, Name: "other", Labels: resources.TuningSelector("other")}
	c.must(c.client.Create(t.Context(), other))
	waiting := pod.DeepCopy()
	waiting.ObjectMeta = metav1.ObjectMeta{Namespace: pod.Namespace, Name: "waiting", Labels: pod.Labels}
	waiting.Spec.NodeName = ""
	waiting.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
		RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
			MatchFields: []corev1.NodeSelectorRequirement{{
				Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{"machine-1"},
			}},
		}}},
	}}
	c.must(c.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)))
	c.must(c.client.Create(t.Context(), waiting))
	c.settle()
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonMachineTaken,
		"the machine machine-1 has the NodeTuning other already")
	if noted := c.noted(); noted != "" {
		t.Errorf("the machines are %s, want none: no agent of this tuning was there", noted)
	}
}

// A NodeTuning goes when all of its machines have their old values back, and
// not before.
func TestDeletion(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.tuned2()

	// Foreground, so that whatever had an owner would go at once.
	c.must(c.client.Delete(t.Context(), c.tuning, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring, "0 of 2 machines have their old values back")
	if c.set() != nil {
		t.Error("the agents that set values are still there")
	}
	if got, want := c.restoring(), "machine-1 machine-2"; got != want {
		t.Errorf("old values are put back on %q, want %q", got, want)
	}
	if args := c.restorers().Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--settings={}") {
		t.Errorf("the agents are told %q, want no settings", args)
	}

	c.restored(first, 0)
	c.restored(second, 1)
	c.answers[second.address].Trouble = "put net.core.rmem_max back: permission denied"
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring,
		"1 of 2 machines have their old values back; on machine-2: put net.core.rmem_max back: permission denied")

	// Whoever deletes the agents only delays it.
	c.must(c.client.Delete(t.Context(), c.restorers()))
	c.reconcile()
	if c.restorers() == nil {
		t.Fatal("the agents were not made again")
	}
	c.restored(second, 0)
	c.reconcile()
	if c.restorers() != nil {
		t.Error("the DaemonSet is still there")
	}
	c.checkReleased()
}

// A machine that is no longer selected gets its old values back, and one whose
// agent is only being replaced does not.
func TestDeselection(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.tuned2()

	// As the cluster replaces an agent.
	c.end(first)
	c.reconcile()
	if got := c.restoring(); got != "" {
		t.Fatalf("old values are put back on %q while an agent is replaced", got)
	}
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "2 of 2 machines read back all settings")

	// As the cluster takes an agent away.
	c.nodes["machine-2"].Spec.Taints = []corev1.Taint{{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}}
	c.run(first, c.set())
	c.answer(first, &c.tuning.Spec.Settings, 2, applied, applied)
	c.end(second)
	c.settleAt(1)
	c.reconcile()
	if got, want := c.restoring(), "machine-2"; got != want {
		t.Fatalf("old values are put back on %q, want %q", got, want)
	}
	if got, want := c.noted(), "machine-1 machine-2"; got != want {
		t.Errorf("the machines are %q before the values are back, want %q", got, want)
	}
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned,
		"1 of 1 machines read back all settings; of those that are no longer selected, 0 of 1 machine has its old values back")

	c.restored(second, 0)
	c.reconcile()
	if got, want := c.noted(), "machine-1"; got != want || c.restorers() != nil {
		t.Errorf("the machines are %q, and old values are put back on %q, want %q and none", got, c.restoring(), want)
	}
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "1 of 1 machines read back all settings")
}

// A machine that is off holds up nobody but itself: after a while the others leave the list,
// and what put them back is out of the way of another NodeTuning there.
func TestDeselectionWithAMachineThatIsOff(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.tuned2()
	for _, m := range []*machine{first, second} {
		c.nodes[m.name].Labels[corev1.LabelOSStable] = "other"
		c.end(m)
	}
	c.settleAt(0)
	c.reconcile()
	c.restored(first, 0)
	c.run(second, c.restorers())
	c.clock = second.pod.CreationTimestamp.Add(59 * time.Second)
	c.reconcile()
	c.reconcile()
	if got, want := c.restoring(), "machine-1 machine-2"; got != want || c.noted() != want {
		t.Fatalf("old values are put back on %q, and the machines are %q, want %q", got, c.noted(), want)
	}

	c.clock = second.pod.CreationTimestamp.Add(time.Minute)
	c.reconcile()
	if got, want := c.noted(), "machine-2"; got != want {
		t.Errorf("the machines are %q, want %q", got, want)
	}
	c.restart(c.reconciler.settings)
	c.reconcile()
	if got, want := c.restoring(), "machine-2"; got != want || c.noted() != want {
		t.Errorf("old values are put back on %q, and the machines are %q, want %q", got, c.noted(), want)
	}

	c.restored(second, 0)
	c.reconcile()
	if got := c.noted(); got != "" || c.restorers() != nil {
		t.Errorf("the machines are %q, and old values are put back on %q, want none", got, c.restoring())
	}
}

// Nobody waits for a machine that is gone.
func TestMachineGone(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	_, second := c.tuned2()
	delete(c.nodes, second.name)
	c.end(second)
	c.settleAt(1)
	c.reconcile()
	if got, want := c.noted(), "machine-1"; got != want || c.restorers() != nil {
		t.Errorf("the machines are %q, and old values are put back on %q, want %q and none", got, c.restoring(), want)
	}
}

// A machine is noted before its agent is asked, which is what it waits for.
func TestMachinesAreNotedBeforeTheyAreAsked(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	first := c.addMachine()
	c.settle()
	asked := false
	c.reconciler.agents = askedAgents(func() {
		asked = true
		live := &v1alpha1.NodeTuning{}
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.tuning), live))
		if len(live.Status.Machines) != 1 || live.Status.Machines[0].Name != first.name {
			t.Errorf("the agent of %s is asked while the machines are %+v", first.name, live.Status.Machines)
		}
	})
	c.reconcile()
	if !asked {
		t.Error("the agent was not asked")
	}
}

// A machine that the status has no room for is left as it is, and Ready says so.
func TestMoreMachinesThanTheStatusHolds(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	var noted []v1alpha1.TunedMachine
	for i := range tuningpolicy.MaxMachines {
		name := fmt.Sprintf("a-%04d", i)
		noted = append(noted, v1alpha1.TunedMachine{Name: name})
		c.nodes[name] = &corev1.Node{ObjectMeta: metav1.ObjectMeta{
			Name: name, Labels: map[string]string{corev1.LabelOSStable: string(corev1.Linux)},
		}}
	}
	c.tuning.Status.Machines = noted
	c.must(c.client.Status().Update(t.Context(), c.tuning))
	one := c.addMachine()
	c.settleAt(tuningpolicy.MaxMachines + 1)
	c.reconciler.agents = askedAgents(func() { t.Errorf("the agent of %s is asked, and the machine is not noted", one.name) })
	c.reconcile()
	if len(c.tuning.Status.Machines) != tuningpolicy.MaxMachines || strings.Contains(c.noted(), one.name) {
		t.Errorf("%d machines are noted, want those of before", len(c.tuning.Status.Machines))
	}

	// It is noted once there is room for it.
	for i := range 3 {
		delete(c.nodes, noted[i].Name)
	}
	c.reconciler.agents = c
	c.reconcile()
	if len(c.tuning.Status.Machines) != tuningpolicy.MaxMachines-2 || !strings.Contains(c.noted(), one.name) {
		t.Errorf("%d machines are noted, want %s among them", len(c.tuning.Status.Machines), one.name)
	}
}

// Another NodeTuning takes a machine over: that one's agent puts back what it does
// not set itself.
func TestTakenOver(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	_, second := c.tuned2()
	c.nodes[second.name].Labels[corev1.LabelOSStable] = "other"
	c.end(second)
	rival := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.tuning.Name, Name: "rival", Labels: resources.TuningSelector("other")},
		Spec:       c.set().Spec.Template.Spec,
	}
	rival.Spec.NodeName = second.name
	c.must(c.client.Create(t.Context(), rival))
	rival.Status = corev1.PodStatus{Phase: corev1.PodRunning, HostIP: second.address, HostIPs: []corev1.HostIP{{IP: second.address}}}
	c.must(c.client.Status().Update(t.Context(), rival))
	c.reconcile()
	if got, want := c.noted(), "machine-1 machine-2"; got != want {
		t.Errorf("the machines are %q before the other tuning has begun, want %q", got, want)
	}
	c.answers[second.address] = &tuning.Report{Tuning: "other", Settings: []tuning.SettingReport{{Name: "rmemMaxBytes"}}}
	c.reconcile()
	if got, want := c.noted(), "machine-1"; got != want || c.restorers() != nil {
		t.Errorf("the machines are %q, and old values are put back on %q, want %q and none", got, c.restoring(), want)
	}
}

// Agents of another version take over from those that are there, also when the
// operator itself has just begun: no machine counts as less tuned meanwhile, for
// as long as that takes.
func TestAnotherVersion(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.tuned2()
	c.restart(Settings{Namespace: c.tuning.Name, Image: "operator:next"})
	c.reconcile()
	if got := c.set().Spec.Template.Spec.Containers[0].Image; got != "operator:next" {
		t.Errorf("the agents are made of %s", got)
	}
	for _, m := range []*machine{first, second} {
		c.end(m)
		c.reconcile()
		c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "2 of 2 machines read back all settings")
		c.clock = c.clock.Add(handOver - time.Second)
		c.reconcile()
		c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "2 of 2 machines")
		c.run(m, c.set())
		c.answer(first, &c.tuning.Spec.Settings, 2, applied, applied)
		c.answer(second, &c.tuning.Spec.Settings, 2, applied, applied)
		c.reconcile()
	}
	if got := c.restoring(); got != "" {
		t.Errorf("old values are put back on %q", got)
	}

	// One that does not come back is missed.
	c.end(second)
	c.clock = c.clock.Add(handOver)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonAgentsMissing,
		"1 of 2 machines are tuned; the agent of machine-2 has no pod yet")
	if hash := c.tuning.Status.Machines[1].SettingsHash; hash != "" {
		t.Errorf("machine-2 counts as tuned: %s", hash)
	}
}

// The agents of a version that noted no machines are known by their pods.
func TestAVersionWithoutNotes(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.tuned2()
	c.tuning.Status.Machines = nil
	c.must(c.client.Status().Update(t.Context(), c.tuning))
	c.must(c.client.Delete(t.Context(), c.tuning))
	c.reconcile()
	if got, want := c.restoring(), "machine-1 machine-2"; got != want {
		t.Errorf("old values are put back on %q, want %q", got, want)
	}
}

// An operator that tunes no machines puts those back that are tuned, and then
// keeps no NodeTuning from going.
func TestRestoreOnly(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	first, second := c.tuned2()
	c.restart(Settings{Namespace: c.tuning.Name, Image: agentImage, RestoreOnly: true})
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring, "0 of 2 machines")
	c.restored(first, 0)
	c.restored(second, 0)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTuningDisabled, "nodeTuning.enabled")
	if c.set() != nil || c.restorers() != nil || len(c.tuning.Status.Machines) > 0 {
		t.Errorf("there are agents, or machines: %+v", c.tuning.Status.Machines)
	}
	c.must(c.client.Delete(t.Context(), c.tuning))
	c.reconcile()
	c.checkReleased()
}

// Where no agents may run, nobody waits for them.
func TestNoAgentsAllowed(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.tuned2()
	c.restart(Settings{})
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonTuningDisabled,
		"2 machines keep what was set until they start anew")
	if got, want := c.noted(), "machine-1 machine-2"; got != want {
		t.Errorf("the machines are %q, want %q for when agents may run again", got, want)
	}
	c.must(c.client.Delete(t.Context(), c.tuning))
	c.reconcile()
	c.checkReleased()
	recorder := c.reconciler.recorder.(*events.FakeRecorder)
	var last string
	for len(recorder.Events) > 0 {
		last = <-recorder.Events
	}
	if !strings.Contains(last, "2 machines keep what was set") {
		t.Errorf("the last event is %q, want one that says what stays", last)
	}
}

// tuned2 has two machines that are tuned.
func (c *cluster) tuned2() (first, second *machine) {
	c.t.Helper()
	c.reconcile()
	first, second = c.addMachine(), c.addMachine()
	c.settle()
	c.answer(first, &c.tuning.Spec.Settings, 2, applied, applied)
	c.answer(second, &c.tuning.Spec.Settings, 2, applied, applied)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "2 of 2 machines read back all settings")
	return first, second
}

// checkReleased checks that the operator no longer keeps the NodeTuning.
func (c *cluster) checkReleased() {
	c.t.Helper()
	err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(c.tuning), c.tuning)
	if err == nil {
		// What is left are finalizers of others.
		if slices.Contains(c.tuning.Finalizers, finalizer) {
			c.t.Errorf("the finalizers are %v", c.tuning.Finalizers)
		}
	} else if !apierrors.IsNotFound(err) {
		c.t.Error(err)
	}
}

// askedAgents say nothing, and tell when they are asked.
type askedAgents func()

func (a askedAgents) Report(context.Context, string) (*tuning.Report, error) {
	a()
	return nil, errors.New("no answer")
}

// Why there are no agents is said, and tried again.
func TestAgentsThatCannotBeMade(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconciler.settings.Namespace = "absent"
	if _, err := c.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.tuning)}); err == nil {
		t.Error("nothing will be tried again")
	}
	c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.tuning), c.tuning))
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, `namespaces "absent" not found`)
}

// An API server that does not answer is no news of a NodeTuning: its status stays of the
// spec that it was of, and that of a new one of none.
func TestAnAPIServerThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	base, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	c.must(err)
	silent := interceptor.NewClient(base, interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return apierrors.NewTimeoutError("the request did not end in time", 1)
		},
	})
	checkSilence := func(want v1alpha1.NodeTuningStatus) {
		t.Helper()
		c.reconciler.client = silent
		_, err := c.reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(c.tuning)})
		c.reconciler.client = c.client
		c.must(c.client.Get(t.Context(), client.ObjectKeyFromObject(c.tuning), c.tuning))
		if !apierrors.IsTimeout(err) || !equality.Semantic.DeepEqual(want, c.tuning.Status) {
			t.Errorf("the status is\n%+v, want\n%+v: %v", c.tuning.Status, want, err)
		}
	}
	checkSilence(v1alpha1.NodeTuningStatus{ObservedGeneration: -1})

	c.reconcile()
	first := c.addMachine()
	c.settle()
	c.answer(first, &c.tuning.Spec.Settings, 2, applied, unavailable)
	c.reconcile()
	c.check(v1alpha1.ConditionStalled, metav1.ConditionTrue, v1alpha1.ReasonSettingsUnavailable, "machine-1 does not take")
	c.tuning.Spec.Settings = v1alpha1.NodeTuningSettings{RmemMaxBytes: 4096}
	c.must(c.client.Update(t.Context(), c.tuning))
	checkSilence(*c.tuning.Status.DeepCopy())
	c.reconcile()
	if c.tuning.Generation != 2 || c.tuning.Status.ObservedGeneration != 2 {
		t.Errorf("the status is of generation %d, want that of the spec, %d", c.tuning.Status.ObservedGeneration, c.tuning.Generation)
	}
}

// The agents of a NodeTuning that somebody took away by force go as well.
func TestTakenAwayByForce(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	c.tuning.Finalizers = nil
	c.must(c.client.Update(t.Context(), c.tuning))
	c.must(c.client.Delete(t.Context(), c.tuning))
	c.reconcile()
	if c.set() != nil {
		t.Error("there is a DaemonSet of a NodeTuning that is gone")
	}
}
