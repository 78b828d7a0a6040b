// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
)

// fine are the reasons that nobody has to look at.
var fine = []string{v1alpha1.ReasonUnderWay, v1alpha1.ReasonNetworkWaits, v1alpha1.ReasonMeasured}

// report writes the status when it has changed.
func (r *run) report(ctx context.Context) error {
	if reporting.Observed(r.status.Conditions, r.fault.Generation) {
		r.status.ObservedGeneration = r.fault.Generation
	}
	if equality.Semantic.DeepEqual(&r.fault.Status, r.status) {
		return nil
	}
	r.moved = true
	if err := r.writeStatus(ctx); err != nil {
		return err
	}
	r.tell(ctx)
	return nil
}

// writeStatus writes the status as it stands, unless somebody else wrote one since
// the fault was read: two steps would be taken from one place.
func (r *run) writeStatus(ctx context.Context) error {
	_, err := reporting.WriteStatus(ctx, r.client, FieldManager, reporting.StatusOf{
		Kind: v1alpha1.KindFault, Namespace: r.fault.Namespace, Name: r.fault.Name,
		ResourceVersion: r.fault.ResourceVersion,
	}, r.status)
	return err
}

// tell makes an event of what a fault came to, and has the log say each step.
func (r *run) tell(ctx context.Context) {
	ready := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	ctrl.LoggerFrom(ctx).Info("fault moved on", "phase", r.status.Phase, "reason", ready.Reason, "message", ready.Message)
	before := meta.FindStatusCondition(r.fault.Status.Conditions, v1alpha1.ConditionReady)
	reporting.TellReady(r.recorder, r.fault, before, ready, string(r.status.Phase), fine)
}
