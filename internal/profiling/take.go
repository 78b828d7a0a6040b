// SPDX-License-Identifier: Apache-2.0

package profiling

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/pprof/profile"

	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// pollInterval is how often a node is asked how far its profile is: seldom, since
	// what it does to answer is in the profile.
	pollInterval = 500 * time.Millisecond
	// patience is how long a node may give no answer meanwhile.
	patience = 10 * time.Second
)

// Node is a node that takes profiles.
type Node interface {
	BeginProfile(ctx context.Context, wanted chain.ProfileWanted) error
	Profile(ctx context.Context) (*chain.Profile, error)
	ProfileContent(ctx context.Context) ([]byte, error)
	EndProfile(ctx context.Context) error
}

// Taken is a profile of one node.
type Taken struct {
	// Node is the name of the node.
	Node string
	// Status is what the node says of it.
	Status chain.Profile
	// Content is the profile.
	Content *profile.Profile
}

// Take has a node take a profile, and waits for it. The node keeps none, and takes
// none any more when the context is done.
func Take(ctx context.Context, name string, node Node, wanted chain.ProfileWanted) (*Taken, error) {
	if err := node.BeginProfile(ctx, wanted); err != nil {
		// A node that answers takes none, or one of somebody else. One that does not may have begun.
		if _, refused := errors.AsType[*chain.ResponseError](err); !refused {
			forget(ctx, node)
		}
		return nil, fmt.Errorf("node %s takes no profile: %w", name, err)
	}
	defer forget(ctx, node)
	status, err := await(ctx, name, node)
	if err != nil {
		return nil, err
	}
	content, err := node.ProfileContent(ctx)
	if err != nil {
		return nil, fmt.Errorf("node %s took a profile that cannot be had: %w", name, err)
	}
	read, err := profile.Parse(bytes.NewReader(content))
	if err != nil {
		return nil, fmt.Errorf("read the profile of node %s: %w", name, err)
	}
	return &Taken{name, *status, read}, nil
}

// forget has a node end or forget its profile. If it does not, the profile ends by
// itself, and goes with the next one.
func forget(ctx context.Context, node Node) {
	_ = node.EndProfile(context.WithoutCancel(ctx))
}

// await waits until the profile of a node is ready.
func await(ctx context.Context, name string, node Node) (*chain.Profile, error) {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	answered := time.Now()
	for {
		status, err := node.Profile(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && time.Since(answered) > patience:
			return nil, fmt.Errorf("node %s does not answer while it takes a profile: %w", name, err)
		case err != nil:
		case status == nil:
			return nil, fmt.Errorf("node %s has no profile any more: it was started again, or somebody ended it", name)
		case status.Stage == chain.ProfileReady:
			return status, nil
		case status.Stage == chain.ProfileFailed:
			return nil, fmt.Errorf("node %s took no profile: %s", name, status.Reason)
		default:
			answered = time.Now()
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ticker.C:
		}
	}
}

// TakeAll has nodes take profiles at the same time. The error is about those that did
// not; the profiles of the others are there nevertheless.
func TakeAll(ctx context.Context, names []string, nodes []Node, wanted chain.ProfileWanted) ([]*Taken, error) {
	all, failures := make([]*Taken, len(nodes)), make([]error, len(nodes))
	var taking sync.WaitGroup
	for i, node := range nodes {
		taking.Go(func() { all[i], failures[i] = Take(ctx, names[i], node, wanted) })
	}
	taking.Wait()
	var taken []*Taken
	for _, one := range all {
		if one != nil {
			taken = append(taken, one)
		}
	}
	return taken, errors.Join(failures...)
}

// Merge makes one profile of those of several nodes. Its samples have the names of
// the nodes as labels, node.
func Merge(taken []*Taken) (*profile.Profile, error) {
	profiles := make([]*profile.Profile, 0, len(taken))
	for _, one := range taken {
		profiles = append(profiles, one.Content)
	}
	merged, err := profile.Merge(profiles)
	if err != nil {
		return nil, fmt.Errorf("merge profiles: %w", err)
	}
	return merged, nil
}
