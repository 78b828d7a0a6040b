// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"slices"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

const otherValidators = "spec.shards, spec.producersPerShard or spec.chunkValidators is another"

func TestGenesisDifference(t *testing.T) {
	t.Parallel()
	wanted := &nodeconfig.Genesis{
		Network:  "net",
		Seed:     "5eed",
		Shards:   1,
		Accounts: nodeconfig.GenesisAccounts{PerShard: 10, InitialBalance: 100},
		Protocol: nodeconfig.GenesisProtocol{ExecutionLag: 1, MinBlockTimeMs: 250, MaxTransactionsPerChunk: 1000},
		Validators: []nodeconfig.GenesisValidator{
			{Name: "net-s0-p0", PublicKey: "aa", Seat: &topology.Seat{}},
			{Name: "net-s0-p1", PublicKey: "bb", Seat: &topology.Seat{Slot: 1}},
			{Name: "net-v0", PublicKey: "cc"},
		},
	}
	cases := map[string]struct {
		change func(*nodeconfig.Genesis)
		want   string
	}{
		"none":     {func(*nodeconfig.Genesis) {}, ""},
		"created":  {func(genesis *nodeconfig.Genesis) { genesis.CreatedAtMs = 7 }, ""},
		"network":  {func(genesis *nodeconfig.Genesis) { genesis.Network = "other" }, "it is of network other"},
		"seed":     {func(genesis *nodeconfig.Genesis) { genesis.Seed = "other" }, "spec.genesis.seed is another"},
		"accounts": {func(genesis *nodeconfig.Genesis) { genesis.Accounts.PerShard++ }, "spec.genesis has other accounts or balances"},
		"balance":  {func(genesis *nodeconfig.Genesis) { genesis.Accounts.InitialBalance++ }, "spec.genesis has other accounts or balances"},
		"protocol": {func(genesis *nodeconfig.Genesis) { genesis.Protocol.MinBlockTimeMs++ }, "spec.protocol is another"},
		"lag":      {func(genesis *nodeconfig.Genesis) { genesis.Protocol.ExecutionLag++ }, "spec.protocol is another"},
		"mandates": {func(genesis *nodeconfig.Genesis) { genesis.Protocol.MandatesPerShard++ }, "spec.protocol is another"},
		"congestion control": {
			func(genesis *nodeconfig.Genesis) { genesis.Protocol.CongestionControl = v1alpha1.SwitchDisabled },
			"spec.protocol is another",
		},
		"shards": {func(genesis *nodeconfig.Genesis) { genesis.Shards++ }, otherValidators},
		"one producer": {
			func(genesis *nodeconfig.Genesis) { genesis.Validators = genesis.Validators[:1] },
			otherValidators,
		},
		"another slot": {
			func(genesis *nodeconfig.Genesis) { genesis.Validators[1].Seat = &topology.Seat{Slot: 2} },
			otherValidators,
		},
		"a producer in place of the chunk validator": {
			func(genesis *nodeconfig.Genesis) { genesis.Validators[2].Seat = &topology.Seat{Slot: 2} },
			otherValidators,
		},
		"key": {
			func(genesis *nodeconfig.Genesis) { genesis.Validators[1].PublicKey = "dd" },
			"it names another key for net-s0-p1 than the Secret net-s0-p1-key holds",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			genesis := *wanted
			genesis.Validators = slices.Clone(wanted.Validators)
			test.change(&genesis)
			if got := genesisDifference(&genesis, wanted); got != test.want {
				t.Errorf("the difference is %q, want %q", got, test.want)
			}
		})
	}
}
