// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

// domainGenesis begins what the hash of a genesis document is of.
const domainGenesis = 0x23

// hashGenesis identifies the network of a genesis document, as every node computes
// it: a hash of a canonical encoding of every field.
func hashGenesis(g *nodeconfig.Genesis) ([32]byte, error) {
	seed, err := keyBytes(g.Seed)
	if err != nil {
		return [32]byte{}, fmt.Errorf("seed: %w", err)
	}
	content := appendText(nil, g.Network)
	content = binary.BigEndian.AppendUint64(content, uint64(g.CreatedAtMs))
	content = append(content, seed...)
	content = binary.BigEndian.AppendUint16(content, uint16(g.Shards))
	content = binary.BigEndian.AppendUint32(content, uint32(g.Accounts.PerShard))
	content = binary.BigEndian.AppendUint64(content, uint64(g.Accounts.InitialBalance))
	content = appendProtocol(content, &g.Protocol)
	if content, err = appendValidators(content, g.Validators); err != nil {
		return [32]byte{}, err
	}
	return hash(domainGenesis, content), nil
}

func appendProtocol(content []byte, p *nodeconfig.GenesisProtocol) []byte {
	content = append(content, byte(p.ExecutionLag))
	content = binary.BigEndian.AppendUint64(content, uint64(p.MinBlockTimeMs))
	content = binary.BigEndian.AppendUint64(content, uint64(p.ChunkWaitMs))
	content = binary.BigEndian.AppendUint32(content, uint32(p.MaxTransactionsPerChunk))
	content = binary.BigEndian.AppendUint32(content, uint32(p.MandatesPerShard))
	content = binary.BigEndian.AppendUint64(content, uint64(p.EpochLength))
	var congestionControl byte
	if p.CongestionControl == v1alpha1.SwitchEnabled {
		congestionControl = 1
	}
	content = append(content, congestionControl)
	content = binary.BigEndian.AppendUint64(content, uint64(p.TransferFee))
	return binary.BigEndian.AppendUint64(content, uint64(p.LeastBalance))
}

// appendValidators ends with the producers, by shard and slot, and the chunk
// validators, by key.
func appendValidators(content []byte, validators []nodeconfig.GenesisValidator) ([]byte, error) {
	type member struct {
		*nodeconfig.GenesisValidator
		key []byte
	}
	var producers, others []member
	for index := range validators {
		validator := &validators[index]
		key, err := keyBytes(validator.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("validators[%d].publicKey: %w", index, err)
		}
		switch {
		case validator.Role != topology.RoleProducer:
			others = append(others, member{validator, key})
		case validator.Seat == nil:
			return nil, fmt.Errorf("validators[%d].shard: must be given for a producer", index)
		default:
			producers = append(producers, member{validator, key})
		}
	}
	slices.SortFunc(producers, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.Shard, b.Shard), cmp.Compare(a.Slot, b.Slot))
	})
	slices.SortFunc(others, func(a, b member) int { return bytes.Compare(a.key, b.key) })
	content = binary.BigEndian.AppendUint32(content, uint32(len(producers)))
	for _, producer := range producers {
		content = append(appendText(content, producer.Name), producer.key...)
		content = binary.BigEndian.AppendUint16(content, uint16(producer.Shard))
		content = binary.BigEndian.AppendUint16(content, uint16(producer.Slot))
		content = binary.BigEndian.AppendUint64(content, uint64(producer.Stake))
	}
	content = binary.BigEndian.AppendUint32(content, uint32(len(others)))
	for _, other := range others {
		content = append(appendText(content, other.Name), other.key...)
		content = binary.BigEndian.AppendUint64(content, uint64(other.Stake))
	}
	return content, nil
}

func appendText(content []byte, text string) []byte {
	return append(binary.BigEndian.AppendUint32(content, uint32(len(text))), text...)
}

// keyBytes are the 32 bytes of a key or a seed.
func keyBytes(text string) ([]byte, error) {
	content, err := hex.DecodeString(text)
	if err != nil || len(content) != 32 {
		return nil, errors.New("must be 64 hex digits")
	}
	return content, nil
}
