// SPDX-License-Identifier: Apache-2.0

package benchmarkschedule

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	schedulepolicy "github.com/shardyard/shardyard/internal/policy/benchmarkschedule"
	"github.com/shardyard/shardyard/internal/resources"
)

// Reconcile does what a schedule says is to be done now, and reports.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	schedule, err := r.read(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	// The benchmarks of a schedule go with it: it owns them.
	if schedule == nil || schedule.DeletionTimestamp != nil {
		return ctrl.Result{}, nil
	}
	run := &run{Reconciler: r, schedule: schedule, status: schedule.Status.DeepCopy()}
	if err := errors.Join(run.advance(ctx), run.report(ctx)); err != nil {
		return ctrl.Result{}, err
	}
	if run.until.IsZero() {
		return ctrl.Result{}, nil
	}
	// A time that is there already is still to come for whoever waits.
	wait := min(max(run.until.Sub(r.now()), time.Millisecond), lookInterval)
	return ctrl.Result{RequeueAfter: wait}, nil
}

// read reads a schedule; nil when there is none.
func (r *Reconciler) read(ctx context.Context, name types.NamespacedName) (*v1alpha1.BenchmarkSchedule, error) {
	schedule := &v1alpha1.BenchmarkSchedule{}
	err := r.reader.Get(ctx, name, schedule)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read BenchmarkSchedule: %w", err)
	}
	return schedule, nil
}

// run is one reconciliation of one schedule.
type run struct {
	*Reconciler

	schedule *v1alpha1.BenchmarkSchedule
	// status is what will be reported, and news what will be told with it.
	status *v1alpha1.BenchmarkScheduleStatus
	news   []schedulepolicy.News
	// until is when to look again; zero when nothing comes of time alone.
	until time.Time
}

// advance does what there is to do.
func (r *run) advance(ctx context.Context) error {
	observation, err := r.observe(ctx)
	if err != nil {
		return err
	}
	step := schedulepolicy.Advance(observation, r.status)
	r.news, r.until = step.News, step.Until
	var failed []error
	if step.Start != nil {
		failed = append(failed, r.start(ctx, observation, *step.Start))
	}
	for _, benchmark := range step.Remove {
		failed = append(failed, r.remove(ctx, benchmark))
	}
	return errors.Join(failed...)
}

// observe finds the benchmarks of the schedule.
func (r *run) observe(ctx context.Context) (*schedulepolicy.Observation, error) {
	observation := &schedulepolicy.Observation{Schedule: r.schedule, Now: r.now()}
	spec := &r.schedule.Spec
	location, err := time.LoadLocation(spec.TimeZone)
	if err == nil {
		observation.Timetable, err = schedulepolicy.NewTimetable(spec.Schedule, location, observation.Now)
	}
	if err != nil {
		observation.Invalid = err.Error()
	}
	list := &v1alpha1.BenchmarkList{}
	if err := r.reader.List(ctx, list, client.InNamespace(r.schedule.Namespace),
		client.MatchingLabels{resources.LabelBenchmarkSchedule: r.schedule.Name}); err != nil {
		return nil, fmt.Errorf("list Benchmarks: %w", err)
	}
	for i := range list.Items {
		if metav1.IsControlledBy(&list.Items[i], r.schedule) {
			observation.Benchmarks = append(observation.Benchmarks, list.Items[i])
		}
	}
	return observation, nil
}
