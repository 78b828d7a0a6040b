// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"fmt"

	"github.com/shardyard/shardyard/internal/chain"
)

// DivergenceError says that two nodes contradict each other.
type DivergenceError struct {
	// First and Second are the names of the nodes.
	First, Second string
	// Subject is what they contradict each other about.
	Subject string
}

// Error names the nodes and what they contradict each other about.
func (e *DivergenceError) Error() string {
	return fmt.Sprintf("%s and %s diverge: %s", e.First, e.Second, e.Subject)
}

// SupplyError says that value came from nowhere or was lost.
type SupplyError struct {
	// Node is the node that tells it.
	Node string
	// Height is the finalised block that it is about.
	Height uint64
	// Supply is what the block's headers commit to.
	Supply chain.Supply
}

// Error states the supply that is and that should be.
func (e *SupplyError) Error() string {
	return fmt.Sprintf("supply is not conserved at height %d: balances %d, %d in flight and %d burnt should sum to %d (told by %s)",
		e.Height, e.Supply.Balances, e.Supply.InFlight, e.Supply.Burnt, e.Supply.Expected, e.Node)
}
