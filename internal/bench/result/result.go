// SPDX-License-Identifier: Apache-2.0

package result

import (
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// SchemaVersion is the version of the document. Another version means that
// something has another name or meaning, not that something was added.
const SchemaVersion = 1

// Result is the result of a benchmark.
type Result struct {
	// SchemaVersion is the version of the document.
	SchemaVersion int `json:"schemaVersion"`
	// Benchmark is the experiment, defaults included.
	Benchmark v1alpha1.Benchmark `json:"benchmark"`
	// Command is the command line that made the result.
	Command []string `json:"command"`
	// Repeat is the command line that makes another one from the artifact.
	Repeat    []string  `json:"repeat"`
	StartedAt time.Time `json:"startedAt"`
	EndedAt   time.Time `json:"endedAt"`
	// Commit is the commit that the programs are of, as whoever ran the benchmark
	// said, or in a cluster the one that the release of the operator was made from.
	Commit      string      `json:"commit,omitempty"`
	Environment Environment `json:"environment"`
	// Shardyard is the program that ran the benchmark.
	Shardyard Program `json:"shardyard"`
	// NotApplied are settings of the network that mean nothing where it ran.
	NotApplied []string `json:"notApplied,omitempty"`
	// Seeds are what everything random follows from that a seed decides.
	Seeds Seeds `json:"seeds"`
	// Variants are what was measured; a benchmark without variants has one.
	Variants []Variant `json:"variants"`
	// Runs are in the order in which they were made.
	Runs []Run `json:"runs"`
	// Comparison is absent when there is no baseline.
	Comparison *Comparison `json:"comparison,omitempty"`
	Verdict    Verdict     `json:"verdict"`
}

// Seeds are the seeds of a benchmark.
type Seeds struct {
	// Genesis is the text that all accounts are derived from.
	Genesis string `json:"genesis"`
	// Statistics is what the intervals follow from.
	Statistics uint64 `json:"statistics"`
}

// Variant is one kind of nodes that was measured.
type Variant struct {
	// Name is empty when there are no variants.
	Name string `json:"name,omitempty"`
	// Shardnode is the node program.
	Shardnode Program `json:"shardnode"`
	// Network is the spec that the networks of the variant's runs had.
	Network v1alpha1.ShardNetworkSpec `json:"network"`
	// Figures are of all runs of the variant together.
	Figures []Figure `json:"figures"`
}

// Figure is one figure of a variant.
type Figure struct {
	Name  v1alpha1.BenchmarkFigure `json:"name"`
	Unit  string                   `json:"unit"`
	Value float64                  `json:"value"`
	// Interval is absent of figures that none can be estimated for.
	Interval *Interval `json:"interval,omitempty"`
	// Runs are the figure of each run, in the order of repetitions. Figures about
	// how runs differ have none.
	Runs []float64 `json:"runs,omitempty"`
}

// Interval is where a figure or a change is likely to be.
type Interval struct {
	Low               float64 `json:"low"`
	High              float64 `json:"high"`
	ConfidencePercent int32   `json:"confidencePercent"`
}

// FigureOf is a variant's figure of a name; nil when it has none.
func (v *Variant) FigureOf(name v1alpha1.BenchmarkFigure) *Figure {
	for i := range v.Figures {
		if v.Figures[i].Name == name {
			return &v.Figures[i]
		}
	}
	return nil
}

// Candidate is the variant that criteria are about: the only one, or the second.
func (r *Result) Candidate() *Variant {
	return &r.Variants[len(r.Variants)-1]
}

// RunsOf are the runs of a variant, in the order of repetitions.
func (r *Result) RunsOf(variant string) []*Run {
	var runs []*Run
	for i := range r.Runs {
		if r.Runs[i].Variant == variant {
			runs = append(runs, &r.Runs[i])
		}
	}
	return runs
}
