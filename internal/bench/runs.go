// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// PlannedRun is one run that a benchmark makes.
type PlannedRun struct {
	// Variant is the index of the run's variant, and VariantName its name; 0 and
	// empty when the benchmark has no variants.
	Variant     int
	VariantName string
	// Repetition counts the runs of a variant, from 1.
	Repetition int
}

// String names the run to people.
func (r PlannedRun) String() string {
	if r.VariantName == "" {
		return fmt.Sprintf("run %d", r.Repetition)
	}
	return fmt.Sprintf("run %d of %s", r.Repetition, r.VariantName)
}

// Key names the run to machines: part of a file's name.
func (r PlannedRun) Key() string {
	return fmt.Sprintf("%s-%d", cmp.Or(r.VariantName, "run"), r.Repetition)
}

// Runs are the runs of a benchmark, in the order in which they are made: those of
// all variants are interleaved. The variant that goes first changes, so that what
// becomes slower or faster with time does so to all of them.
func Runs(spec *v1alpha1.BenchmarkSpec) []PlannedRun {
	variants := max(1, len(spec.Variants))
	runs := make([]PlannedRun, 0, variants*int(spec.Repetitions))
	for repetition := range int(spec.Repetitions) {
		for i := range variants {
			run := PlannedRun{Variant: (i + repetition) % variants, Repetition: repetition + 1}
			if len(spec.Variants) > 0 {
				run.VariantName = spec.Variants[run.Variant].Name
			}
			runs = append(runs, run)
		}
	}
	return runs
}

// Rounds are the runs of a benchmark, in the order in which they are made, those
// together that are made side by side.
func Rounds(spec *v1alpha1.BenchmarkSpec) [][]PlannedRun {
	together := 1
	if spec.Interleaving == v1alpha1.InterleavingSideBySide {
		together = len(spec.Variants)
	}
	return slices.Collect(slices.Chunk(Runs(spec), together))
}

// Measured is how long the last step of a run's load lasts before the measurement
// begins, and how long that lasts.
func Measured(spec *v1alpha1.BenchmarkSpec) (warmUp, duration time.Duration) {
	if spec.WarmUpSeconds != nil {
		warmUp = time.Duration(*spec.WarmUpSeconds) * time.Second
	}
	return warmUp, time.Duration(spec.DurationSeconds) * time.Second
}

// NetworkSpec is the spec of the networks of a variant's runs, without load.
func NetworkSpec(spec *v1alpha1.BenchmarkSpec, variant int) v1alpha1.ShardNetworkSpec {
	network := *spec.Network.Template.Spec.DeepCopy()
	if variant >= len(spec.Variants) {
		return network
	}
	differs := spec.Variants[variant].DeepCopy()
	if differs.Features != nil {
		network.Node.Features = *differs.Features
	}
	if differs.Image != "" {
		network.Node.Image = differs.Image
	}
	if differs.Log != nil {
		network.Node.Log = *differs.Log
	}
	if differs.Tracing != nil {
		network.Tracing = differs.Tracing
	}
	return network
}
