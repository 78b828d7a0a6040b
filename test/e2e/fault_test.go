// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/resources"
)

// testFaults has the producers of a shard cut off, late, without room on their disks, with
// slow ones and with wrong clocks, hanging and gone, and a validator killed, of which the
// chain may feel little. All of these faults are there from the beginning, and a network has
// one at a time. Then they lose half of what they send and receive, and at last they are late
// by so little that nobody feels it.
func (n *network) testFaults(t *testing.T) {
	plan := n.plan(t)
	shard := v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}
	victim := v1alpha1.FaultValidators{Names: []string{plan.Nodes[0].Name}}
	before := n.mustPods(t)[resources.PodName(victim.Names[0])].UID

	// Neither half of four validators is a quorum.
	cut := n.newFault(t, "cut-off", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionPartition, DurationSeconds: 10,
	})
	killed := n.newFault(t, "killed", v1alpha1.FaultSpec{
		Validators: victim, Action: v1alpha1.FaultActionKill,
		Kill: &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAtOnce}, DurationSeconds: 20,
	})
	slow := n.newFault(t, "slow-disks", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionSlowDisk,
		SlowDisk: &v1alpha1.SlowDiskFault{Milliseconds: 1000}, DurationSeconds: 8,
	})
	full := n.newFault(t, "full-disks", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionFullDisk, DurationSeconds: 8,
	})
	early := n.newFault(t, "wrong-clocks", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionWrongClock,
		WrongClock: &v1alpha1.WrongClockFault{OffsetMilliseconds: 4000}, DurationSeconds: 8,
	})
	late := n.newFault(t, "late", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionDelay,
		// What is under way becomes final all the same, and the more of it the slower the
		// machine is: of 5 blocks in 8 s, chance would have some part.
		Delay: &v1alpha1.DelayFault{Milliseconds: 300}, DurationSeconds: 12,
	})
	hanging := n.newFault(t, "hanging", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionPause, DurationSeconds: 8,
	})
	gone := n.newFault(t, "gone", v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionKill,
		Kill: &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAfterDuration}, DurationSeconds: 8,
	})

	felt, either := []string{v1alpha1.ReasonFelt}, []string{v1alpha1.ReasonFelt, v1alpha1.ReasonNotFelt}
	impaired := []v1alpha1.FaultReach{v1alpha1.FaultImpaired}
	// Who is away is back when its fault ends by its own clock, or its pod has started, and
	// that may be seen just before the time in which the fault is measured is over, or not.
	away := []v1alpha1.FaultReach{v1alpha1.FaultUnreachable, v1alpha1.FaultRestarted}
	for _, fault := range []struct {
		*happening
		// reached is what the validators may show.
		reached []v1alpha1.FaultReach
		// felt is what may be said of the chain.
		felt []string
	}{
		{cut, impaired, felt},
		{killed, away, either},
		{slow, impaired, felt},
		{full, away, felt},
		{early, impaired, felt},
		{late, impaired, felt},
		{hanging, []v1alpha1.FaultReach{v1alpha1.FaultUnreachable}, felt},
		{gone, away, felt},
	} {
		fault.untilMeasured(t)
		fault.check(t, fault.reached...)
		effective := meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionEffective)
		if effective == nil || !slices.Contains(fault.felt, effective.Reason) {
			t.Errorf("%s: whether the chain feels it is %+v, want %s", fault.GetName(), effective, fault.felt)
		} else {
			t.Logf("%s: %s; %+v", fault.GetName(), effective.Message, fault.Status.Validators)
		}
		if err := n.Delete(t.Context(), fault.Fault); err != nil {
			t.Error(err)
		}
	}
	if killed.Status.StartTime.Before(cut.Status.EndTime) {
		t.Errorf("a fault began at %s, before the one that ended at %s", killed.Status.StartTime, cut.Status.EndTime)
	}
	after := n.mustPods(t)[resources.PodName(victim.Names[0])].UID
	if after == before || killed.Status.Victims[0].UID != string(before) {
		t.Errorf("the pods are %s and %s, and the status names %+v", before, after, killed.Status.Victims)
	}
	n.measureUntil(t, "lossy", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionLoss,
		Loss: &v1alpha1.LossFault{BasisPoints: 5000}, DurationSeconds: 12,
	})
	n.measureUntil(t, "slight", v1alpha1.ReasonNotFelt, v1alpha1.FaultSpec{
		Validators: shard, Action: v1alpha1.FaultActionDelay,
		Delay: &v1alpha1.DelayFault{Milliseconds: 1}, DurationSeconds: 12,
	})
}

// measureUntil has a fault of links happen until this is said of its effect, a few times at
// most: what slows the machine down for a moment is felt as well, or hides what is.
func (n *network) measureUntil(t *testing.T, name, reason string, spec v1alpha1.FaultSpec) {
	t.Helper()
	const measurements = 3
	for i := range measurements {
		fault := n.newFault(t, fmt.Sprintf("%s-%d", name, i), spec)
		fault.untilMeasured(t)
		fault.check(t, v1alpha1.FaultImpaired)
		effective := meta.FindStatusCondition(fault.Status.Conditions, v1alpha1.ConditionEffective)
		t.Logf("%s: whether the chain feels it is %+v", fault.GetName(), effective)
		if err := n.Delete(t.Context(), fault.Fault); err != nil {
			t.Error(err)
		}
		if effective != nil && effective.Reason == reason {
			return
		}
	}
	t.Errorf("%s is never %s", name, reason)
}

