// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"time"

	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// minMargin and marginPart are how much longer than a run should take the transfers
	// last that are signed before: until the nodes have been told their load, and the
	// block is there that ends the measurement.
	minMargin  = 10 * time.Second
	marginPart = 10
)

// Lasts is how long after its beginning the producers have what they sign before of a load
// whose last step is measured.
func (s Schedule) Lasts(warmUp, duration time.Duration) time.Duration {
	last := warmUp + duration
	return s.Settled() + last + max(minMargin, last/marginPart)
}

// Stock is how many transfers of a schedule become due until a time, of each of the
// validators that share it.
func (s Schedule) Stock(until time.Duration, validators []topology.Validator) []int64 {
	stock := make([]int64, len(validators))
	for i, step := range s.steps {
		end := until
		if i+1 < len(s.steps) {
			end = min(end, s.steps[i+1].begin)
		}
		seconds := int64(max(0, end-step.begin+time.Second-1) / time.Second)
		for validator, share := range Split(step.rate, validators) {
			stock[validator] += share * seconds
		}
	}
	return stock
}
