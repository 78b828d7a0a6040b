// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"reflect"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
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
	c.check(v1alpha1.ConditionSteady, metav1.ConditionFalse, v1alpha1.ReasonDrifted, "on machine-2, about interfaceQdisc")
	want := v1alpha1.NodeTuningStatus{
		ObservedGeneration: 1,
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
	c.tuning.Spec.NodeSelector = map[string]string{"a": "b"}
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
}

// A NodeTuning goes when all of its machines have their old values back, and
// not before.
func TestDeletion(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	first, second := c.addMachine(), c.addMachine()
	c.settle()
	spec, none := &c.tuning.Spec.Settings, &v1alpha1.NodeTuningSettings{}
	c.answer(first, spec, 2, applied, applied)
	c.answer(second, spec, 2, applied, applied)
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonTuned, "")

	// Foreground, so that whatever had an owner would go at once.
	c.must(c.client.Delete(t.Context(), c.tuning, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring, "0 of 2 machines have their old values back")
	if args := c.set().Spec.Template.Spec.Containers[0].Args; !slices.Contains(args, "--settings={}") {
		t.Errorf("the agents are told %q, want no settings", args)
	}

	c.settle()
	c.answer(first, none, 0)
	c.answer(second, none, 1)
	c.answers[second.address].Trouble = "put net.core.rmem_max back: permission denied"
	c.reconcile()
	c.check(v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonRestoring,
		"1 of 2 machines have their old values back; on machine-2: put net.core.rmem_max back: permission denied")

	// Whoever deletes the agents only delays it.
	c.must(c.client.Delete(t.Context(), c.set()))
	c.reconcile()
	if c.set() == nil {
		t.Fatal("the agents were not made again")
	}
	c.settle()
	c.answer(second, none, 0)
	c.reconcile()
	if c.set() != nil {
		t.Error("the DaemonSet is still there")
	}
	err := c.client.Get(t.Context(), client.ObjectKeyFromObject(c.tuning), &v1alpha1.NodeTuning{})
	if err == nil {
		// What is left are finalizers of others.
		if slices.Contains(c.tuning.Finalizers, finalizer) {
			t.Errorf("the finalizers are %v", c.tuning.Finalizers)
		}
	} else if !apierrors.IsNotFound(err) {
		t.Error(err)
	}
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

// staleClient is a cache that has not heard yet that a NodeTuning is gone.
type staleClient struct {
	client.Client
	stale *v1alpha1.NodeTuning
}

func (c *staleClient) Get(
	ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption,
) error {
	if nodeTuning, ok := object.(*v1alpha1.NodeTuning); ok {
		c.stale.DeepCopyInto(nodeTuning)
		return nil
	}
	return c.Client.Get(ctx, key, object, options...)
}

// A NodeTuning that is gone gets no agents again, whatever the cache says.
func TestGoneForGood(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.reconcile()
	c.must(c.client.Delete(t.Context(), c.tuning))
	c.reconcile()
	stale := c.tuning.DeepCopy()
	if stale.DeletionTimestamp.IsZero() {
		t.Fatal("the NodeTuning is not being deleted")
	}
	c.settle()
	c.reconcile()
	c.reconciler.client = &staleClient{Client: c.client, stale: stale}
	c.reconcile()
	if c.set() != nil {
		t.Error("there is a DaemonSet of a NodeTuning that is gone")
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
