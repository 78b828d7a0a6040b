// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/tuning"
)

// awaitTuning holds a network back that has no validators yet, until the
// machines of its NodeTuning are tuned. One that runs is never held back: its
// condition says when a machine is not.
func (r *run) awaitTuning(context.Context) error {
	name := r.network.Spec.Placement.NodeTuning
	if name == "" || r.began || len(r.plan.In("")) == 0 {
		return nil
	}
	awaited := policy.TuningAwaited(r.network, r.machines.Tuning)
	r.note(awaited)
	if awaited.Status == metav1.ConditionTrue {
		return nil
	}
	r.waitsFor = policy.ForTuning(name)
	return errBlocked
}

// readMachines reads what the network's NodeTuning says of its machines.
func (r *run) readMachines(ctx context.Context) error {
	name := r.network.Spec.Placement.NodeTuning
	if name == "" {
		r.machines = &policy.Machines{}
		return nil
	}
	nodeTuning := &v1alpha1.NodeTuning{}
	err := r.client.Get(ctx, client.ObjectKey{Name: name}, nodeTuning)
	if apierrors.IsNotFound(err) {
		r.machines = &policy.Machines{}
		return nil
	}
	if err != nil {
		return fmt.Errorf("read NodeTuning %s: %w", name, err)
	}
	settings, err := tuning.Encode(&nodeTuning.Spec.Settings)
	if err != nil {
		return err
	}
	r.machines = &policy.Machines{Tuning: nodeTuning, Tuned: policy.TunedMachines(nodeTuning, tuning.Hash(settings))}
	return nil
}
