// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"slices"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/test/waiting"
)

// With an execution lag of 2, headers commit to what was executed two blocks before.
// What a command line waits for and verifies comes as much later, and the states of all
// producers are compared as they are with a lag of 1.
func TestExecutionLag(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	manifest := edited(t, func(spec map[string]any) {
		delete(spec, "load")
		protocol := spec["protocol"].(map[string]any)
		protocol["executionLag"], protocol["maxTransactionsPerChunk"] = 2, 8295
	})
	network := up(t, stateDir, "-f", manifest, "--trace-basis-points", "10000")
	network.says(t, "genesis hash ")
	here := []string{"--state-dir", stateDir, "--network", "small"}

	_, own := newAccount(t)
	sent := network.transfer(t, here, "--from", "genesis/0", "--to", own, "--amount", "1000")
	payer := network.account(t, here, sent.From)
	if payer.Verified == nil || payer.Verified.BlockHeight < payer.Height+2 {
		t.Errorf("the account at height %d is verified by %+v, want a block two above", payer.Height, payer.Verified)
	}
	client := chain.NewClient(network.rpcNode(t).HTTP, chain.Admin{})
	var block *chain.Block
	waiting.Until(t, "the block that commits to the transfer", func() bool {
		var err error
		block, err = client.Block(t.Context(), sent.Height+2)
		return err == nil
	})
	for _, chunk := range block.Chunks {
		if chunk.Height != block.Height {
			continue
		}
		if count := len(chunk.Results); count == 0 || chunk.Results[count-1].Height != sent.Height {
			t.Errorf("the header of shard %d at height %d commits to %+v, want height %d last",
				chunk.Shard, chunk.Height, chunk.Results, sent.Height)
		}
	}

	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved || summary.Height < block.Height {
		t.Errorf("the run ends with %+v after block %d", summary, block.Height)
	}
	checkExecutions(t, stateDir, 2)
}

// checkExecutions checks that the spans of executions name the chunk that is so many
// blocks before the one that commits to it.
func checkExecutions(t *testing.T, stateDir string, lag uint64) {
	t.Helper()
	spans, err := local.ReadSpans(stateDir, "small")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, span := range spans {
		executes := slices.Contains([]string{"gather", "execute", "record"}, span.Name)
		if executes {
			named++
		}
		if executes && span.Executed+lag != span.Height || !executes && span.Executed != 0 {
			t.Fatalf("a span is %+v, with an execution lag of %d", span, lag)
		}
	}
	if named == 0 {
		t.Errorf("of %d spans, none is of an execution", len(spans))
	}
}