// testSubstitute has programs with the keys of the producers of a shard take their places,
// which connect to others and say nothing: it is in the image beside the node's own.
// Afterwards the very same containers are validators again.
func (n *changing) testSubstitute(t *testing.T) {
	t.Helper()
	before := n.mustPods(t)
	silent := n.newFault(t, "silent", v1alpha1.FaultSpec{
		Validators: v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}, Action: v1alpha1.FaultActionByzantine,
		Byzantine: &v1alpha1.ByzantineFault{Program: "shardnode-hostile-peer", Arguments: []string{"silence", "1"}}, DurationSeconds: 8,
	})
	silent.untilMeasured(t)
	silent.check(t, v1alpha1.FaultUnreachable)
	if !meta.IsStatusConditionTrue(silent.Status.Conditions, v1alpha1.ConditionEffective) {
		t.Errorf("nobody feels it: %+v", silent.Status.Conditions)
	}
	for name, pod := range n.mustPods(t) {
		was := before[name]
		if was.UID != pod.UID || was.Status.ContainerStatuses[0].RestartCount != pod.Status.ContainerStatuses[0].RestartCount {
			t.Errorf("%s was started again", name)
		}
	}
	if err := n.Delete(t.Context(), silent.Fault); err != nil {
		t.Error(err)
	}
}

// recoverySeconds is how long a fault may take until everything is as before. The machine
// may be busy with something else after a fault and not before it, for a while.
const recoverySeconds = 240

// happening is a Fault of a network.
type happening struct {
	*v1alpha1.Fault
	*network
}

// newFault has a fault happen to the network. When the test fails, it says how it was.
func (n *network) newFault(t *testing.T, name string, spec v1alpha1.FaultSpec) *happening {
	t.Helper()
	spec.NetworkName, spec.BaselineSeconds, spec.RecoverySeconds = n.name, 5, recoverySeconds
	h := &happening{network: n, Fault: &v1alpha1.Fault{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: name}, Spec: spec,
	}}
	if err := n.Create(t.Context(), h.Fault); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() {
			n.cluster.show(t, "--namespace", n.namespace, "describe", "fault", name)
			n.cluster.show(t, "--namespace", n.namespace, "logs", resources.WatcherName(name))
		}
	})
	return h
}

// untilMeasured waits until the fault is over and was measured.
func (h *happening) untilMeasured(t *testing.T) {
	t.Helper()
	name := h.GetName()
	within(t, patience+recoverySeconds*time.Second, "the end of "+name, func(ctx context.Context) error {
		if err := h.Get(ctx, client.ObjectKeyFromObject(h.Fault), h.Fault); err != nil {
			return err
		}
		if !faultpolicy.Ended(h.Status.Phase) {
			return fmt.Errorf("it is %s: %+v", h.Status.Phase, h.Status.Conditions)
		}
		return nil
	})
	if h.Status.Phase != v1alpha1.FaultMeasured {
		t.Fatalf("%s is %s: %s", name, h.Status.Phase, h.Status.Problem)
	}
}

// check checks what the validators of the fault showed, and that everything is as before:
// they take part, the chain is no worse, and no node tells of a fault.
func (h *happening) check(t *testing.T, want ...v1alpha1.FaultReach) {
	t.Helper()
	if len(h.Status.Validators) == 0 || int(h.Status.ValidatorsTotal) != len(h.Status.Validators) {
		t.Errorf("of %d validators, there are %+v", h.Status.ValidatorsTotal, h.Status.Validators)
	}
	for _, validator := range h.Status.Validators {
		if !slices.Contains(want, validator.Reached) {
			t.Errorf("%s shows %+v, want %s", validator.Name, validator, want)
		}
	}
	if h.Status.RecoveryMilliseconds == nil {
		t.Errorf("the validators did not take part again: %+v", h.Status.Conditions)
	}
	if !meta.IsStatusConditionTrue(h.Status.Conditions, v1alpha1.ConditionRecovered) {
		t.Errorf("after %s, not everything is as before: %+v", h.GetName(), h.Status.Conditions)
	}
	h.checkOver(t)
}

// checkOver checks that no node tells of a fault.
func (h *happening) checkOver(t *testing.T) {
	t.Helper()
	for _, validator := range h.plan(t).Nodes {
		api := h.api(t, validator.Name)
		eventually(t, "the status of "+validator.Name, func(ctx context.Context) error {
			status, err := api.Status(ctx)
			if err != nil {
				return err
			}
			if status.FaultyLinks > 0 || status.DiskFault != nil || status.ClockOffsetMilliseconds != 0 {
				t.Errorf("after %s, %s tells of a fault: %+v", h.GetName(), validator.Name, status)
			}
			return nil
		})
	}
}
