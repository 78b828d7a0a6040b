// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
)

// Measurement is what a chain did between two samples.
type Measurement struct {
	// Window is the time between the two finalised blocks that the measurement
	// is between.
	Window time.Duration
	// Blocks are the finalised blocks of the window.
	Blocks uint64
	// Transfers are the transfers that these blocks commit as executed.
	Transfers uint64
	// CPU is the time that all nodes used between the samples.
	CPU time.Duration
}

// ErrNoBlocks says that there is nothing to measure between two samples.
var ErrNoBlocks = errors.New("no node finalised a block between the two samples")

// Measure measures what a chain did between two samples. Blocks, transfers and
// time come from the finalised blocks of one node: of those that moved on from
// one sample to the other, the one that knew most at first.
func Measure(from, to Sample) (Measurement, error) {
	for _, node := range from.ranked() {
		first, last := node.Status, to.Status(node.Name)
		if last == nil || !follows(first, last) {
			continue
		}
		return Measurement{
			Window:    time.Duration(last.FinalizedTimeMs-first.FinalizedTimeMs) * time.Millisecond,
			Blocks:    last.FinalizedHeight - first.FinalizedHeight,
			Transfers: last.Transfers - first.Transfers,
			CPU:       cpuBetween(from, to),
		}, nil
	}
	return Measurement{}, ErrNoBlocks
}

// follows says whether blocks were finalised between two statuses of a node.
func follows(first, last *chain.Status) bool {
	return last.FinalizedHeight > first.FinalizedHeight &&
		last.FinalizedTimeMs > first.FinalizedTimeMs &&
		last.Transfers >= first.Transfers
}

func cpuBetween(from, to Sample) time.Duration {
	var total time.Duration
	for _, last := range to.Nodes {
		total += last.CPU
	}
	for _, first := range from.Nodes {
		total -= first.CPU
	}
	return total
}

// TPS is the rate of executed transfers.
func (m Measurement) TPS() float64 {
	if m.Window <= 0 {
		return 0
	}
	return float64(m.Transfers) / m.Window.Seconds()
}

// BlockTime is the mean time between two blocks.
func (m Measurement) BlockTime() time.Duration {
	if m.Blocks == 0 {
		return 0
	}
	return m.Window / time.Duration(m.Blocks)
}

// CPUPerTransfer is the time that all nodes together used for each transfer;
// false when there was none.
func (m Measurement) CPUPerTransfer() (time.Duration, bool) {
	if m.Transfers == 0 {
		return 0, false
	}
	return m.CPU / time.Duration(m.Transfers), true
}
