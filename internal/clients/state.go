// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"time"

	"github.com/shardyard/shardyard/internal/bench/openloop"
	"github.com/shardyard/shardyard/internal/bench/result"
)

// State is how far the steps are.
type State struct {
	// Began is when the first transfer of the present step is due. Before, it may be in
	// the future; without a step it is zero.
	Began time.Time
	// Rate is what the users of that step send, in transfers per second.
	Rate float64
	// Last says that there is no step after it.
	Last bool
	// OverAt is when the last one had ended; zero before.
	OverAt time.Time
	// Fault is why there is no more; nil if nothing is wrong.
	Fault error

	ended     time.Time
	steps     []result.OpenLoopStep
	documents []*openloop.Document
}

// Over says that all steps have ended.
func (s *State) Over() bool { return !s.OverAt.IsZero() }

// Offered is what users send at a time, in transfers per second.
func (s *State) Offered(at time.Time) float64 {
	if at.Before(s.Began) || !at.Before(s.ended) {
		return 0
	}
	return s.Rate
}

// LastHeight is the height up to which blocks say what the last loader says.
func (s *State) LastHeight() uint64 {
	if len(s.documents) == 0 {
		return 0
	}
	return s.documents[len(s.documents)-1].LastHeight()
}
