// SPDX-License-Identifier: Apache-2.0

package bench

import "github.com/shardyard/shardyard/internal/topology"

// Split divides the rate of a network among those of its validators that are
// producers; the others sign nothing. The shares sum to the rate, and no two
// producers' differ by more than one.
func Split(rate int64, validators []topology.Validator) []int64 {
	var producers int64
	for _, validator := range validators {
		if validator.Role == topology.RoleProducer {
			producers++
		}
	}
	shares := make([]int64, len(validators))
	var before int64
	for i, validator := range validators {
		if validator.Role != topology.RoleProducer {
			continue
		}
		// What the producers up to here carry together, less what they already
		// do: spreads the remainder over all shards.
		shares[i] = rate*(before+1)/producers - rate*before/producers
		before++
	}
	return shares
}
