// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// LoadClaimed says whether a network carries the load of a benchmark that names it, so
// that nobody else tells its nodes theirs. The benchmark is the one that the network is
// said to carry the load of; nil when there is none of that name. One that has ended, or
// is being deleted, or is another of the same name, has no load.
func LoadClaimed(network *v1alpha1.ShardNetwork, benchmark *v1alpha1.Benchmark) bool {
	return benchmark != nil && resources.ClaimedFor(network, benchmark) &&
		benchmark.Spec.Network.Name == network.Name &&
		benchmark.DeletionTimestamp == nil && !Ended(benchmark.Status.Phase)
}

// named says whether a benchmark names its network.
func (o *Observation) named() bool { return o.Benchmark.Spec.Network.Name != "" }

// claimed says whether the network carries the load of the benchmark, for whichever of
// its runs.
func (o *Observation) claimed() bool {
	return o.Network != nil && resources.ClaimedFor(o.Network, o.Benchmark)
}

// networkUnfit says why a network that is named cannot be measured as it is; empty when
// it can.
func networkUnfit(o *Observation) string {
	name := o.Benchmark.Spec.Network.Name
	if o.Network == nil {
		return fmt.Sprintf("there is no ShardNetwork %s in its namespace", name)
	}
	if o.Network.DeletionTimestamp != nil {
		return fmt.Sprintf("the ShardNetwork %s is being deleted", name)
	}
	for _, region := range o.Network.Spec.Regions {
		if region.Cluster != "" {
			return fmt.Sprintf("region %s of the ShardNetwork %s is in another cluster, where the recorder does not reach its nodes",
				region.Name, name)
		}
	}
	for _, words := range []string{networkUsed(o), networkUnready(o.Network)} {
		if words != "" {
			return fmt.Sprintf("the ShardNetwork %s cannot be measured: %s", name, words)
		}
	}
	if o.Misfit != "" {
		return fmt.Sprintf("the ShardNetwork %s cannot carry the load: %s", name, o.Misfit)
	}
	return ""
}

// networkUsed says who else does something with the network; empty when nobody does.
func networkUsed(o *Observation) string {
	switch {
	case o.Claimant != "":
		return fmt.Sprintf("it carries the load of the Benchmark %s", o.Claimant)
	case len(o.Faults) > 0:
		return fmt.Sprintf("it has the Fault %s", strings.Join(o.Faults, ", "))
	default:
		return ""
	}
}

// networkUnready says what keeps a network from being measured that may pass; empty
// when nothing does.
func networkUnready(network *v1alpha1.ShardNetwork) string {
	if update := network.Status.Update; update != nil {
		return "its nodes are replaced by others"
	}
	ready := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionReady)
	switch {
	case ready == nil:
		return "nothing is said of it yet"
	case ready.ObservedGeneration != network.Generation:
		return "it has not taken up its spec yet"
	case ready.Status != metav1.ConditionTrue:
		return fmt.Sprintf("it is not ready: %s: %s", ready.Reason, wording.Quote(ready.Message))
	}
	// What is measured is the spec, and no run is to have other nodes than the one before.
	if updated := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionUpdated); updated != nil &&
		updated.Status == metav1.ConditionFalse {
		return fmt.Sprintf("its nodes do not run what its spec says yet: %s: %s", updated.Reason, wording.Quote(updated.Message))
	}
	if words := policy.Drained(network); words != "" {
		return "its machines are drained: " + words
	}
	return ""
}

// claimLost says why a network that is named is no longer what it was when the first
// run began; empty when it is.
func claimLost(o *Observation, run *v1alpha1.BenchmarkRunStatus) string {
	if lost := networkLost(o.Network, run); lost != "" {
		return lost
	}
	if o.Network.Generation != run.NetworkGeneration {
		return "somebody changed the spec of its network"
	}
	return ""
}

// prepareNamed has a network that is named carry no other load, until it is ready.
func prepareNamed(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) Task {
	if lost := claimLost(o, run); lost != "" {
		return breakRun(o, status, run, lost)
	}
	if used := networkUsed(o); used != "" {
		return breakRun(o, status, run, "somebody else uses its network: "+used)
	}
	if !o.claimed() || !resources.RunOf(o.Network, run.Number) {
		underWay(o, status, RunName(run)+": its network gives up its own load")
		return TaskMakeNetwork
	}
	words := networkUnready(o.Network)
	if words == "" && o.Network.Status.Load != nil {
		words = "it still has its own load"
	}
	if words == "" {
		if status.NodeImage == "" {
			status.NodeImage = o.Network.Status.NodeImage
		}
		run.Phase = v1alpha1.RunRecording
		underWay(o, status, RunName(run)+": its network is ready")
		return TaskWait
	}
	if run.StartTime != nil && o.Now.Sub(run.StartTime.Time) > networkPatience {
		return breakRun(o, status, run, fmt.Sprintf("its network was not ready within %s: %s", networkPatience, words))
	}
	underWay(o, status, fmt.Sprintf("%s: its network is not ready yet: %s", RunName(run), words))
	return TaskWait
}

// beginNamed notes that a run of a network that is named begins, and of which. The
// first one finds it as it has to be, or there is none.
func beginNamed(o *Observation, status *v1alpha1.BenchmarkStatus, run *v1alpha1.BenchmarkRunStatus) bool {
	if len(status.Runs) > 0 {
		first := &status.Runs[0]
		run.NetworkUID, run.NetworkGeneration = first.NetworkUID, first.NetworkGeneration
		return true
	}
	if words := networkUnfit(o); words != "" {
		Refuse(o.Benchmark, status, words, metav1.NewTime(o.Now))
		return false
	}
	run.NetworkUID, run.NetworkGeneration = string(o.Network.UID), o.Network.Generation
	return true
}

// Released says whether a network that is named is to have its own load again once its
// recorder has ended: it keeps none between two runs, which would change what the
// second begins with.
func Released(run *v1alpha1.BenchmarkRunStatus, planned int) bool {
	return run.Fault != "" || int(run.Number) == planned
}

// leftOfNetwork says what becomes of the network of a run that has ended; empty once
// that is done.
func leftOfNetwork(o *Observation, run *v1alpha1.BenchmarkRunStatus) string {
	switch {
	case !o.named() && o.Network != nil:
		return "its network is removed"
	case o.named() && o.Network != nil && resources.MarkedBy(o.Network, o.Benchmark) && Released(run, len(o.Runs)):
		return "its network has its own load again"
	default:
		return ""
	}
}
