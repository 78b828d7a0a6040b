// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/owned"
	"github.com/shardyard/shardyard/internal/bench"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	faultpolicy "github.com/shardyard/shardyard/internal/policy/fault"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/resources"
)

// observeNamed finds the network that the benchmark names, and who else does something
// with it.
func (r *run) observeNamed(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	network := &v1alpha1.ShardNetwork{}
	key := client.ObjectKey{Namespace: r.benchmark.Namespace, Name: r.benchmark.Spec.Network.Name}
	if err := r.reader.Get(ctx, key, network); err != nil {
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("read ShardNetwork %s: %w", key.Name, err)
	}
	observation.Network = network
	observation.Misfit = bench.Misfit(&network.Spec, &r.benchmark.Spec)
	claimant, err := r.claimant(ctx, network)
	if err != nil {
		return err
	}
	observation.Claimant = claimant
	observation.Faults, err = r.faults(ctx, network.Name)
	return err
}

// claimant is the other benchmark whose load the network carries, or is made for; empty
// when there is none.
func (r *run) claimant(ctx context.Context, network *v1alpha1.ShardNetwork) (string, error) {
	if resources.ClaimedFor(network, r.benchmark) {
		return "", nil
	}
	if name, ok := resources.RunNetworkOwner(network); ok {
		return name, nil
	}
	name, _ := resources.Claimant(network)
	if name == "" {
		return "", nil
	}
	other, err := r.read(ctx, types.NamespacedName{Namespace: network.Namespace, Name: name})
	if err != nil {
		return "", err
	}
	if !benchmarkpolicy.LoadClaimed(network, other) {
		return "", nil
	}
	return name, nil
}

// faults are what is wrong with a network on purpose at this time, by their names.
func (r *run) faults(ctx context.Context, network string) ([]string, error) {
	faults := &v1alpha1.FaultList{}
	err := r.reader.List(ctx, faults, client.InNamespace(r.benchmark.Namespace))
	if err != nil {
		return nil, fmt.Errorf("list faults: %w", err)
	}
	var names []string
	for i := range faults.Items {
		if fault := &faults.Items[i]; faultpolicy.GoesOn(fault.Status.Phase) && fault.Spec.NetworkName == network {
			names = append(names, fault.Name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// claim has the network that is named carry the load of the present run. What it is at
// the first run is kept for the pods of all runs.
func (r *run) claim(ctx context.Context, network *v1alpha1.ShardNetwork) error {
	if len(r.status.Runs) == 1 {
		config, err := resources.NewNetworkConfig(r.benchmark, network)
		if err != nil {
			return err
		}
		if err := r.objects.Apply(ctx, config); err != nil {
			return err
		}
	}
	claim := resources.NewClaim(r.benchmark, r.present().Number, network)
	if err := r.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(claim),
		client.FieldOwner(FieldManager), client.ForceOwnership); err != nil {
		return fmt.Errorf("label ShardNetwork %s: %w", network.Name, err)
	}
	return nil
}

// leave leaves a network that is named as it was before, after its recorder: two would
// tell its nodes their load.
func (r *run) leave(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	if err := r.removeRecorder(ctx, observation); err != nil {
		return err
	}
	network, present := observation.Network, r.present()
	ended := observation.Recorder == nil || pods.Ended(observation.Recorder)
	if network == nil || !ended || !resources.MarkedBy(network, r.benchmark) || !benchmarkpolicy.Released(present, len(r.runs)) {
		return nil
	}
	r.moved = true
	return r.release(ctx, network)
}

// release takes back a claim, whoever else says it of the network: somebody who applies it
// as he read it does, and would have it claimed for ever. It fails when somebody changed the
// network since it was read, who may be another benchmark that claims it.
func (r *Reconciler) release(ctx context.Context, network *v1alpha1.ShardNetwork) error {
	released := network.DeepCopy()
	resources.Release(released)
	err := r.client.Patch(ctx, released, owned.LockedPatch(network), client.FieldOwner(FieldManager))
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("take the labels from ShardNetwork %s: %w", network.Name, err)
	}
	return nil
}

// releaseLeft takes back the claims that a benchmark left which is gone. They mean
// nothing any more, whoever looks at them.
func (r *Reconciler) releaseLeft(ctx context.Context, benchmark types.NamespacedName) error {
	networks := &v1alpha1.ShardNetworkList{}
	if err := r.reader.List(ctx, networks, client.InNamespace(benchmark.Namespace),
		client.MatchingLabels{resources.LabelBenchmark: benchmark.Name}, client.HasLabels{resources.LabelBenchmarkUID}); err != nil {
		return fmt.Errorf("list networks: %w", err)
	}
	for i := range networks.Items {
		network := &networks.Items[i]
		if network.DeletionTimestamp != nil {
			continue
		}
		if err := r.release(ctx, network); err != nil {
			return err
		}
	}
	return nil
}
