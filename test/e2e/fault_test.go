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

// whatever is what may be said of how the chain feels a fault that its validators show, where
// how busy the machine is decides it as well.
var whatever = []string{v1alpha1.ReasonFelt, v1alpha1.ReasonNotFelt, v1alpha1.ReasonTooFewBlocks}

// testFaults has the producers of a shard cut off, without room on their disks and with slow
// ones, hanging and gone, and a validator killed, of which the chain may feel little. The kill
// is there while the producers are cut off: a network has one fault at a time. Then they have
// wrong clocks, are late, lose half of what they send and receive, and at last are late by so
// little that nobody feels it.
func (n *network) testFaults(t *testing.T) {
	plan := n.plan(t)
	shard := v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}
	victim := plan.Nodes[0].Name
	before := n.mustPods(t)[resources.PodName(victim)].UID

	impaired, unreachable := []v1alpha1.FaultReach{v1alpha1.FaultImpaired}, []v1alpha1.FaultReach{v1alpha1.FaultUnreachable}
	// Who is away is back when its fault ends by its own clock, or its pod has started, and
	// that may be seen just before the time in which the fault is measured is over, or not.
	away := []v1alpha1.FaultReach{v1alpha1.FaultUnreachable, v1alpha1.FaultRestarted}

	// Neither half of four validators is a quorum.
	cutOff := v1alpha1.FaultSpec{Validators: shard, Action: v1alpha1.FaultActionPartition, DurationSeconds: 10}
	cut := n.newFault(t, "cut-off", cutOff)
	cut.untilItRuns(t)
	killed := n.newFault(t, "killed", v1alpha1.FaultSpec{
		Validators: v1alpha1.FaultValidators{Names: []string{victim}}, Action: v1alpha1.FaultActionKill,
		Kill: &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAtOnce}, DurationSeconds: 20,
	})
	felt := ""
	t.Run("cut-off", func(t *testing.T) { felt = cut.check(t, impaired, whatever...) })
	t.Run("killed", func(t *testing.T) { killed.check(t, away, whatever...) })
	if killed.Status.StartTime.Before(cut.Status.EndTime) {
		t.Errorf("a fault began at %s, before the one that ended at %s", killed.Status.StartTime, cut.Status.EndTime)
	}
	after := n.mustPods(t)[resources.PodName(victim)].UID
	if after == before || len(killed.Status.Victims) == 0 || killed.Status.Victims[0].UID != string(before) {
		t.Errorf("the pods are %s and %s, and the status names %+v", before, after, killed.Status.Victims)
	}

	if felt != v1alpha1.ReasonFelt {
		n.measureUntil(t, "cut-off", v1alpha1.ReasonFelt, impaired, cutOff)
	}

	for _, fault := range []struct {
		name, reason string
		spec         v1alpha1.FaultSpec
		// reached is what the validators may show.
		reached []v1alpha1.FaultReach
	}{
		// Of the few blocks that it leaves, chance explains the less the longer it lasts.
		{"slow-disks", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
			Action: v1alpha1.FaultActionSlowDisk, SlowDisk: &v1alpha1.SlowDiskFault{Milliseconds: 1000}, DurationSeconds: 16,
		}, impaired},
		{"full-disks", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionFullDisk, DurationSeconds: 8}, away},
		{"hanging", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPause, DurationSeconds: 8}, unreachable},
		{"gone", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
			Action: v1alpha1.FaultActionKill, Kill: &v1alpha1.KillFault{Restart: v1alpha1.FaultRestartAfterDuration}, DurationSeconds: 8,
		}, away},
		{"wrong-clocks", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
			Action:     v1alpha1.FaultActionWrongClock,
			WrongClock: &v1alpha1.WrongClockFault{OffsetMilliseconds: 4000}, DurationSeconds: 16,
		}, impaired},
		{"late", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
			Action: v1alpha1.FaultActionDelay, Delay: &v1alpha1.DelayFault{Milliseconds: 300}, DurationSeconds: 12,
		}, impaired},
		{"lossy", v1alpha1.ReasonFelt, v1alpha1.FaultSpec{
			Action: v1alpha1.FaultActionLoss, Loss: &v1alpha1.LossFault{BasisPoints: 5000}, DurationSeconds: 12,
		}, impaired},
		{"slight", v1alpha1.ReasonNotFelt, v1alpha1.FaultSpec{
			Action: v1alpha1.FaultActionDelay, Delay: &v1alpha1.DelayFault{Milliseconds: 1}, DurationSeconds: 12,
		}, impaired},
	} {
		fault.spec.Validators = shard
		n.measureUntil(t, fault.name, fault.reason, fault.reached, fault.spec)
	}
}

