// SPDX-License-Identifier: Apache-2.0

package bench

// Split divides the rate of a network among its producers. The shares sum to
// the rate, and no two differ by more than one.
func Split(rate int64, producers int) []int64 {
	shares := make([]int64, producers)
	for i := range shares {
		// What the producers up to here carry together, less what they already
		// do: spreads the remainder over all shards.
		shares[i] = rate*int64(i+1)/int64(producers) - rate*int64(i)/int64(producers)
	}
	return shares
}
