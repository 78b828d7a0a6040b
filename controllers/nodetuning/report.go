// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
)

// summarise puts what was observed into the status: of selected machines, as far
// as they read back the settings of that hash.
func (r *run) summarise(observation *tuningpolicy.Observation, settingsHash string) {
	r.status.MachinesWanted = ptr.To(int32(observation.Wanted))
	r.status.MachinesTuned = ptr.To(int32(observation.Done()))
	if len(observation.Agents) == 0 && r.deleted() {
		r.status.MachinesTuned = nil
	}
	r.status.Machines = tuningpolicy.NotedMachines(observation, r.status.Machines, settingsHash)
	r.status.Settings, r.status.Exceptions, r.status.ExceptionsOmitted = tuningpolicy.Summary(observation)
}

// report writes the status when it has changed.
func (r *run) report(ctx context.Context) error {
	if reporting.Observed(r.status.Conditions, r.tuning.Generation) {
		r.status.ObservedGeneration = r.tuning.Generation
		r.noteStalled()
	}
	if equality.Semantic.DeepEqual(&r.tuning.Status, r.status) {
		return nil
	}
	before := r.tuning.Status.Conditions
	if err := r.writeStatus(ctx); err != nil {
		return err
	}
	r.tellTransitions(before)
	return nil
}

// writeStatus writes the status as it stands, unless somebody else wrote one since
// the NodeTuning was read: it would lack what that one notes.
func (r *run) writeStatus(ctx context.Context) error {
	version, err := reporting.WriteStatus(ctx, r.client, FieldManager, reporting.StatusOf{
		Kind: v1alpha1.KindNodeTuning, Name: r.tuning.Name, ResourceVersion: r.tuning.ResourceVersion,
	}, r.status)
	if err != nil {
		return err
	}
	r.tuning.ResourceVersion = version
	r.tuning.Status = *r.status.DeepCopy()
	return nil
}

// noteStalled says whether the tuning waits for somebody to change something.
func (r *run) noteStalled() {
	if ready := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionReady); ready != nil {
		if stalled := tuningpolicy.Stalled(ready); stalled != nil {
			r.note(*stalled)
			return
		}
	}
	meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionStalled)
}

// tellTransitions makes an event of every condition that changed.
func (r *run) tellTransitions(before []metav1.Condition) {
	for i := range r.status.Conditions {
		now := &r.status.Conditions[i]
		then := meta.FindStatusCondition(before, now.Type)
		if then != nil && then.Status == now.Status && then.Reason == now.Reason {
			continue
		}
		// Ready says the same.
		if now.Type == v1alpha1.ConditionStalled {
			continue
		}
		// That something is not there yet is no news of a new tuning.
		if then == nil && now.Status != metav1.ConditionTrue {
			continue
		}
		kind := corev1.EventTypeNormal
		if now.Status == metav1.ConditionFalse {
			kind = corev1.EventTypeWarning
		}
		r.recorder.Eventf(r.tuning, nil, kind, now.Reason, now.Type, "%s", reporting.Note(now.Type+": "+now.Message))
	}
}
