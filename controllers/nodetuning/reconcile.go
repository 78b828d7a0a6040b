// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
	tuningpolicy "github.com/shardyard/shardyard/internal/policy/nodetuning"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/tuning"
)

// Reconcile brings the machines of one NodeTuning closer to its spec, or to
// where they were, and reports how they are.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	nodeTuning, err := r.read(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if nodeTuning == nil {
		delete(r.readBack, request.Name)
		if r.settings.Namespace == "" {
			return ctrl.Result{}, nil
		}
		// Somebody took it away without waiting for us: which machines to put back
		// nobody knows any more.
		return ctrl.Result{}, r.deleteDaemonSets(ctx, request.Name, resources.RestoringName(request.Name))
	}
	run := &run{Reconciler: r, tuning: nodeTuning, status: nodeTuning.Status.DeepCopy()}
	err = run.tasks()(ctx)
	if err == nil && run.gone {
		return ctrl.Result{}, nil
	}
	if err = errors.Join(err, run.report(ctx)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: pollInterval}, nil
}

// read reads a NodeTuning; nil when there is none. It asks the API server: a
// status of the cache may lack machines that were noted just now.
func (r *Reconciler) read(ctx context.Context, name string) (*v1alpha1.NodeTuning, error) {
	nodeTuning := &v1alpha1.NodeTuning{}
	err := r.reader.Get(ctx, client.ObjectKey{Name: name}, nodeTuning)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read NodeTuning: %w", err)
	}
	return nodeTuning, nil
}

// run is one reconciliation of one NodeTuning.
type run struct {
	*Reconciler

	tuning *v1alpha1.NodeTuning
	// status is what will be reported.
	status *v1alpha1.NodeTuningStatus
	// gone is true once nothing is left to report about.
	gone bool
}

func (r *run) deleted() bool { return !r.tuning.DeletionTimestamp.IsZero() }

// tasks are what there is to do for a NodeTuning as it is now.
func (r *run) tasks() func(context.Context) error {
	switch {
	case r.settings.Namespace == "":
		return r.letBe
	case r.deleted(), r.settings.RestoreOnly:
		return r.restore
	default:
		return r.tune
	}
}

// tune has an agent set every machine that is selected, and one put back the old
// values of those that no longer are.
func (r *run) tune(ctx context.Context) error {
	if err := r.holdFinalizer(ctx); err != nil {
		return err
	}
	encoded, err := tuning.Encode(&r.tuning.Spec.Settings)
	if err != nil {
		return err
	}
	set, err := r.applyDaemonSet(ctx, resources.NewTuningDaemonSet(r.tuning, r.settings.Namespace, r.settings.Image, encoded))
	if err != nil {
		return err
	}
	observation, err := r.observe(ctx)
	if err != nil {
		return err
	}
	observation.Wanted = int(set.Status.DesiredNumberScheduled)
	observation.Settling = set.Status.ObservedGeneration < set.Generation
	if err := r.noteMachines(ctx, observation); err != nil {
		return err
	}
	r.askAgents(ctx, observation.Agents, tuning.Hash(encoded))
	r.recall(observation.Agents, tuning.Hash(encoded))
	if err := r.putBack(ctx, observation); err != nil {
		return err
	}
	r.note(tuningpolicy.Ready(observation))
	r.note(tuningpolicy.Steady(observation))
	r.summarise(observation, tuning.Hash(encoded))
	return nil
}

// restore puts the old values back on all machines, and lets the NodeTuning go
// when all have them.
func (r *run) restore(ctx context.Context) error {
	if r.deleted() && !r.holdsFinalizer() {
		r.gone = true
		return nil
	}
	observation, err := r.observe(ctx)
	if err != nil {
		return err
	}
	observation.Wanted = len(observation.Leaving)
	if err := r.noteMachines(ctx, observation); err != nil {
		return err
	}
	// Agents that end change nothing. Those that put back take their place.
	if err := r.deleteDaemonSets(ctx, r.tuning.Name); err != nil {
		return err
	}
	if err := r.putBack(ctx, observation); err != nil {
		return err
	}
	done, waits := tuningpolicy.Restored(observation)
	r.summarise(observation, "")
	if !done {
		r.note(waits)
		return nil
	}
	r.status.Machines = nil
	return r.letGo(ctx)
}

// letBe is all that can be done where no agents may run. No machine loses what it
// has, and a NodeTuning that is deleted goes.
func (r *run) letBe(ctx context.Context) error {
	if r.deleted() && r.holdsFinalizer() && len(r.status.Machines) > 0 {
		condition := tuningpolicy.Disabled(len(r.status.Machines))
		r.recorder.Eventf(r.tuning, nil, corev1.EventTypeWarning, condition.Reason, "Delete", "%s", reporting.Note(condition.Message))
	}
	return r.letGo(ctx)
}

// letGo gives up the NodeTuning: what is deleted goes, and of what stays it is
// said that nobody acts on it.
func (r *run) letGo(ctx context.Context) error {
	r.gone = r.deleted()
	if !r.gone {
		r.note(tuningpolicy.Disabled(len(r.status.Machines)))
		meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionSteady)
		r.status.MachinesWanted, r.status.MachinesTuned = nil, nil
		r.status.Settings, r.status.Exceptions, r.status.ExceptionsOmitted = nil, nil, 0
	}
	if r.holdsFinalizer() && (r.gone || len(r.status.Machines) == 0) {
		return r.releaseFinalizer(ctx)
	}
	return nil
}

// note takes a condition into the report.
func (r *run) note(condition metav1.Condition) {
	condition.ObservedGeneration = r.tuning.Generation
	condition.LastTransitionTime = metav1.NewTime(r.now())
	meta.SetStatusCondition(&r.status.Conditions, condition)
}
