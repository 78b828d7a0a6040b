// SPDX-License-Identifier: Apache-2.0

package account_test

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
)

// ownerOf is the shard of the ids that begin so, as the node contract has it.
func ownerOf(begin uint64, shards int) int {
	owner, _ := bits.Mul64(begin, uint64(shards))
	return int(owner)
}

func TestLeastOf(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 2, 3, 7, 70, 1024} {
		t.Run(fmt.Sprint(shards), func(t *testing.T) {
			t.Parallel()
			for shard := range shards {
				id := account.LeastOf(shard, shards)
				begin := binary.BigEndian.Uint64(id[:])
				if owner := ownerOf(begin, shards); owner != shard {
					t.Errorf("the least id of shard %d is %s, of shard %d", shard, id, owner)
				}
				if shard > 0 && ownerOf(begin-1, shards) != shard-1 {
					t.Errorf("there is an id of shard %d below %s", shard, id)
				}
			}
		})
	}
}
