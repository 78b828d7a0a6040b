// SPDX-License-Identifier: Apache-2.0

package fault

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// observe finds what there is of a fault.
func (r *run) observe(ctx context.Context) (*faultpolicy.Observation, error) {
	observation := &faultpolicy.Observation{Fault: r.fault, Now: r.now()}
	if err := r.observeNetwork(ctx, observation); err != nil {
		return nil, err
	}
	var err error
	if observation.Others, err = r.others(ctx); err != nil {
		return nil, err
	}
	if err := r.observePod(ctx, observation); err != nil {
		return nil, err
	}
	if fault.PartInPod(&r.fault.Spec) == "" && r.status.Phase == v1alpha1.FaultRunning {
		observation.Victims, err = r.victims(ctx, observation.Scope)
	}
	return observation, err
}

// observeNetwork finds the network, and the validators that the fault is of.
func (r *run) observeNetwork(ctx context.Context, observation *faultpolicy.Observation) error {
	network := &v1alpha1.ShardNetwork{}
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: r.fault.Namespace, Name: r.fault.Spec.NetworkName}, network)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read network: %w", err)
	}
	observation.Network = network
	if observation.Claimant, err = r.claimant(ctx, network); err != nil {
		return err
	}
	plan, err := topology.New(network)
	if err != nil {
		return fmt.Errorf("plan network %s: %w", network.Name, err)
	}
	scope, err := fault.Select(&r.fault.Spec.Validators, plan)
	if err == nil {
		_, err = fault.OrdersInPods(&r.fault.Spec, scope, plan)
	}
	if err != nil {
		observation.Unusable = err.Error()
		return nil //nolint:nilerr // It is the fault's, and ends it.
	}
	observation.Scope = scope
	return nil
}

// claimant is the benchmark whose load a network carries that it was not made for.
func (r *run) claimant(ctx context.Context, network *v1alpha1.ShardNetwork) (string, error) {
	name, _ := resources.Claimant(network)
	if name == "" {
		return "", nil
	}
	benchmark := &v1alpha1.Benchmark{}
	err := r.reader.Get(ctx, client.ObjectKey{Namespace: network.Namespace, Name: name}, benchmark)
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read benchmark: %w", err)
	}
	if !benchmarkpolicy.LoadClaimed(network, benchmark) {
		return "", nil
	}
	return name, nil
}

// observePod finds the pod that measures. One of somebody else is in the way of a fault
// that is to begin, and means that the pod of one that goes on is gone.
func (r *run) observePod(ctx context.Context, observation *faultpolicy.Observation) error {
	pod := &corev1.Pod{}
	found, err := r.objects.Find(ctx, pod, "Pod", resources.WatcherName(r.fault.Name))
	if found {
		observation.Pod, observation.Measured = pod, measured(pod)
	}
	begun := faultpolicy.GoesOn(r.status.Phase) || r.fault.DeletionTimestamp != nil
	if _, taken := errors.AsType[*owned.NameTakenError](err); taken && begun {
		err = nil
	}
	return err
}

// others are the other faults of the network.
func (r *run) others(ctx context.Context) ([]v1alpha1.Fault, error) {
	faults := &v1alpha1.FaultList{}
	if err := r.reader.List(ctx, faults, client.InNamespace(r.fault.Namespace)); err != nil {
		return nil, fmt.Errorf("list faults: %w", err)
	}
	var others []v1alpha1.Fault
	for i := range faults.Items {
		if other := &faults.Items[i]; other.Spec.NetworkName == r.fault.Spec.NetworkName && other.UID != r.fault.UID {
			others = append(others, *other)
		}
	}
	return others, nil
}

// victims are the pods of validators, by validator. What has the name of one and is
// not of the network is none.
func (r *run) victims(ctx context.Context, scope []topology.Validator) (map[string]*corev1.Pod, error) {
	pods, err := r.nodePods(ctx)
	if err != nil {
		return nil, err
	}
	victims := map[string]*corev1.Pod{}
	for i := range scope {
		if pod := pods[scope[i].Name]; pod != nil {
			victims[scope[i].Name] = pod
		}
	}
	return victims, nil
}

// nodePods are the pods of the network's nodes, by the names of these.
func (r *run) nodePods(ctx context.Context) (map[string]*corev1.Pod, error) {
	pods := &corev1.PodList{}
	if err := r.reader.List(ctx, pods, client.InNamespace(r.fault.Namespace),
		client.MatchingLabels(resources.NetworkLabels(r.fault.Spec.NetworkName))); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	nodes := make(map[string]*corev1.Pod, len(pods.Items))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if name := pod.Labels[resources.LabelValidator]; pod.Name == resources.PodName(name) {
			nodes[name] = pod
		}
	}
	return nodes, nil
}

// measured is what a pod said came of a fault; nil when it said nothing that is
// understood.
func measured(pod *corev1.Pod) *v1alpha1.FaultStatus {
	for i := range pod.Status.ContainerStatuses {
		if ended := pod.Status.ContainerStatuses[i].State.Terminated; ended != nil && ended.ExitCode == 0 {
			if said, err := faulting.DecodeOutcome(ended.Message); err == nil {
				return said
			}
		}
	}
	return nil
}
