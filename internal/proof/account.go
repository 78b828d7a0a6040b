// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/shardyard/shardyard/internal/account"
)

const (
	domainStateLeaf = 0x10
	domainStateNode = 0x11
	domainStateRoot = 0x12

	// mostLevels is how many levels a list of 2^32 has above its leaves.
	mostLevels = 32
)

// Account is an account that was proven.
type Account struct {
	At
	// Shard is the one that it belongs to, and Height that of the execution that
	// this is the state after.
	Shard  int
	Height uint64
	// Exists is false for an account that there provably is not.
	Exists  bool
	Balance uint64
	Nonce   uint64
}

// Account is what a proof says of an account, in a block of at least this height.
func (v *Verifier) Account(id account.ID, proof []byte, least uint64) (*Account, error) {
	r := &reader{rest: proof}
	r.version(version)
	shown := v.finalized(r)
	height, path := r.uint64(), readPath(r)
	if err := r.end(); err != nil {
		return nil, err
	}
	last, err := v.last(shown, least)
	if err != nil {
		return nil, err
	}
	shard := account.ShardOf(id, v.limits.shards)
	root, ok := last.chunks[shard].stateAt(height)
	if !ok {
		return nil, uncommitted(last, shard, height)
	}
	exists, err := path.verify(id, root)
	if err != nil {
		return nil, last.whose(path, shard, height, err)
	}
	proven := &Account{At: v.at(shown, last), Shard: shard, Height: height, Exists: exists}
	if exists {
		proven.Balance, proven.Nonce = path.balance, path.nonce
	}
	return proven, nil
}

func uncommitted(at *block, shard int, height uint64) error {
	return refuse(Uncommitted, "block %d does not commit to what shard %d came to at height %d", at.height, shard, height)
}

// whose is why a path is refused: it may be from the state of another shard.
func (b *block) whose(path path, shard int, height uint64, err error) error {
	if refused, ok := errors.AsType[*Error](err); !ok || refused.Reason != Root {
		return err
	}
	got := path.root()
	for other := range b.chunks {
		if root, ok := b.chunks[other].stateAt(height); ok && other != shard && root == got {
			return refuse(Shard, "proof from the state of shard %d, the account belongs to shard %d", other, shard)
		}
	}
	return err
}

// path is a leaf of a state, and what leads from it to the root.
type path struct {
	index, count   uint32
	id, next       account.ID
	balance, nonce uint64
	siblings       [][32]byte
}

func readPath(r *reader) path {
	read := path{
		index: r.uint32(), count: r.uint32(), id: r.hash(), next: r.hash(), balance: r.uint64(), nonce: r.uint64(),
	}
	for range r.length(0, mostLevels) {
		read.siblings = append(read.siblings, r.hash())
	}
	return read
}

// root is where the path leads.
func (p path) root() [32]byte {
	numbers := binary.BigEndian.AppendUint64(nil, p.balance)
	numbers = binary.BigEndian.AppendUint64(numbers, p.nonce)
	at, node := p.index, hash(domainStateLeaf, p.id[:], p.next[:], numbers)
	for _, sibling := range p.siblings {
		if at%2 == 0 {
			node = hash(domainStateNode, node[:], sibling[:])
		} else {
			node = hash(domainStateNode, sibling[:], node[:])
		}
		at /= 2
	}
	return hash(domainStateRoot, binary.BigEndian.AppendUint32(nil, p.count), node[:])
}

// verify says whether there is an account under a root: if so, it is the path's
// leaf.
func (p path) verify(id account.ID, root [32]byte) (exists bool, err error) {
	if p.index >= p.count {
		return false, refuse(Index, "leaf %d in a state of %d leaves", p.index, p.count)
	}
	if want := bits.Len32(p.count - 1); len(p.siblings) != want {
		return false, refuse(Path, "path of %d nodes in a state of %d leaves", len(p.siblings), p.count)
	}
	if got := p.root(); got != root {
		return false, refuse(Root, "path leads to state %x instead of %x", got, root)
	}
	// The first leaf is no account: it begins the list of ids, which ends with zeroes.
	if p.id == id {
		return p.index > 0, nil
	}
	if bytes.Compare(p.id[:], id[:]) < 0 && (p.next == account.ID{} || bytes.Compare(id[:], p.next[:]) < 0) {
		return false, nil
	}
	return false, refuse(Unrelated, "leaf says nothing about account %s", id)
}
