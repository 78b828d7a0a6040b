// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"context"
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	benchmarkpolicy "github.com/shardyard/shardyard/internal/policy/benchmark"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// applyShared makes what all runs share.
func (r *run) applyShared(ctx context.Context) error {
	objects, err := resources.BenchmarkObjects(r.benchmark, topology.DefaultPorts)
	if err != nil {
		return fmt.Errorf("build objects: %w", err)
	}
	for _, object := range objects {
		if err := r.objects.Apply(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// makeNetwork makes the network of the present run, without load, or has the one that
// is named carry the load of the run.
func (r *run) makeNetwork(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	if r.benchmark.Spec.Network.Name != "" {
		return r.claim(ctx, observation.Network)
	}
	return r.objects.Apply(ctx, r.network())
}

// network is the network of the present run, without load.
func (r *run) network() *v1alpha1.ShardNetwork {
	number := r.present().Number
	spec := bench.NetworkSpec(&r.benchmark.Spec, r.runs[number-1].Variant)
	if spec.Node.Image == "" && r.madeByDefault(number-1) {
		// Another release of the operator, which names another image, makes no other
		// kind of runs.
		spec.Node.Image = r.status.NodeImage
	}
	return resources.NewRunNetwork(r.benchmark, number, spec)
}

// madeByDefault says whether the nodes of one of the first runs had the image that the
// operator named then.
func (r *run) madeByDefault(first int32) bool {
	return slices.ContainsFunc(r.runs[:first], func(run bench.PlannedRun) bool {
		return bench.NetworkSpec(&r.benchmark.Spec, run.Variant).Node.Image == ""
	})
}

// present is the present run.
func (r *run) present() *v1alpha1.BenchmarkRunStatus {
	return &r.status.Runs[len(r.status.Runs)-1]
}

// makeRecorder makes the pod that records the present run.
func (r *run) makeRecorder(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	inputs := r.inputs(observation)
	inputs.NodeImage = observation.Network.Status.NodeImage
	if len(observation.NodeImageIDs) == 1 {
		inputs.NodeImageID = observation.NodeImageIDs[0]
	}
	var err error
	if inputs.Machines, err = r.machines(ctx); err != nil {
		return err
	}
	return r.objects.Apply(ctx, resources.NewRecorder(r.benchmark, r.present().Number, inputs))
}

// makeJudge makes the pod that makes the result.
func (r *run) makeJudge(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	return r.objects.Apply(ctx, resources.NewJudge(r.benchmark, r.inputs(observation)))
}

// makeUploader makes the pod that puts the result into its bucket.
func (r *run) makeUploader(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	return r.objects.Apply(ctx, resources.NewUploader(r.benchmark, r.inputs(observation)))
}

// inputs are what all pods of the benchmark need besides it.
func (r *run) inputs(observation *benchmarkpolicy.Observation) resources.RecorderInputs {
	inputs := resources.RecorderInputs{Image: r.settings.Image, ClusterDomain: r.settings.ClusterDomain}
	if network := observation.Network; network != nil && r.benchmark.Spec.Network.Name != "" {
		inputs.MinBlockTimeMilliseconds = network.Spec.Protocol.MinBlockTimeMilliseconds
	}
	return inputs
}

// beginLoad gives the very network that is recorded its load: with its UID, the
// cluster makes no other one in its place.
func (r *run) beginLoad(ctx context.Context, observation *benchmarkpolicy.Observation) error {
	network := r.network()
	network.UID = observation.Network.UID
	network.Spec.Load = r.benchmark.Spec.Load.DeepCopy()
	return r.objects.Apply(ctx, network)
}