// measureUntil has a fault happen that its validators show until this is said of its effect,
// a few times at most: of a chain that is slow before it, chance may explain that it makes few
// blocks or none, and what slows the machine down for a moment is felt as well, or hides what is.
func (n *network) measureUntil(t *testing.T, name, reason string, reached []v1alpha1.FaultReach, spec v1alpha1.FaultSpec) {
	t.Helper()
	const measurements = 3
	for i := range measurements {
		said := ""
		passed := t.Run(fmt.Sprintf("%s-%d", name, i), func(t *testing.T) {
			said = n.newFault(t, fmt.Sprintf("%s-%d", name, i), spec).check(t, reached, whatever...)
		})
		if !passed || said == reason {
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
	n.measureUntil(t, "silent", v1alpha1.ReasonFelt, []v1alpha1.FaultReach{v1alpha1.FaultUnreachable}, v1alpha1.FaultSpec{
		Validators: v1alpha1.FaultValidators{Shard: ptr.To[int32](1)}, Action: v1alpha1.FaultActionByzantine,
		Byzantine: &v1alpha1.ByzantineFault{Program: "shardnode-hostile-peer", Arguments: []string{"silence", "1"}}, DurationSeconds: 8,
	})
	for name, pod := range n.mustPods(t) {
		was := before[name]
		if was.UID != pod.UID || was.Status.ContainerStatuses[0].RestartCount != pod.Status.ContainerStatuses[0].RestartCount {
			t.Errorf("%s was started again", name)
		}
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

// newFault has a fault happen to the network, for as long as the test runs. When the test
// fails, it says how it was.
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
			n.cluster.show(t, "--namespace", n.namespace, "logs", resources.WatcherName(name))
			n.cluster.show(t, "--namespace", n.namespace, "get", "fault", name, "--output", "yaml")
		}
		if err := n.Delete(context.WithoutCancel(t.Context()), h.Fault); err != nil {
			t.Error(err)
		}
	})
	return h
}

// untilItRuns waits until the fault has the network to itself.
func (h *happening) untilItRuns(t *testing.T) {
	t.Helper()
	eventually(t, "the beginning of "+h.GetName(), func(ctx context.Context) error {
		if err := h.Get(ctx, client.ObjectKeyFromObject(h.Fault), h.Fault); err != nil {
			return err
		}
		if h.Status.Phase != v1alpha1.FaultRunning {
			return fmt.Errorf("it is %s: %+v", h.Status.Phase, h.Status.Conditions)
		}
		return nil
	})
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

// check checks, once the fault was measured, what its validators showed and what is said of
// the chain, which it returns, and that everything is as before: the validators take part, the
// chain is no worse, and no node tells of a fault.
func (h *happening) check(t *testing.T, reached []v1alpha1.FaultReach, felt ...string) (said string) {
	t.Helper()
	h.untilMeasured(t)
	if len(h.Status.Validators) == 0 || int(h.Status.ValidatorsTotal) != len(h.Status.Validators) {
		t.Errorf("of %d validators, there are %+v", h.Status.ValidatorsTotal, h.Status.Validators)
	}
	for _, validator := range h.Status.Validators {
		if !slices.Contains(reached, validator.Reached) {
			t.Errorf("%s shows %+v, want %s", validator.Name, validator, reached)
		}
	}
	effective := meta.FindStatusCondition(h.Status.Conditions, v1alpha1.ConditionEffective)
	if effective == nil {
		t.Fatalf("whether the chain felt it is not said: %+v", h.Status.Conditions)
	}
	t.Logf("%s; %+v", effective.Message, h.Status.Validators)
	if !slices.Contains(felt, effective.Reason) {
		t.Errorf("whether the chain feels it is %+v, want %s", effective, felt)
	}
	if h.Status.RecoveryMilliseconds == nil {
		t.Errorf("the validators did not take part again: %+v", h.Status.Conditions)
	}
	if !meta.IsStatusConditionTrue(h.Status.Conditions, v1alpha1.ConditionRecovered) {
		t.Errorf("not everything is as before: %+v", h.Status.Conditions)
	}
	h.checkOver(t)
	return effective.Reason
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
