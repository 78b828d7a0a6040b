// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/artifact"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// A network that runs is measured under another load than its own, twice, and goes on
// with its own: the chain loses nothing.
func TestBenchRunOfANetworkThatRuns(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir)
	network.says(t, "genesis hash ")
	watch(t, network).awaitTransfers(t)
	folder := filepath.Join(t.TempDir(), "running")
	began := time.Now()
	stdout, code := shardyard(t, "bench", "run", "-f", "testdata/running.yaml", "-o", "json",
		"--artifact", folder, "--state-dir", stateDir)
	if code != 0 {
		t.Fatalf("exits with %d and prints\n%s", code, stdout)
	}
	made, err := artifact.Read(t.Context(), folder)
	if err != nil {
		t.Fatal(err)
	}
	checkRunningNetwork(t, made, began)
	network.says(t, "the validators have their own load again")
	watch(t, network).eventually(t, "the producers sign the network's own load", func(statuses []*chain.Status) bool {
		return signed(statuses) == 400
	})
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// signed is what all producers sign together.
func signed(statuses []*chain.Status) (rate int64) {
	for _, status := range statuses {
		if status != nil && status.Load != nil {
			rate += status.Load.TransfersPerSecond
		}
	}
	return rate
}

// checkRunningNetwork checks that both runs are of one network that was there before.
func checkRunningNetwork(t *testing.T, made *result.Result, began time.Time) {
	t.Helper()
	measured := made.Environment.Network
	if measured == nil || measured.Name != "small" || measured.Height == 0 || measured.CreatedAt.After(began) {
		t.Errorf("the result is of the network %+v", measured)
	}
	if len(made.Runs) != 2 || made.Runs[1].BeganHeight <= made.Runs[0].BeganHeight ||
		made.Runs[0].GenesisHash != made.Runs[1].GenesisHash {
		t.Errorf("the runs are of %d chains", len(made.Runs))
	}
	if made.Variants[0].Shardnode.Version == "" || made.Variants[0].Network.Shards != 2 {
		t.Errorf("what was measured is %+v", made.Variants[0])
	}
}
