// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/test/waiting"
)

// A node that is told to hangs, stays away, or has the program beside it take its place,
// which connects to others and says nothing. It is back by itself, as the same process
// with the data that it had, and what it had lent is gone.
func TestFaultsOfItsOwnProcess(t *testing.T) {
	t.Parallel()
	network := up(t, t.TempDir())
	network.says(t, "genesis hash ")
	observer := watch(t, network)
	observer.awaitTransfers(t)
	const victim = 1
	before := observer.validators[victim]
	admin := network.admin(t, before.Name)
	lent := filepath.Join(network.stateDir, "small", "nodes", before.Name, nodeconfig.DefaultFiles.Data+".aside.json")
	const duration = 15 * time.Second
	for _, fault := range []chain.ProcessFault{
		{Condition: chain.ProcessPaused},
		{Condition: chain.ProcessGone},
		{Condition: chain.ProcessReplaced, Program: "shardnode-hostile-peer", Arguments: []string{"silence", "1"}},
	} {
		fault.DurationMilliseconds = duration.Milliseconds()
		begun := time.Now()
		if err := admin.BeginProcessFault(t.Context(), &fault); err != nil {
			t.Fatal(err)
		}
		waiting.Until(t, string(fault.Condition)+" begins", func() bool {
			// One that is paused answers when it goes on.
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, silent := observer.clients[victim].Status(ctx)
			_, err := os.Stat(lent)
			return silent != nil && (err == nil) == (fault.Condition == chain.ProcessReplaced)
		})
		observer.eventually(t, string(fault.Condition)+" ends", func(statuses []*chain.Status) bool {
			return statuses[victim] != nil && statuses[0] != nil &&
				statuses[victim].FinalizedHeight+3 > statuses[0].FinalizedHeight
		})
		if took := time.Since(begun); took < duration {
			t.Errorf("%s: it is back after %s", fault.Condition, took)
		}
		if _, err := os.Stat(lent); err == nil {
			t.Errorf("%s: %s is left", fault.Condition, lent)
		}
		if after := network.validators(t)[victim]; after.PID != before.PID {
			t.Errorf("%s: the process is %d, and was %d", fault.Condition, after.PID, before.PID)
		}
	}
	err := admin.BeginProcessFault(t.Context(), &chain.ProcessFault{
		Condition: chain.ProcessReplaced, Program: "shardnode-missing", DurationMilliseconds: 1,
	})
	if err == nil {
		t.Error("it takes a program for there that is not")
	}
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}
