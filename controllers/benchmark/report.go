// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
)

// stepInterval keeps a benchmark that moves on from taking all of its steps at
// once.
const stepInterval = 200 * time.Millisecond

// fine are the reasons that nobody has to look at.
var fine = []string{v1alpha1.ReasonUnderWay, v1alpha1.ReasonSucceeded}

// report writes the status when it has changed.
func (r *run) report(ctx context.Context) error {
	if reporting.Observed(r.status.Conditions, r.benchmark.Generation) {
		r.status.ObservedGeneration = r.benchmark.Generation
		r.status.RunsSummary = benchmarkpolicy.RunsSummary(r.status, len(r.runs))
	}
	if equality.Semantic.DeepEqual(&r.benchmark.Status, r.status) {
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
// the benchmark was read: two steps would be taken from one place.
func (r *run) writeStatus(ctx context.Context) error {
	_, err := reporting.WriteStatus(ctx, r.client, FieldManager, reporting.StatusOf{
		Kind: v1alpha1.KindBenchmark, Namespace: r.benchmark.Namespace, Name: r.benchmark.Name,
		ResourceVersion: r.benchmark.ResourceVersion,
	}, r.status)
	return err
}

// tell makes an event of what a benchmark came to, and has the log say each step.
func (r *run) tell(ctx context.Context) {
	ready := meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionReady)
	if ready == nil {
		return
	}
	ctrl.LoggerFrom(ctx).Info("benchmark moved on",
		"phase", r.status.Phase, "runs", r.status.RunsSummary, "reason", ready.Reason, "message", ready.Message)
	before := meta.FindStatusCondition(r.benchmark.Status.Conditions, v1alpha1.ConditionReady)
	reporting.TellReady(r.recorder, r.benchmark, before, ready, string(r.status.Phase), fine)
}
