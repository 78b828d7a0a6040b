// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"math/rand/v2"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/waiting"
)

// TestKills kills validators at random moments under load, and waits each time
// until a header of the chain confirms the state that the victim came back
// with. KILLS says how often, KILL_SEED repeats a run's choices.
func TestKills(t *testing.T) {
	t.Parallel()
	kills, seed := number(t, "KILLS", 3), number(t, "KILL_SEED", time.Now().UnixNano())
	t.Logf("KILLS=%d KILL_SEED=%d", kills, seed)
	random := rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // chooses victims
	network := up(t, t.TempDir())
	network.says(t, "load: 400 transfers per second")
	chain := watch(t, network)
	chain.awaitTransfers(t)
	for range kills {
		moment := time.NewTimer(time.Duration(random.Int64N(int64(time.Second))))
		<-moment.C
		chain.kill(t, random.IntN(len(chain.validators)))
	}

	network.signal(t, os.Interrupt)
	summary := network.summary(t)
	if !summary.SupplyConserved || summary.Executed == 0 {
		t.Errorf("the summary is %+v", summary)
	}
}

// kill kills a validator and waits until a header confirms a state that it
// executed after it came back, and all validators know of later blocks.
func (o *observer) kill(t *testing.T, victim int) {
	t.Helper()
	o.killAt(t, o.highest(t), victim)
}

// highest is the height of the last block that any validator tells of.
func (o *observer) highest(t *testing.T) uint64 {
	t.Helper()
	var height uint64
	for _, status := range o.ask(t) {
		if status != nil {
			height = max(height, status.FinalizedHeight)
		}
	}
	return height
}

// killAt is kill for a chain that has come to a height.
func (o *observer) killAt(t *testing.T, height uint64, victim int) {
	t.Helper()
	before := o.validators[victim]
	if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, before.Name+" runs again", func() bool {
		for _, validator := range o.network.validators(t) {
			// 0 until its next process is there; a kill of 0 would be one of this test.
			if validator.Name == before.Name && validator.PID != 0 && validator.PID != before.PID {
				o.validators[victim] = validator
				return true
			}
		}
		return false
	})
	o.eventually(t, "a header confirms the state of "+before.Name+", and the others go on", func(statuses []*chain.Status) bool {
		for i, status := range statuses {
			if status == nil || status.FinalizedHeight <= height+2 {
				return false
			}
			// A chunk validator has no state, and only follows.
			if i == victim && status.Tracked != nil && o.audit.Confirmed(before.Name) <= height+2 {
				return false
			}
		}
		return true
	})
}

func number(t *testing.T, variable string, otherwise int64) int64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return value
}
