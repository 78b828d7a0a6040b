// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"encoding/binary"
	"fmt"

	"github.com/shardyard/shardyard/internal/account"
)

const (
	domainListLeaf = 0x00
	domainListNode = 0x01
	domainListRoot = 0x02
	domainOutcome  = 0x31
)

// Outcome is an outcome that was proven.
type Outcome struct {
	At
	// Shard is the signer's, and Height that of the chunk that had the transfer.
	Shard  int
	Height uint64
	// Code is 0 for a transfer that was executed, and else says why it was not.
	Code uint8
}

// failures are why transfers were not executed, by code.
var failures = [...]string{
	1: "nonce is not above the signer's",
	2: "amount is above the signer's balance",
	3: "signer belongs to another shard",
	4: "signer does not exist",
	5: "receiver is the reserved id of all zeroes",
	6: "receiver's shard is congested",
	7: "amount is below the least balance",
	8: "transfer has expired",
	9: "nonce is above the highest of this height",
}

// Reason is why the transfer was not executed; empty for one that was.
func (o *Outcome) Reason() string {
	if int(o.Code) < len(failures) {
		return failures[o.Code]
	}
	return fmt.Sprintf("failure %d", o.Code)
}

// Outcome is what a proof says became of a signer's transfer.
func (v *Verifier) Outcome(signer account.ID, transfer [32]byte, proof []byte) (*Outcome, error) {
	r := &reader{rest: proof}
	r.version(version)
	shown := v.finalized(r)
	height, code, place := r.uint64(), r.uint8(), readPlace(r)
	if err := r.end(); err != nil {
		return nil, err
	}
	last, err := v.last(shown, 0)
	if err != nil {
		return nil, err
	}
	shard := account.ShardOf(signer, v.limits.shards)
	for _, result := range last.chunks[shard].results {
		if result.height != height {
			continue
		}
		outcome := hash(domainOutcome, transfer[:], []byte{code})
		if root, ok := place.root(hash(domainListLeaf, outcome[:])); !ok || root != result.outcomes {
			return nil, refuse(Outcomes, "outcomes of shard %d at height %d do not have this one of the transfer", shard, height)
		}
		return &Outcome{At: v.at(shown, last), Shard: shard, Height: height, Code: code}, nil
	}
	return nil, uncommitted(last, shard, height)
}

// place is where something is in a list, and what leads from there to the root.
type place struct {
	index, count uint32
	siblings     [][32]byte
}

func readPlace(r *reader) place {
	read := place{index: r.uint32(), count: r.uint32()}
	for range r.length(0, mostLevels) {
		read.siblings = append(read.siblings, r.hash())
	}
	return read
}

// root is the only root of a list that has a leaf at this place.
func (p place) root(node [32]byte) (root [32]byte, ok bool) {
	if p.index >= p.count {
		return root, false
	}
	siblings := p.siblings
	for at, width := p.index, uint64(p.count); width > 1; at, width = at/2, (width+1)/2 {
		if uint64(at^1) >= width {
			continue
		}
		if len(siblings) == 0 {
			return root, false
		}
		sibling := siblings[0]
		siblings = siblings[1:]
		if at%2 == 0 {
			node = hash(domainListNode, node[:], sibling[:])
		} else {
			node = hash(domainListNode, sibling[:], node[:])
		}
	}
	if len(siblings) > 0 {
		return root, false
	}
	return hash(domainListRoot, binary.BigEndian.AppendUint32(nil, p.count), node[:]), true
}
