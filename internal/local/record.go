// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// standstillPatience is how long a chain may take for the block that ends a
// measurement. One that takes longer stands still.
const standstillPatience = 30 * time.Second

// errRunInterrupted says that there is no record of a run.
var errRunInterrupted = errors.New("interrupted before the measurement was complete")

// RecordOptions say what network to run and what to record of it.
type RecordOptions struct {
	// Network is the network and its load.
	Network *v1alpha1.ShardNetwork
	// StateDir is the folder that the network is made in, anew.
	StateDir string
	// Shardnode is the path of the node program.
	Shardnode string
	// WarmUp and Duration are of the measurement, once the load has reached its
	// last step.
	WarmUp, Duration time.Duration
	// ReadyTimeout is how long the validators may take to become ready.
	ReadyTimeout time.Duration
	// Company are the runs that this one is made side by side with; nil when it is
	// made by itself.
	Company *Company
	// Profile is the profile that is taken of the run.
	Profile ProfileOptions
	// Progress is where progress is shown.
	Progress io.Writer
}

// Record makes a network, has it carry its load until the measurement is
// complete, and returns the record. No process is left when it returns; the
// network's folder is.
func Record(ctx context.Context, options RecordOptions) (_ *result.Run, err error) {
	load, err := loading.NewRun(options.Network.Spec.Load, options.WarmUp, options.Duration)
	if err != nil {
		return nil, err
	}
	// The load is the run's: of a network by itself, some loads cannot be asked.
	unloaded := options.Network.DeepCopy()
	unloaded.Spec.Load = nil
	content, err := statedir.EncodeManifest(unloaded)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(options.StateDir, options.Network.Name+".yaml")
	if err := wholefile.Write(path, content, statedir.FileMode); err != nil {
		return nil, err
	}
	network, err := openNetwork(path, options.StateDir, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()

	var recorded *result.Run
	err = network.whileUp(ctx, options.Shardnode, console.New(options.Progress), func(group *supervision.Group) (err error) {
		users := newClients(network, group, load, options)
		recorded, err = recordGroup(ctx, group, load, users, options)
		return err
	})
	return recorded, err
}

// recordGroup records a group that has been started.
func recordGroup(
	ctx context.Context, group *supervision.Group, load *loading.Load, users *clients.Clients, options RecordOptions,
) (*result.Run, error) {
	if err := group.AwaitReady(ctx, options.ReadyTimeout); err != nil {
		return nil, err
	}
	if err := signBefore(ctx, group, load, options.ReadyTimeout); err != nil {
		return nil, err
	}
	if err := options.Company.awaitReady(ctx, group.Failed()); err != nil {
		return nil, err
	}
	run, err := beginRun(ctx, group, load, options.ReadyTimeout)
	if err != nil {
		return nil, err
	}
	run.recording = newRecording(run, load, users, options)
	profiles := newProfiles(run, options.Profile)
	defer profiles.end()
	if load.Count > 0 {
		// What is measured begins now, and not with the first sample of a load.
		if err := run.take(ctx, run.last); err != nil {
			return nil, err
		}
	}
	run.recording.settled = func(window result.Window) { profiles.through(ctx, window) }
	carryCtx, cancel := context.WithTimeout(ctx, run.recording.longest())
	defer cancel()
	if err := run.carry(carryCtx); err != nil {
		return nil, err
	}
	group.Console.Settle()
	if ctx.Err() != nil {
		return nil, errRunInterrupted
	}
	var profile *result.Profile
	if run.fault() == "" {
		if profile, err = profiles.conclude(ctx); err != nil {
			return nil, err
		}
	}
	// What was recorded is measured, and not what is measured between two statuses.
	if _, err := run.finish(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, bench.ErrNoBlocks) {
		return nil, err
	}
	recorded := run.recording.recorder.Run(run.fault())
	load.Conclude(&recorded, run.load.Validators())
	users.Conclude(&recorded)
	if profile != nil {
		recorded.Profile = profile
		if profile.Taken == result.ProfileDuring {
			recorded.Notes = append(recorded.Notes, "the validators took a profile meanwhile: what its samples cost is in the figures")
		}
	}
	return &recorded, nil
}

// fault is why a run does not count; empty if it does.
func (r *run) fault() string {
	if r.violation != nil {
		return r.violation.Error()
	}
	for _, supervisor := range r.group.Supervisors {
		if state := supervisor.Current(); state.Starts > 1 {
			return fmt.Sprintf("validator %s ended in the middle and was started again", supervisor.Name())
		}
	}
	if r.recording.blamed != "" {
		return r.recording.blamed
	}
	if unsettled := r.recording.unsettled(); unsettled != "" {
		return unsettled
	}
	if users := r.recording.clients; users != nil {
		if fault := users.Current().Fault; fault != nil {
			return fault.Error()
		}
	}
	if untold := r.recording.blocks.Untold(); untold != nil {
		return "not all blocks were told: " + untold.Error()
	}
	return ""
}
