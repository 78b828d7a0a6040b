// SPDX-License-Identifier: Apache-2.0

package nodetuning

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

// Reconcile brings the machines of one NodeTuning closer to its spec, or to
// where they were, and reports how they are.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	nodeTuning, err := r.read(ctx, request.Name)
	if err != nil {
		return ctrl.Result{}, err
	}
	if nodeTuning == nil {
		// Somebody took it away without waiting for us. Agents put old values back
		// when they end.
		return ctrl.Result{}, r.deleteDaemonSet(ctx, request.Name)
	}
	run := &run{Reconciler: r, tuning: nodeTuning, status: nodeTuning.Status.DeepCopy()}
	tasks := run.tune
	if !nodeTuning.DeletionTimestamp.IsZero() {
		tasks = run.restore
	}
	err = tasks(ctx)
	if err == nil && run.gone {
		return ctrl.Result{}, nil
	}
	if err = errors.Join(err, run.report(ctx)); err != nil {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: pollInterval}, nil
}

// read reads a NodeTuning; nil when there is none. One that is deleted may be
// gone already when the cache still has it, and must not get agents again.
func (r *Reconciler) read(ctx context.Context, name string) (*v1alpha1.NodeTuning, error) {
	nodeTuning := &v1alpha1.NodeTuning{}
	key := client.ObjectKey{Name: name}
	err := r.client.Get(ctx, key, nodeTuning)
	if apierrors.IsNotFound(err) || err == nil && !nodeTuning.DeletionTimestamp.IsZero() {
		nodeTuning = &v1alpha1.NodeTuning{}
		err = r.reader.Get(ctx, key, nodeTuning)
	}
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

// tune has an agent set every machine.
func (r *run) tune(ctx context.Context) error {
	if err := r.holdFinalizer(ctx); err != nil {
		return err
	}
	observation, err := r.apply(ctx, &r.tuning.Spec.Settings)
	if err != nil {
		return err
	}
	r.note(policy.TuningReady(observation))
	r.note(policy.TuningSteady(observation))
	r.summarise(observation)
	return nil
}

// restore has the agents put the old values back, and lets the NodeTuning go
// when all have.
func (r *run) restore(ctx context.Context) error {
	if !r.holdsFinalizer() {
		r.gone = true
		return nil
	}
	observation, err := r.apply(ctx, &v1alpha1.NodeTuningSettings{})
	if err != nil {
		return err
	}
	done, waits := policy.TuningRestored(observation)
	if !done {
		r.note(waits)
		r.summarise(observation)
		return nil
	}
	if err := r.deleteDaemonSet(ctx, r.tuning.Name); err != nil {
		return err
	}
	r.gone = true
	return r.releaseFinalizer(ctx)
}

// apply makes agents with settings and looks at what they found.
func (r *run) apply(ctx context.Context, settings *v1alpha1.NodeTuningSettings) (*policy.TuningObservation, error) {
	set, err := r.applyDaemonSet(ctx, settings)
	if err != nil {
		r.note(policy.TuningApplyFailed(err))
		return nil, fmt.Errorf("apply DaemonSet of agents: %w", err)
	}
	return r.observe(ctx, set, settings)
}

// note takes a condition into the report.
func (r *run) note(condition metav1.Condition) {
	condition.ObservedGeneration = r.tuning.Generation
	condition.LastTransitionTime = metav1.NewTime(r.now())
	meta.SetStatusCondition(&r.status.Conditions, condition)
}
