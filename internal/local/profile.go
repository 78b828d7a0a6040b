// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/profiling"
)

// ProfileOptions say what CPU profile to take of the validators of a run.
type ProfileOptions struct {
	// Seconds is how long it takes; 0 for none.
	Seconds int32
	// Folder is where its files go, and Name what they are called, but for their
	// extensions.
	Folder, Name string
}

// takeProfile has all validators take a CPU profile at the same time, while they carry
// the load that was measured: once the measurement is complete, which is the same with
// a profile and without. What keeps a validator from it is said; the measurement counts
// nevertheless.
func (r *run) takeProfile(ctx context.Context, options ProfileOptions) error {
	names, nodes := make([]string, 0, len(r.group.supervisors)), make([]profiling.Node, 0, len(r.group.supervisors))
	for _, supervisor := range r.group.supervisors {
		names, nodes = append(names, supervisor.name()), append(nodes, supervisor.client)
	}
	taken, failures := profiling.TakeAll(ctx, names, nodes, chain.ProfileExtent{Seconds: options.Seconds})
	r.tellUnprofiled(ctx, failures)
	if len(taken) == 0 {
		return nil
	}
	merged, err := profiling.Merge(taken)
	if err != nil {
		return err
	}
	paths, err := profiling.Write(options.Folder, options.Name, merged)
	if err != nil {
		return fmt.Errorf("write the profile of the run: %w", err)
	}
	for _, path := range paths {
		r.console.printf("profile: %s", filepath.Base(path))
	}
	return nil
}

// tellUnprofiled says which validators took no profile, unless nobody waits for any.
func (r *run) tellUnprofiled(ctx context.Context, failures error) {
	if failures != nil && ctx.Err() == nil {
		r.console.printf("profile: %v", failures)
	}
}
