// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
)

// observeMachines looks at the machines that the cluster's pods are on. That it
// cannot is an observation, no error: only what depends on machines waits.
func (s *site) observeMachines(ctx context.Context, observation *observed.Network, nodes map[string]observed.Node) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	found, err := s.readMachines(ctx, nodes)
	if err != nil {
		observation.UnknownMachines = append(observation.UnknownMachines, observed.UnknownMachines{Cluster: s.cluster, Cause: err})
		return
	}
	for _, validator := range s.validators {
		node := nodes[validator.Name]
		if name := machineName(&node); name != "" {
			node.Machine = observed.MachineOf(name, found[name])
			nodes[validator.Name] = node
		}
	}
}

// readMachines reads the machines that nodes' pods are on, by name. Those that
// the cluster does not have are nil.
func (s *site) readMachines(ctx context.Context, nodes map[string]observed.Node) (map[string]*corev1.Node, error) {
	list, err := s.listMachines(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]*corev1.Node, len(list.Items))
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	for _, validator := range s.validators {
		node := nodes[validator.Name]
		name := machineName(&node)
		if name == "" || found[name] != nil {
			continue
		}
		// The cache may not have a new machine yet.
		machine := &corev1.Node{}
		err := s.reader.Get(ctx, types.NamespacedName{Name: name}, machine)
		if err == nil {
			found[name] = machine
		} else if !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("read machine %s: %w", name, err)
		}
	}
	return found, nil
}

// machineName is the machine that a node's pod is on; empty when it is on none.
func machineName(node *observed.Node) string {
	if node.Pod == nil {
		return ""
	}
	return node.Pod.Spec.NodeName
}

// machineChanged leaves out what changes nothing for the pods of a machine, such
// as its heartbeats.
var machineChanged = predicate.Funcs{
	CreateFunc: func(event.CreateEvent) bool { return false },
	UpdateFunc: func(event event.UpdateEvent) bool {
		before, after := machineIn(event.ObjectOld), machineIn(event.ObjectNew)
		return before.Leaving != after.Leaving || (before.NotReady == nil) != (after.NotReady == nil)
	},
}

func machineIn(object client.Object) *observed.Machine {
	node, _ := object.(*corev1.Node)
	return observed.MachineOf(object.GetName(), node)
}

// requestsOn are for the networks that have pods on a machine.
func (r *Reconciler) requestsOn(ctx context.Context, machine client.Object) []reconcile.Request {
	pods := &corev1.PodList{}
	if err := r.client.List(ctx, pods, client.MatchingLabels{resources.LabelName: resources.Name}); err != nil {
		// The networks are looked at again soon in any case.
		log.FromContext(ctx).Error(err, "cannot list the pods of a machine", "machine", machine.GetName())
		return nil
	}
	var requests []reconcile.Request
	for i := range pods.Items {
		if pods.Items[i].Spec.NodeName == machine.GetName() {
			requests = append(requests, requestsOf(ctx, &pods.Items[i])...)
		}
	}
	return requests
}
