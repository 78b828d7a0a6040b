// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/bench"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// Reconcile takes one benchmark a step on, and reports how far it is.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	benchmark, err := r.read(ctx, request.NamespacedName)
	if err != nil {
		return ctrl.Result{}, err
	}
	if benchmark == nil {
		// What a benchmark made goes with it: all of it has an owner. What it claimed stays.
		return ctrl.Result{}, r.releaseLeft(ctx, request.NamespacedName)
	}
	if benchmark.DeletionTimestamp != nil || benchmarkpolicy.Ended(benchmark.Status.Phase) {
		return ctrl.Result{}, nil
	}
	run := &run{
		Reconciler: r, benchmark: benchmark, status: benchmark.Status.DeepCopy(), runs: bench.Runs(&benchmark.Spec),
		objects: owned.Objects{Client: r.client, Reader: r.reader, FieldManager: FieldManager, Owner: benchmark},
	}
	if err := errors.Join(run.advance(ctx), run.report(ctx)); err != nil {
		return ctrl.Result{}, err
	}
	if benchmarkpolicy.Ended(run.status.Phase) {
		return ctrl.Result{}, nil
	}
	if run.moved {
		// The next step may be due already.
		return ctrl.Result{RequeueAfter: stepInterval}, nil
	}
	return ctrl.Result{RequeueAfter: pollInterval}, nil
}

// read reads a benchmark; nil when there is none.
func (r *Reconciler) read(ctx context.Context, name types.NamespacedName) (*v1alpha1.Benchmark, error) {
	benchmark := &v1alpha1.Benchmark{}
	err := r.reader.Get(ctx, name, benchmark)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Benchmark: %w", err)
	}
	return benchmark, nil
}

// run is one reconciliation of one benchmark.
type run struct {
	*Reconciler

	benchmark *v1alpha1.Benchmark
	// status is what will be reported.
	status *v1alpha1.BenchmarkStatus
	// objects are those that belong to the benchmark.
	objects owned.Objects
	// runs are those that the benchmark makes.
	runs []bench.PlannedRun
	// moved is true when something was done or noted.
	moved bool
}

// misfit is why a network that is made for the runs cannot carry their load; empty when it
// can, or one is named.
func (r *run) misfit() string {
	spec := &r.benchmark.Spec
	if spec.Network.Name != "" {
		return ""
	}
	return bench.Misfit(&spec.Network.Template.Spec, spec)
}

// advance does what there is to do next.
func (r *run) advance(ctx context.Context) error {
	now := metav1.NewTime(r.now())
	if words := benchmarkpolicy.Refused(r.benchmark, r.misfit()); words != "" {
		benchmarkpolicy.Refuse(r.benchmark, r.status, words, now)
		return nil
	}
	if r.settings.Image == "" {
		reason, words := benchmarkpolicy.NoRecorders()
		benchmarkpolicy.Hold(r.benchmark, r.status, reason, words, now)
		return nil
	}
	observation, err := r.observe(ctx)
	if err == nil && len(r.status.Runs) == 0 {
		// Only before the first run: one that is lost later would lose records.
		err = r.applyShared(ctx)
	}
	if err == nil {
		err = r.do(ctx, benchmarkpolicy.Advance(observation, r.status), observation)
	}
	return r.explain(err)
}

// do does a task.
func (r *run) do(ctx context.Context, task benchmarkpolicy.Task, observation *benchmarkpolicy.Observation) error {
	// What is removed is so until it is gone, of which only the first time does something.
	r.moved = task != benchmarkpolicy.TaskWait && task != benchmarkpolicy.TaskRemove
	switch task {
	case benchmarkpolicy.TaskMakeNetwork:
		return r.makeNetwork(ctx, observation)
	case benchmarkpolicy.TaskMakeRecorder:
		return r.makeRecorder(ctx, observation)
	case benchmarkpolicy.TaskBeginLoad:
		return r.beginLoad(ctx, observation)
	case benchmarkpolicy.TaskRemove:
		return r.remove(ctx, observation)
	case benchmarkpolicy.TaskMakeJudge:
		return r.makeJudge(ctx, observation)
	case benchmarkpolicy.TaskRemoveJudge:
		return r.removePod(ctx, "judge", observation.Judge)
	case benchmarkpolicy.TaskMakeUploader:
		return r.makeUploader(ctx, observation)
	case benchmarkpolicy.TaskRemoveUploader:
		return r.removePod(ctx, "uploader", observation.Uploader)
	default:
		return nil
	}
}

// explain puts what kept a step from being taken into the status.
func (r *run) explain(err error) error {
	now := metav1.NewTime(r.now())
	switch taken, ok := errors.AsType[*owned.NameTakenError](err); {
	case err == nil, errors.Is(err, context.Canceled), apierrors.IsConflict(err):
		return err
	case ok:
		reason, words := benchmarkpolicy.NameTaken(taken.Kind, taken.Name)
		r.status = r.benchmark.Status.DeepCopy()
		benchmarkpolicy.Hold(r.benchmark, r.status, reason, words, now)
	case owned.Unanswered(err):
		// It is tried again, and nothing that was to be noted is so.
		r.status = r.benchmark.Status.DeepCopy()
	default:
		reason, words := condition.ApplyRefused(err)
		// What was to be noted is not so.
		r.status = r.benchmark.Status.DeepCopy()
		benchmarkpolicy.Hold(r.benchmark, r.status, reason, words, now)
	}
	return err
}
