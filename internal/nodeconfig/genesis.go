// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Genesis is the document that every node of a network starts from.
type Genesis struct {
	Network     string             `json:"network"`
	CreatedAtMs int64              `json:"createdAtMs"`
	Seed        string             `json:"seed"`
	Shards      int                `json:"shards"`
	Accounts    GenesisAccounts    `json:"accounts"`
	Protocol    GenesisProtocol    `json:"protocol"`
	Validators  []GenesisValidator `json:"validators"`
}

// GenesisAccounts says which accounts every node derives from the seed.
type GenesisAccounts struct {
	PerShard       int32 `json:"perShard"`
	InitialBalance int64 `json:"initialBalance"`
}

// GenesisProtocol holds the parameters that validity depends on.
type GenesisProtocol struct {
	ExecutionLag            int32           `json:"executionLag"`
	MinBlockTimeMs          int32           `json:"minBlockTimeMs"`
	ChunkWaitMs             int32           `json:"chunkWaitMs"`
	MaxTransactionsPerChunk int32           `json:"maxTransactionsPerChunk"`
	MandatesPerShard        int32           `json:"mandatesPerShard"`
	EpochLength             int32           `json:"epochLength"`
	CongestionControl       v1alpha1.Switch `json:"congestionControl"`
	TransferFee             int64           `json:"transferFee"`
	LeastBalance            int64           `json:"leastBalance"`
}

// GenesisValidator is one validator of the network.
type GenesisValidator struct {
	Name      string        `json:"name"`
	PublicKey string        `json:"publicKey"`
	Role      topology.Role `json:"role"`
	// Seat is a producer's; nil for a chunk validator.
	*topology.Seat
	Stake int64 `json:"stake"`
}

// stake is that of every validator. Only what part of the sum a validator has
// matters, and the sum is at least the most mandates that a network deals.
const stake = 1_000_000

// genesisSeedDomain keeps the hash of a spec's seed apart from hashes made of
// the same text for another purpose.
const genesisSeedDomain = "shardyard genesis seed"

// NewGenesis makes the genesis document of a network. It needs the public key
// of every validator of the plan, by name; it names no other
// nodes.
func NewGenesis(
	network *v1alpha1.ShardNetwork,
	plan *topology.Plan,
	publicKeys map[string]ed25519.PublicKey,
	createdAt time.Time,
) (*Genesis, error) {
	validators := make([]GenesisValidator, 0, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		if !validator.Role.Validates() {
			continue
		}
		publicKey, err := encodePublicKey(validator.Name, publicKeys)
		if err != nil {
			return nil, err
		}
		validators = append(validators, GenesisValidator{
			Name:      validator.Name,
			PublicKey: publicKey,
			Role:      validator.Role,
			Seat:      validator.Seat,
			Stake:     stake,
		})
	}

	genesis, protocol := network.Spec.Genesis, network.Spec.Protocol
	return &Genesis{
		Network:     plan.Network,
		CreatedAtMs: createdAt.UnixMilli(),
		Seed:        GenesisSeed(genesis.Seed),
		Shards:      plan.Shards,
		Accounts: GenesisAccounts{
			PerShard:       genesis.AccountsPerShard,
			InitialBalance: genesis.InitialBalance,
		},
		Protocol: GenesisProtocol{
			ExecutionLag:            protocol.ExecutionLag,
			MinBlockTimeMs:          protocol.MinBlockTimeMilliseconds,
			ChunkWaitMs:             protocol.ChunkWaitMilliseconds,
			MaxTransactionsPerChunk: protocol.MaxTransactionsPerChunk,
			MandatesPerShard:        protocol.MandatesPerShard,
			EpochLength:             protocol.EpochLengthBlocks,
			CongestionControl:       protocol.CongestionControl,
			TransferFee:             ptr.Deref(protocol.TransferFee, 0),
			LeastBalance:            ptr.Deref(protocol.LeastBalance, 0),
		},
		Validators: validators,
	}, nil
}

// GenesisSeed turns the text of a spec into the 32 bytes that the account keys
// are derived from, in hexadecimal as the genesis document has them.
func GenesisSeed(seed string) string {
	sum := sha256.Sum256([]byte(genesisSeedDomain + seed))
	return hex.EncodeToString(sum[:])
}

func encodePublicKey(validator string, publicKeys map[string]ed25519.PublicKey) (string, error) {
	publicKey, ok := publicKeys[validator]
	if !ok {
		return "", fmt.Errorf("validator %s has no public key", validator)
	}
	if len(publicKey) != ed25519.PublicKeySize {
		return "", fmt.Errorf("public key of validator %s has %d bytes, want %d",
			validator, len(publicKey), ed25519.PublicKeySize)
	}
	return hex.EncodeToString(publicKey), nil
}

// PublicKeys are those that a genesis document names, by validator.
func PublicKeys(document []byte) (map[string]ed25519.PublicKey, error) {
	var genesis Genesis
	if err := json.Unmarshal(document, &genesis); err != nil {
		return nil, err
	}
	publicKeys := make(map[string]ed25519.PublicKey, len(genesis.Validators))
	for _, validator := range genesis.Validators {
		publicKey, err := hex.DecodeString(validator.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("public key of validator %s: %w", validator.Name, err)
		}
		publicKeys[validator.Name] = publicKey
	}
	return publicKeys, nil
}
