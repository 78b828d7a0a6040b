// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/policy/condition"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
)

// Reconcile takes one fault a step on, and reports how far it is.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	wanted, err := r.read(ctx, request.NamespacedName)
	if err != nil || wanted == nil {
		return ctrl.Result{}, err
	}
	run := &run{
		Reconciler: r, fault: wanted, status: wanted.Status.DeepCopy(),
		objects: owned.Objects{Client: r.client, Reader: r.reader, FieldManager: FieldManager, Owner: wanted},
	}
	switch {
	case wanted.DeletionTimestamp != nil:
		err = run.goAway(ctx)
	case faultpolicy.Ended(wanted.Status.Phase):
		return ctrl.Result{}, run.tidy(ctx)
	default:
		err = errors.Join(run.advance(ctx), run.report(ctx))
	}
	if err != nil || run.gone {
		return ctrl.Result{}, err
	}
	if run.moved {
		// The next step may be due already.
		return ctrl.Result{RequeueAfter: stepInterval}, nil
	}
	return ctrl.Result{RequeueAfter: pollInterval}, nil
}

// read reads a fault; nil when there is none.
func (r *Reconciler) read(ctx context.Context, name types.NamespacedName) (*v1alpha1.Fault, error) {
	wanted := &v1alpha1.Fault{}
	err := r.reader.Get(ctx, name, wanted)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read Fault: %w", err)
	}
	return wanted, nil
}

// run is one reconciliation of one fault.
type run struct {
	*Reconciler

	fault *v1alpha1.Fault
	// status is what will be reported.
	status *v1alpha1.FaultStatus
	// objects are those that belong to the fault.
	objects owned.Objects
	// moved is true when something was done or noted, and gone once the fault may go.
	moved, gone bool
}

// advance does what there is to do next.
func (r *run) advance(ctx context.Context) error {
	if words := faultpolicy.Refused(r.fault); words != "" {
		faultpolicy.Refuse(r.fault, r.status, words, r.now())
		return nil
	}
	if r.settings.Image == "" && !faultpolicy.GoesOn(r.status.Phase) {
		reason, words := faultpolicy.NoWatchers()
		faultpolicy.Hold(r.fault, r.status, reason, words, r.now())
		return nil
	}
	observation, err := r.observe(ctx)
	if err == nil {
		err = r.do(ctx, faultpolicy.Advance(observation, r.status), observation)
	}
	return r.explain(err)
}

// do does a task.
func (r *run) do(ctx context.Context, task faultpolicy.Task, observation *faultpolicy.Observation) error {
	r.moved = task != faultpolicy.TaskWait
	switch task {
	case faultpolicy.TaskMakePod:
		return r.makePod(ctx, observation)
	case faultpolicy.TaskDiscard:
		return r.delete(ctx, observation.Pod)
	case faultpolicy.TaskRelease:
		return r.release(ctx, observation.Pod)
	case faultpolicy.TaskKill:
		return r.kill(ctx, observation)
	case faultpolicy.TaskTakeBack:
		over, err := r.takeBack(ctx, observation, r.status.StopTime)
		if err == nil && over {
			faultpolicy.TakenBack(observation, r.status)
		}
		return err
	default:
		return nil
	}
}

// explain puts what kept a step from being taken into the status.
func (r *run) explain(err error) error {
	switch taken, ok := errors.AsType[*owned.NameTakenError](err); {
	case err == nil, errors.Is(err, context.Canceled), apierrors.IsConflict(err):
		return err
	case isNotTakenBack(err):
		reason, words := faultpolicy.NotTakenBack(err)
		faultpolicy.Hold(r.fault, r.status, reason, words, r.now())
	case ok:
		reason, words := faultpolicy.NameTaken(taken.Kind, taken.Name)
		// What was to be noted is not so.
		r.status = r.fault.Status.DeepCopy()
		faultpolicy.Hold(r.fault, r.status, reason, words, r.now())
	case owned.Unanswered(err):
		// It is tried again, and nothing that was to be noted is so.
		r.status = r.fault.Status.DeepCopy()
	default:
		reason, words := condition.ApplyRefused(err)
		r.status = r.fault.Status.DeepCopy()
		faultpolicy.Hold(r.fault, r.status, reason, words, r.now())
	}
	return err
}

func isNotTakenBack(err error) bool {
	_, ok := errors.AsType[*notTakenBackError](err)
	return ok
}
