// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
)

// Row is a decision as a result keeps it.
func (d *Decision) Row() *result.Control {
	return &result.Control{
		State:          string(d.State),
		Error:          d.Error,
		BlockTimeMs:    float64(d.BlockTime) / float64(time.Millisecond),
		BacklogSeconds: d.BacklogSeconds,
		MissedShare:    d.MissedShare,
		Steady:         d.Steady,
	}
}
