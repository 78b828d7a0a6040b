// SPDX-License-Identifier: Apache-2.0

package observed

import "time"

const (
	// stalledAfter is how long no block is finalised before the chain counts as
	// stalled: consensus has then given up on several leaders in a row. Where
	// blocks are far apart by the spec, or leaders wait long for chunks, it is
	// stalledBlocks times both.
	stalledAfter  = 15 * time.Second
	stalledBlocks = 4
)

// Stalled says whether the last block was finalised too long ago.
func (o *Network) Stalled(finalized time.Time) bool {
	return o.Now.Sub(finalized) > o.StallTime()
}

// StallTime is how long no block is finalised before the chain counts as stalled.
func (o *Network) StallTime() time.Duration {
	protocol := o.Network.Spec.Protocol
	blockTime := time.Duration(protocol.MinBlockTimeMilliseconds+protocol.ChunkWaitMilliseconds) * time.Millisecond
	return max(stalledAfter, stalledBlocks*blockTime)
}
