// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// Refused says why no cluster of the operator can run a benchmark; empty when it can. The
// misfit is why a network that would be made for it cannot carry its load.
func Refused(benchmark *v1alpha1.Benchmark, misfit string) string {
	for _, region := range benchmark.Spec.Network.Template.Spec.Regions {
		if region.Cluster != "" {
			return fmt.Sprintf("region %s of its network is in another cluster, where the recorder does not reach its nodes: "+
				"a benchmark has all regions in the operator's cluster", region.Name)
		}
	}
	if benchmark.Spec.Interleaving == v1alpha1.InterleavingSideBySide {
		return "spec.interleaving is SideBySide, which is for networks that share the processors of one machine: " +
			"in a cluster variants are run InTurn"
	}
	if words := usersRefused(benchmark); words != "" {
		return words
	}
	if misfit != "" {
		return "its network cannot carry the load: " + misfit
	}
	if benchmark.Spec.Baseline != nil && benchmark.Spec.Baseline.Artifact == nil && len(benchmark.Spec.Variants) == 0 {
		return "spec.baseline says how to compare, and there is nothing to compare with: " +
			"name the result of an earlier benchmark in spec.baseline.artifact, as its status.artifact does, or leave spec.baseline out"
	}
	return ""
}

// usersRefused says why nobody can send the load of a benchmark whose users should;
// empty when they can, or there are none.
func usersRefused(benchmark *v1alpha1.Benchmark) string {
	switch {
	case !resources.SentByUsers(benchmark):
		return ""
	case benchmark.Spec.Network.Name != "":
		return "the users of an open loop have a network that is made for them: " +
			"give it in spec.network.template, and leave spec.network.name out"
	case benchmark.Spec.Network.Template.Spec.RPCNodes == 0:
		return "the users of an open loop talk to rpc nodes in a cluster, and its network has none: " +
			"give spec.network.template.spec.rpcNodes"
	default:
		return ""
	}
}

// Refuse ends a benchmark that cannot be run.
func Refuse(benchmark *v1alpha1.Benchmark, status *v1alpha1.BenchmarkStatus, words string, now metav1.Time) {
	finish(benchmark, status, v1alpha1.BenchmarkFailed, v1alpha1.ReasonNotRunnable, words, now)
}

// Hold notes what a benchmark waits for that is not taken on yet.
func Hold(benchmark *v1alpha1.Benchmark, status *v1alpha1.BenchmarkStatus, reason, words string, now metav1.Time) {
	if status.Phase == "" {
		status.Phase = v1alpha1.BenchmarkPending
	}
	noteReady(benchmark, status, metav1.ConditionFalse, reason, words, now)
}

// held says whether something held a benchmark up when it was last looked at.
func held(status *v1alpha1.BenchmarkStatus) bool {
	ready := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionReady)
	return ready != nil && ready.Reason != v1alpha1.ReasonUnderWay
}

// NameTaken is a benchmark of which an object's name is taken.
func NameTaken(kind, name string) (reason, words string) {
	return v1alpha1.ReasonNameTaken, fmt.Sprintf(
		"the %s %s belongs to somebody else: delete it, or make a benchmark of another name", kind, name)
}

// NoRecorders is a benchmark of an operator that can make no recorders.
func NoRecorders() (reason, words string) {
	return v1alpha1.ReasonNotRunnable, "the operator does not know the image of recorders: it was started without --recorder-image"
}

// underWay notes what happens.
func underWay(o *Observation, status *v1alpha1.BenchmarkStatus, words string) {
	noteReady(o.Benchmark, status, metav1.ConditionFalse, v1alpha1.ReasonUnderWay, words, metav1.NewTime(o.Now))
}

// end notes what a benchmark came to.
func end(o *Observation, status *v1alpha1.BenchmarkStatus, phase v1alpha1.BenchmarkPhase, reason, words string) {
	finish(o.Benchmark, status, phase, reason, words, metav1.NewTime(o.Now))
}

func finish(
	benchmark *v1alpha1.Benchmark, status *v1alpha1.BenchmarkStatus, phase v1alpha1.BenchmarkPhase, reason, words string, now metav1.Time,
) {
	status.Phase, status.EndTime = phase, &now
	if benchmark.Spec.Upload != nil && meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionUploaded) == nil {
		meta.SetStatusCondition(&status.Conditions, metav1.Condition{
			Type: v1alpha1.ConditionUploaded, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonNoResult,
			Message: "there is no result to upload", ObservedGeneration: benchmark.Generation, LastTransitionTime: now,
		})
	}
	if phase == v1alpha1.BenchmarkSucceeded {
		noteReady(benchmark, status, metav1.ConditionTrue, reason, words, now)
		return
	}
	noteReady(benchmark, status, metav1.ConditionFalse, reason, words, now)
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionStalled, Status: metav1.ConditionTrue, Reason: reason, Message: words,
		ObservedGeneration: benchmark.Generation, LastTransitionTime: now,
	})
}

func noteReady(
	benchmark *v1alpha1.Benchmark, status *v1alpha1.BenchmarkStatus, ready metav1.ConditionStatus, reason, words string, now metav1.Time,
) {
	meta.SetStatusCondition(&status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: ready, Reason: reason, Message: words,
		ObservedGeneration: benchmark.Generation, LastTransitionTime: now,
	})
}

// RunsSummary is how many runs are recorded, of all.
func RunsSummary(status *v1alpha1.BenchmarkStatus, runs int) string {
	recorded := 0
	for i := range status.Runs {
		if status.Runs[i].Phase == v1alpha1.RunRecorded {
			recorded++
		}
	}
	return fmt.Sprintf("%d/%d", recorded, runs)
}
