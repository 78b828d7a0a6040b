// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"context"

	"k8s.io/apimachinery/pkg/api/equality"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
)

// report writes the status when it has changed, unless somebody else wrote one since
// the schedule was read: what that one counted would be lost.
func (r *run) report(ctx context.Context) error {
	if reporting.Observed(r.status.Conditions, r.schedule.Generation) {
		r.status.ObservedGeneration = r.schedule.Generation
	}
	if equality.Semantic.DeepEqual(&r.schedule.Status, r.status) {
		return nil
	}
	if _, err := reporting.WriteStatus(ctx, r.client, FieldManager, reporting.StatusOf{
		Kind: v1alpha1.KindBenchmarkSchedule, Namespace: r.schedule.Namespace, Name: r.schedule.Name,
		ResourceVersion: r.schedule.ResourceVersion,
	}, r.status); err != nil {
		return err
	}
	r.tell(ctx)
	return nil
}

// tell makes an event of what happened, and has the log say it.
func (r *run) tell(ctx context.Context) {
	for _, news := range r.news {
		ctrl.LoggerFrom(ctx).Info("benchmark schedule moved on", "reason", news.Reason, "message", news.Words)
		r.recorder.Eventf(r.schedule, nil, news.Kind, news.Reason, "Schedule", "%s", reporting.Note(news.Words))
	}
}
