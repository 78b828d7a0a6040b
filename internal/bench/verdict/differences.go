// SPDX-License-Identifier: Apache-2.0

package verdict

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Differences are what differs between two results that are compared, besides
// what was measured: reasons to think twice about what the comparison says.
func Differences(baseline, candidate *result.Result) []string {
	var notes []string
	differ := func(what string, before, after any) {
		if !equality.Semantic.DeepEqual(before, after) {
			notes = append(notes, fmt.Sprintf("%s differs: %v, and now %v", what, before, after))
		}
	}
	before, after := &baseline.Environment, &candidate.Environment
	differ("the processor", before.CPUModel, after.CPUModel)
	differ("the number of processors", before.CPUs, after.CPUs)
	differ("the kernel", before.Kernel, after.Kernel)
	differ("the file system", before.FileSystem, after.FileSystem)
	differ("the kind of machines", machinesOf(baseline), machinesOf(candidate))
	differ("the network that was there before", networkName(before), networkName(after))
	was, is := &baseline.Benchmark.Spec, &candidate.Benchmark.Spec
	if !equality.Semantic.DeepEqual(was.Load, is.Load) {
		notes = append(notes, "the load differs")
	}
	if !equality.Semantic.DeepEqual(baseline.Candidate().Network, candidate.Candidate().Network) {
		notes = append(notes, "the network's spec differs")
	}
	differ("the number of measured seconds", was.DurationSeconds, is.DurationSeconds)
	if program := baseline.Candidate().Shardnode.SHA256; program != "" && program == candidate.Candidate().Shardnode.SHA256 {
		notes = append(notes, "the node program is the same")
	}
	return notes
}

// machinesOf are the kinds of machines of a cluster that all runs were on; empty on one
// machine.
func machinesOf(of *result.Result) string {
	var kinds []string
	for i := range of.Runs {
		for _, machines := range of.Runs[i].Machines {
			// What the environment says of all machines is noted already.
			machines.Kernel = ""
			kinds = append(kinds, machines.String())
		}
	}
	slices.Sort(kinds)
	return strings.Join(slices.Compact(kinds), " and ")
}

// networkName is the network that was there before the runs, as sentences name it.
func networkName(environment *result.Environment) string {
	if environment.Network == nil {
		return "none"
	}
	return environment.Network.Name
}
