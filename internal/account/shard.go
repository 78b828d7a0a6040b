// SPDX-License-Identifier: Apache-2.0

package account

import (
	"encoding/binary"
	"math/bits"
)

// LeastOf is the least id that belongs to a shard: requests that an account leads
// to its shard, it leads there too, whether or not the account exists.
func LeastOf(shard, shards int) ID {
	// Shard i of n owns the ids whose first eight bytes x have floor(x * n / 2^64) = i:
	// the least x is i * 2^64 / n, rounded up.
	least, _ := bits.Div64(uint64(shard), uint64(shards-1), uint64(shards))
	var id ID
	binary.BigEndian.PutUint64(id[:], least)
	return id
}

// ShardOf is the shard of an account.
func ShardOf(id ID, shards int) int {
	// The product is below shards * 2^64.
	shard, _ := bits.Mul64(binary.BigEndian.Uint64(id[:]), uint64(shards))
	return int(shard)
}
