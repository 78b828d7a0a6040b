// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"crypto/ed25519"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hdevalence/ed25519consensus"

	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// version is that of the encoding of proofs.
	version = 1
	// mostBlocks is how many blocks there are from the one with the certificate back
	// to the one that a proof is against, at most.
	mostBlocks = 8
	// domainBlock begins what the digest of a block is of.
	domainBlock = 0x22
)

// limits bound what a proof may say.
type limits struct {
	shards     int
	lag        int
	validators int
}

// Verifier checks proofs of one network.
type Verifier struct {
	limits limits
	// voters are the keys of the producers, in the order of their bytes.
	voters []ed25519.PublicKey
	// namespace is what votes to finalise are signed under, with its length.
	namespace   []byte
	genesisHash string
}

// New is a verifier of the network of a genesis document.
func New(document []byte) (*Verifier, error) {
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal(document, &genesis); err != nil {
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	identity, err := hashGenesis(&genesis)
	if err != nil {
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	verifier := &Verifier{
		limits: limits{
			shards: genesis.Shards, lag: int(genesis.Protocol.ExecutionLag), validators: len(genesis.Validators),
		},
		genesisHash: hex.EncodeToString(identity[:]),
	}
	for _, validator := range genesis.Validators {
		if validator.Role != topology.RoleProducer {
			continue
		}
		// The hash has checked that it is one.
		key, _ := hex.DecodeString(validator.PublicKey)
		verifier.voters = append(verifier.voters, key)
	}
	if genesis.Shards < 1 || len(verifier.voters) == 0 {
		return nil, fmt.Errorf("read genesis document: it names %d shards and %d producers", genesis.Shards, len(verifier.voters))
	}
	slices.SortFunc(verifier.voters, func(a, b ed25519.PublicKey) int { return bytes.Compare(a, b) })
	namespace := fmt.Sprintf("%s/%s/consensus_FINALIZE", genesis.Network, verifier.genesisHash)
	verifier.namespace = append(binary.AppendUvarint(nil, uint64(len(namespace))), namespace...)
	return verifier, nil
}

// GenesisHash is the hash of the genesis document, in hexadecimal.
func (v *Verifier) GenesisHash() string {
	return v.genesisHash
}

// certificate is what makes a block final.
type certificate struct {
	// message is what is voted for, and digest the block in it.
	message []byte
	digest  [32]byte
	// voters is how many there are, signers the places of those who voted.
	voters     uint64
	signers    []int
	signatures []byte
}

// certificate reads a certificate.
func (v *Verifier) certificate(r *reader) certificate {
	begin := r.rest
	r.uvarint() // epoch
	r.uvarint() // view
	r.uvarint() // view of the parent
	read := certificate{digest: r.hash()}
	read.message = begin[:len(begin)-len(r.rest)]
	read.voters = r.uint64()
	if r.err == nil && read.voters > uint64(len(v.voters)) {
		r.fail(fmt.Errorf("its certificate is of %d voters, this chain has %d", read.voters, len(v.voters)))
	}
	if r.err != nil {
		return certificate{}
	}
	read.signers = r.places(int(read.voters))
	read.signatures = r.bytes(signatureBytes * r.length(1, len(v.voters)))
	if r.err == nil && len(read.signatures) != signatureBytes*len(read.signers) {
		r.fail(fmt.Errorf("%d voters signed, with %d signatures", len(read.signers), len(read.signatures)/signatureBytes))
	}
	return read
}

// verify checks that the voters voted for what the certificate is of.
func (v *Verifier) verify(of certificate) error {
	if of.voters != uint64(len(v.voters)) {
		return refuse(Voters, "certificate of a chain with %d voters, this one has %d", of.voters, len(v.voters))
	}
	if want := len(v.voters) - (len(v.voters)-1)/3; len(of.signers) < want {
		return refuse(Quorum, "certificate with %d votes, a final block has at least %d", len(of.signers), want)
	}
	message := slices.Concat(v.namespace, of.message)
	for index, place := range of.signers {
		voter := v.voters[place]
		signature := of.signatures[signatureBytes*index:][:signatureBytes]
		// By the rules that the chain has, which are those of ZIP-215.
		if !ed25519consensus.Verify(voter, message, signature) {
			return refuse(Vote, "vote of %x does not hold: of another chain, another block, or forged", []byte(voter))
		}
	}
	return nil
}

// finalized is a block and what shows that it is final.
type finalized struct {
	certificate certificate
	// blocks are those from the one that the certificate is of back to the one that is
	// shown.
	blocks []block
}

func (v *Verifier) finalized(r *reader) finalized {
	read := finalized{certificate: v.certificate(r)}
	for range r.length(1, mostBlocks) {
		read.blocks = append(read.blocks, v.limits.block(r))
	}
	return read
}

// last is the block that is shown, once it is known to be final.
func (v *Verifier) last(of finalized, least uint64) (*block, error) {
	if err := v.verify(of.certificate); err != nil {
		return nil, err
	}
	want := of.certificate.digest
	var last *block
	for index := range of.blocks {
		last = &of.blocks[index]
		if last.digest != want {
			return nil, refuse(Block, "block %x instead of %x, which is final", last.digest, want)
		}
		want = last.parent
	}
	if last == nil {
		return nil, refuse(Malformed, "not a proof: it has no block")
	}
	if last.height < least {
		return nil, refuse(Old, "block %d is too old: the chain has finalised block %d", last.height, least)
	}
	return last, nil
}

// At is where something is proven.
type At struct {
	// BlockHeight, BlockHash and BlockTimeMs are of the finalised block that commits
	// to it; the time is by its leader's clock.
	BlockHeight uint64 `json:"blockHeight"`
	BlockHash   string `json:"blockHash"`
	BlockTimeMs uint64 `json:"blockTimeMs"`
	// Votes are those that made the block, or one after it, final, of Voters.
	Votes  int `json:"votes"`
	Voters int `json:"voters"`
}

func (v *Verifier) at(of finalized, last *block) At {
	return At{
		BlockHeight: last.height,
		BlockHash:   hex.EncodeToString(last.digest[:]),
		BlockTimeMs: last.timeMs,
		Votes:       len(of.certificate.signers),
		Voters:      len(v.voters),
	}
}
