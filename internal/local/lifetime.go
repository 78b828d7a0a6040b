// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// end is when the lifetime of the network ends, from when its genesis document
// was made.
func (n *network) end() (time.Time, bool) {
	lifetime := n.Manifest.Spec.Lifetime
	if lifetime == nil {
		return time.Time{}, false
	}
	return time.UnixMilli(n.Genesis.CreatedAtMs).Add(time.Duration(lifetime.DurationSeconds) * time.Second), true
}

// ended says whether the lifetime of the network has ended.
func (n *network) ended() bool {
	end, ends := n.end()
	return ends && !time.Now().Before(end)
}

// untilEnd bounds a context by the lifetime of the network. One whose lifetime
// has ended does not go on.
func (n *network) untilEnd(ctx context.Context) (context.Context, context.CancelFunc, error) {
	end, ends := n.end()
	if !ends {
		return ctx, func() {}, nil
	}
	if n.ended() {
		return nil, nil, &statedir.ResumeError{Dir: string(n.Dir), Err: fmt.Errorf("its lifetime ended at %s: "+
			"raise spec.lifetime.durationSeconds or leave out spec.lifetime", end.Format(time.DateTime))}
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	return ctx, cancel, nil
}

// leave removes the network if its lifetime has ended and its spec says so. One
// that failed stays: its files say why.
func (n *network) leave(console *console.Console, failed error) error {
	if !n.ended() {
		return nil
	}
	switch {
	case n.Manifest.Spec.Lifetime.Action == v1alpha1.LifetimeStop:
		console.Printf("the lifetime of the network has ended; it is kept in %s", n.Dir)
	case failed != nil:
		console.Printf("the lifetime of the network has ended; it is kept in %s because it failed", n.Dir)
	default:
		console.Printf("the lifetime of the network has ended; removing it from %s", n.Dir)
		return n.Dir.Clear()
	}
	return nil
}
