// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/internal/resources"
)

// actionRestart is what the operator does to a node that does not keep up, as events
// name it.
const actionRestart = "Restart"

// healNodes starts the node again that policy picks, by deleting its pod, and gives one
// a new disk whose disk is gone. The status counts the start before it happens: whoever
// comes in between waits as long.
func (r *run) healNodes(ctx context.Context) error {
	if r.observation == nil {
		return nil
	}
	occupied, err := r.occupied(ctx, r.client)
	if err != nil {
		return err
	}
	r.observation.Occupied = occupied
	healing := replacing.NewHealing(r.observation)
	if len(healing.Restart) > 0 {
		changed, err := r.changedByNow(ctx)
		if err != nil {
			return err
		}
		if changed {
			healing = replacing.NewHealing(r.observation)
		}
	}
	r.note(healing.KeepingUp)
	r.status.NodesBehind = healing.Behind
	for _, i := range healing.Restart {
		node := &r.observation.Nodes[i]
		if err := r.writeStatus(ctx); err != nil {
			return fmt.Errorf("count a restart of %s: %w", node.Validator.Name, err)
		}
		if err := r.deletePod(ctx, node); err != nil {
			return err
		}
		r.restarts.add(client.ObjectKeyFromObject(r.network))
		r.recorder.Eventf(r.network, node.Pod, corev1.EventTypeWarning, v1alpha1.ReasonNodeRestarted, actionRestart,
			"%s", reporting.Note(healing.Why))
	}
	return r.replaceLostDisks(ctx, r.replaces || len(healing.Restart) > 0)
}

// changedByNow says whether anything changed that a cache does not have yet, of what
// decides whether a node may go that is in trouble.
func (r *run) changedByNow(ctx context.Context) (bool, error) {
	occupied, err := r.occupiedByNow(ctx)
	if err != nil {
		return false, err
	}
	pods, err := r.podsByNow(ctx)
	return occupied || pods, err
}

// occupiedByNow says whether something has the network for itself that a cache does not
// have yet, and notes what: a fault that begins is not to have a node started again that
// it is of.
func (r *run) occupiedByNow(ctx context.Context) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	occupied, err := r.occupied(ctx, r.reader)
	if err != nil {
		return false, err
	}
	changed := r.observation.Occupied != occupied
	r.observation.Occupied = occupied
	return changed, nil
}

// occupied says which fault or benchmark has the network for itself, as a reader has
// faults; empty when none has. What keeps nodes behind is meant to then, or what starts
// one again would be measured.
func (r *run) occupied(ctx context.Context, reader client.Reader) (string, error) {
	if name, ok := resources.RunNetworkOwner(r.network); ok {
		return fmt.Sprintf("the network is of a run of the Benchmark %s", name), nil
	}
	byRecorder, err := r.loadedByRecorder(ctx)
	if err != nil {
		return "", err
	}
	if byRecorder {
		return "the network carries the load of a Benchmark", nil
	}
	faults := &v1alpha1.FaultList{}
	if err := reader.List(ctx, faults, client.InNamespace(r.network.Namespace)); err != nil {
		return "", fmt.Errorf("list faults: %w", err)
	}
	for i := range faults.Items {
		if fault := &faults.Items[i]; fault.Spec.NetworkName == r.network.Name && faultpolicy.GoesOn(fault.Status.Phase) {
			return fmt.Sprintf("the Fault %s goes on", fault.Name), nil
		}
	}
	return "", nil
}
