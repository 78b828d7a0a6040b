// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/profiling"
)

// profileMargin is how much sooner than the measurement a profile through it begins, and
// how much later it ends. A node makes room for samples at first and looks up names at the
// end, which costs as much whether the measurement is short or long.
const profileMargin = time.Second

// ProfileOptions say what profile to take of the validators of a run.
type ProfileOptions struct {
	// Kind is what it says of functions; empty for none.
	Kind chain.ProfileKind
	// Seconds is how long it takes once the measurement is complete; 0 to take it
	// through the measurement.
	Seconds int32
	// Folder is the folder of the artifact where its files go, and Name what they are
	// called, but for their extensions.
	Folder, Name string
}

// profiles are those that all validators of a run take at the same time: once the
// measurement is complete, under the load that was measured, or through the measurement,
// which has what their samples cost in it. What keeps a validator from it is said; the measurement
// counts nevertheless.
type profiles struct {
	run     *run
	options ProfileOptions
	names   []string
	nodes   []profiling.Node
	// cancel ends those of the measurement; nil before they begin.
	cancel context.CancelFunc
	taking sync.WaitGroup

	taken    []*profiling.Taken
	failures error
}

func newProfiles(run *run, options ProfileOptions) *profiles {
	p := &profiles{run: run, options: options}
	for _, supervisor := range run.group.Supervisors {
		p.names, p.nodes = append(p.names, supervisor.Name()), append(p.nodes, supervisor.Client)
	}
	return p
}

// through begins to take profiles through the measurement, if they are wanted, it is
// known when that is, and they are not taken already.
func (p *profiles) through(ctx context.Context, window result.Window) {
	if p.cancel != nil || p.options.Kind == "" || p.options.Seconds > 0 || window.EndMs == 0 {
		return
	}
	ctx, p.cancel = context.WithCancel(ctx)
	p.taking.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(time.UnixMilli(window.BeginMs).Add(-profileMargin))):
		}
		// A node takes a long one in pieces.
		for ctx.Err() == nil {
			left := math.Round(time.Until(time.UnixMilli(window.EndMs).Add(profileMargin)).Seconds())
			if left < 1 {
				return
			}
			p.take(ctx, int32(min(left, chain.MostProfileSeconds)))
		}
	})
}

// end ends what is still taken.
func (p *profiles) end() {
	if p.cancel != nil {
		p.cancel()
	}
	p.taking.Wait()
}

// take takes a profile of so many seconds.
func (p *profiles) take(ctx context.Context, seconds int32) {
	taken, failures := profiling.TakeAll(ctx, p.names, p.nodes, chain.ProfileWanted{Kind: p.options.Kind, Seconds: seconds})
	p.taken, p.failures = append(p.taken, taken...), errors.Join(p.failures, failures)
}

// conclude waits for the profiles of the measurement, or takes the one after it, and
// writes them; nil if there are none.
func (p *profiles) conclude(ctx context.Context) (*result.Profile, error) {
	p.taking.Wait()
	if p.options.Seconds > 0 {
		p.take(ctx, p.options.Seconds)
	}
	if p.failures != nil && ctx.Err() == nil {
		p.run.console.Printf("profile: %v", p.failures)
	}
	if len(p.taken) == 0 {
		return nil, nil
	}
	merged, err := profiling.Merge(p.taken)
	if err != nil {
		return nil, err
	}
	paths, err := profiling.Write(p.options.Folder, p.options.Name, merged)
	if err != nil {
		return nil, fmt.Errorf("write the profile of the run: %w", err)
	}
	made := &result.Profile{Kind: string(p.options.Kind), Taken: result.ProfileDuring}
	if p.options.Seconds > 0 {
		made.Taken = result.ProfileAfter
	}
	for _, file := range paths {
		p.run.console.Printf("profile: %s", filepath.Base(file))
		made.Files = append(made.Files, path.Join(filepath.Base(p.options.Folder), filepath.Base(file)))
	}
	return made, nil
}
