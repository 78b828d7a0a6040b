// SPDX-License-Identifier: Apache-2.0

package experiment

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/verdict"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local"
)

// Options say what to run and how.
type Options struct {
	// Benchmark is the experiment.
	Benchmark *v1alpha1.Benchmark
	// Shardnode is the path of the node program, and Shardnodes are those of
	// variants that have another one, by name.
	Shardnode  string
	Shardnodes map[string]string
	// Baseline is the result that the runs are compared with; nil for none.
	Baseline *result.Result
	// BaselineName is what the result of the baseline is called.
	BaselineName string
	// Without says that there is to be no baseline, although the benchmark says how
	// to compare.
	Without bool
	// StateDir is the folder that networks of this machine are kept in, for a benchmark
	// that names one.
	StateDir string
	// Folder is where the networks of runs are made, and Keep leaves them there.
	Folder string
	Keep   bool
	// Profile is the kind of the profile that is taken of each run, empty for none, and
	// ProfileVariant the only variant whose runs have one; empty for all.
	Profile        chain.ProfileKind
	ProfileVariant string
	// ProfileSeconds is how long it takes once the measurement is complete; 0 to take it
	// through the measurement.
	ProfileSeconds int32
	// Profiles is the folder that profiles go to.
	Profiles string
	// Command is the command line, and Repeat the one that does the same from the
	// artifact.
	Command, Repeat []string
	// Commit is the commit that the programs are of; empty when nobody said.
	Commit string
	// Shardyard is the path of this program.
	Shardyard string
	// ReadyTimeout is how long the validators of a run may take to become ready, or a
	// network that is named to come to rest.
	ReadyTimeout time.Duration
	// Progress is where progress is shown.
	Progress io.Writer
}

// Check says whether the options fit the benchmark.
func (o *Options) Check() error {
	spec := &o.Benchmark.Spec
	for _, name := range slices.Sorted(maps.Keys(o.Shardnodes)) {
		known := func(variant v1alpha1.BenchmarkVariant) bool { return variant.Name == name }
		if !slices.ContainsFunc(spec.Variants, known) {
			return fmt.Errorf("--shardnode %s=%s: the benchmark has no variant of that name", name, o.Shardnodes[name])
		}
	}
	for i := range spec.Variants {
		if variant := &spec.Variants[i]; variant.Image != "" && o.Shardnodes[variant.Name] == "" {
			return fmt.Errorf("spec.variants[%d].image: this machine runs programs and no images: "+
				"name that of variant %s with --shardnode %s=PATH", i, variant.Name, variant.Name)
		}
	}
	return errors.Join(o.checkNetwork(), o.checkBaseline(), o.checkProfile())
}

// checkBaseline says whether the options fit how the benchmark compares.
func (o *Options) checkBaseline() error {
	spec := &o.Benchmark.Spec
	named := o.Baseline != nil || o.Without
	switch {
	case len(spec.Variants) > 0 && named:
		return errors.New("--baseline: of two variants, the first is the baseline of the second")
	case len(spec.Variants) == 0 && spec.Baseline == nil && named:
		return errors.New("--baseline: the benchmark does not say how to compare: it has no spec.baseline")
	case len(spec.Variants) == 0 && spec.Baseline != nil && !named:
		return errors.New("spec.baseline says how to compare, and there is nothing to compare with: " +
			"name an earlier artifact with --baseline, or none with --baseline none")
	case o.Baseline != nil:
		earlier := verdict.CandidateOf(o.Baseline, o.BaselineName)
		if err := earlier.Check(); err != nil {
			return fmt.Errorf("--baseline: %w", err)
		}
		return nil
	default:
		return nil
	}
}

// checkProfile says whether there is something to profile.
func (o *Options) checkProfile() error {
	spec := &o.Benchmark.Spec
	wanted := func(variant v1alpha1.BenchmarkVariant) bool { return variant.Name == o.ProfileVariant }
	switch {
	case o.Profile == "" && o.ProfileVariant != "":
		return fmt.Errorf("--profile-variant %s: no profile is wanted: --profile says of what kind", o.ProfileVariant)
	case o.Profile == "":
		return nil
	case o.ProfileVariant != "" && !slices.ContainsFunc(spec.Variants, wanted):
		return fmt.Errorf("--profile-variant %s: the benchmark has no variant of that name", o.ProfileVariant)
	case spec.Network.Name != "":
		return fmt.Errorf("--profile: the network %s, which the benchmark names, runs by itself: "+
			"shardyard profile takes profiles of it", spec.Network.Name)
	case spec.Load.Profile == v1alpha1.LoadProfileFixedCount:
		return errors.New("--profile: of a load of profile FixedCount it is not known how long it will be measured, " +
			"and nothing is left of it afterwards")
	case o.ProfileSeconds > 0 && spec.Load.Profile == v1alpha1.LoadProfileOpenLoop:
		return errors.New("--profile-seconds: the users of a load of profile OpenLoop send nothing more " +
			"once the measurement is complete; without it, a profile is taken through the measurement")
	default:
		return nil
	}
}

// profileOf says what profile to take of a run.
func (o *Options) profileOf(run bench.PlannedRun) local.ProfileOptions {
	if o.ProfileVariant != "" && o.ProfileVariant != run.VariantName {
		return local.ProfileOptions{}
	}
	return local.ProfileOptions{Kind: o.Profile, Seconds: o.ProfileSeconds, Folder: o.Profiles, Name: run.Key()}
}

// checkNetwork says whether the options fit where the network of the benchmark comes
// from.
func (o *Options) checkNetwork() error {
	name := o.Benchmark.Spec.Network.Name
	switch {
	case name == "" && o.StateDir != "":
		return errors.New("--state-dir: the benchmark names no network: its runs make their own")
	case name != "" && (o.Shardnode != "" || len(o.Shardnodes) > 0):
		return fmt.Errorf("--shardnode: the network %s, which the benchmark names, runs its programs already", name)
	case name != "" && o.Keep:
		return fmt.Errorf("--keep: the network %s, which the benchmark names, stays anyway", name)
	case name != "":
		// What it can carry is known once it is found.
		return nil
	}
	spec := &o.Benchmark.Spec
	if words := bench.Misfit(&spec.Network.Template.Spec, spec); words != "" {
		return fmt.Errorf("spec.load: the network of the benchmark cannot carry it: %s", words)
	}
	return nil
}
