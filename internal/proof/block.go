// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"fmt"
	"math/bits"

	"lukechampine.com/blake3"
)

const (
	// blockVersion is that of the encoding of blocks.
	blockVersion = 2
	// signatureBytes is the length of a signature.
	signatureBytes = 64
	// randomnessBytes is what a block says of randomness: three hashes and a proof.
	randomnessBytes = 3*32 + 80
	// restOfTotals is what is after the height and the root of a shard's totals.
	restOfTotals = 5*8 + 2*16 + 8 + 2
)

// block is what proofs need of a block.
type block struct {
	digest [32]byte
	parent [32]byte
	height uint64
	timeMs uint64
	chunks []chunk
}

// chunk is what proofs need of a chunk header.
type chunk struct {
	results []result
	// height is that of the newest execution that was committed to, and state the
	// root after it.
	height uint64
	state  [32]byte
}

// result is what the execution of one height came to.
type result struct {
	height   uint64
	state    [32]byte
	outcomes [32]byte
}

// stateAt is the root of the state after the execution of a height, if the header
// commits to it.
func (c *chunk) stateAt(height uint64) ([32]byte, bool) {
	if c.height == height {
		return c.state, true
	}
	for _, result := range c.results {
		if result.height == height {
			return result.state, true
		}
	}
	return [32]byte{}, false
}

// hash is blake3 over a domain and what follows.
func hash(domain byte, parts ...[]byte) [32]byte {
	hasher := blake3.New(32, nil)
	_, _ = hasher.Write([]byte{domain})
	for _, part := range parts {
		_, _ = hasher.Write(part)
	}
	return [32]byte(hasher.Sum(nil))
}

// block reads a block.
func (l limits) block(r *reader) block {
	begin := r.rest
	r.version(blockVersion)
	r.uvarint() // epoch
	r.uvarint() // view
	r.bytes(32) // leader
	r.uvarint() // view of the parent
	read := block{parent: r.hash(), height: r.uint64(), timeMs: r.uint64()}
	r.bytes(randomnessBytes)
	for shard := range r.length(l.shards, l.shards) {
		read.chunks = append(read.chunks, l.chunk(r, shard))
		if r.err != nil {
			return block{}
		}
	}
	for range r.length(l.shards, l.shards) {
		l.skipEndorsements(r)
	}
	if r.err != nil {
		return block{}
	}
	read.digest = hash(domainBlock, begin[:len(begin)-len(r.rest)])
	return read
}

// chunk reads the header of a shard's chunk.
func (l limits) chunk(r *reader, shard int) chunk {
	if got := r.uint16(); r.err == nil && int(got) != shard {
		r.fail(fmt.Errorf("the header of shard %d is where that of shard %d belongs", got, shard))
	}
	r.bytes(2*8 + 4*32 + 2*4)
	var read chunk
	for range r.length(0, l.lag) {
		result := result{height: r.uint64(), state: r.hash(), outcomes: r.hash()}
		r.bytes(32 + 2*4)
		read.results = append(read.results, result)
	}
	r.bytes(8 * r.length(0, l.lag))
	read.height, read.state = r.uint64(), r.hash()
	r.bytes(restOfTotals)
	r.bytes(signatureBytes)
	return read
}

// skipEndorsements reads the endorsements of one header.
func (l limits) skipEndorsements(r *reader) {
	places := int(r.uint16())
	if places > l.validators {
		r.fail(fmt.Errorf("a committee has %d members, of %d validators", places, l.validators))
		return
	}
	r.bytes(signatureBytes * len(r.places(places)))
}

// places reads a bit for each of so many places, the lowest of the first byte
// first, and is the places whose bits are set.
func (r *reader) places(count int) (set []int) {
	for index, eight := range r.bytes((count + 7) / 8) {
		for ; eight != 0; eight &= eight - 1 {
			place := 8*index + bits.TrailingZeros8(eight)
			if place >= count {
				r.fail(fmt.Errorf("bit %d is set, of %d", place, count))
				return nil
			}
			set = append(set, place)
		}
	}
	return set
}
