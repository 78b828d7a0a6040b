// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/waiting"
)

// A network carries its load, survives the kill of a validator and the loss of
// its disk, stops on Ctrl-C without leaving a process, and goes on when it is
// started again.
func TestLifecycle(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir)
	network.says(t, "load: 400 transfers per second")
	chain := watch(t, network)
	chain.awaitTransfers(t)
	chain.awaitEndorsements(t)
	chain.killAndRecover(t)
	chain.loseDisk(t)

	validators := network.validators(t)
	network.signal(t, os.Interrupt)
	first := network.summary(t)
	checkStopped(t, network, validators)
	if first.Shards != 2 || first.Validators != 5 || first.RPCNodes != 1 {
		t.Errorf("the summary is %+v", first)
	}
	if !first.SupplyConserved || first.TPS <= 0 || first.BlockTimeMs <= 0 {
		t.Errorf("the summary is %+v", first)
	}
	if first.CrossShard == 0 || first.CrossShard >= first.Executed || first.CPUMicrosecondsPerTransfer == nil {
		t.Errorf("the summary is %+v", first)
	}

	again := up(t, stateDir, "--trace-basis-points", "10000")
	again.goesOn(t)
	checkExemplars(t, again)
	again.signal(t, os.Interrupt)
	second := again.summary(t)
	checkTraces(t, stateDir, first.Height, second.Height)
	if second.Height <= first.Height || second.GenesisHash != first.GenesisHash || len(second.GenesisHash) != 64 {
		t.Errorf("the chain goes on from\n%+v\nwith\n%+v", first, second)
	}
	if second.Executed == 0 || !second.SupplyConserved {
		t.Errorf("the summary is %+v", second)
	}
}

// checkStopped checks that a network that ran has left nothing that runs.
func checkStopped(t *testing.T, network *command, validators []validatorProcess) {
	t.Helper()
	for _, validator := range validators {
		if !gone(validator.PID) {
			t.Errorf("process %d of %s is left", validator.PID, validator.Name)
		}
	}
	if _, err := os.Stat(network.runtimeFile()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s is left (%v)", network.runtimeFile(), err)
	}
}

// When the command line itself is killed, no validator outlives it, and the
// network can be started again.
func TestKilledRunner(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir)
	network.says(t, "genesis hash ")
	validators := network.validators(t)
	network.signal(t, syscall.SIGKILL)
	for _, validator := range validators {
		waiting.Until(t, validator.Name+" ends", func() bool { return gone(validator.PID) })
	}

	again := up(t, stateDir)
	again.goesOn(t)
	again.signal(t, os.Interrupt)
	summary := again.summary(t)
	if summary.Height == 0 || summary.Executed == 0 || !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}

// observer asks the validators of a network and checks that they agree.
type observer struct {
	network    *command
	validators []validatorProcess
	clients    []*chain.Client
	audit      *bench.Audit
	follower   *bench.Follower
}

func watch(t *testing.T, network *command) *observer {
	t.Helper()
	audit := bench.NewAudit()
	observer := &observer{network: network, validators: network.validators(t), audit: audit, follower: audit.Follow(1)}
	for _, validator := range observer.validators {
		client := chain.NewClient(validator.HTTP, chain.Admin{})
		t.Cleanup(client.Close)
		observer.clients = append(observer.clients, client)
	}
	return observer
}

// goesOn waits until the run has begun and the chain has executed transfers in
// ten blocks since.
func (c *command) goesOn(t *testing.T) {
	t.Helper()
	c.says(t, "genesis hash ")
	var first *chain.Status
	watch(t, c).eventually(t, "the chain executes transfers", func(statuses []*chain.Status) bool {
		status := statuses[0]
		if first == nil || status == nil {
			first = status
			return false
		}
		return status.FinalizedHeight >= first.FinalizedHeight+10 && status.Transfers > first.Transfers
	})
}

// ask returns what the validators tell; nil for those that do not answer.
func (o *observer) ask(t *testing.T) []*chain.Status {
	t.Helper()
	statuses := make([]*chain.Status, len(o.clients))
	for i, client := range o.clients {
		status, err := client.Status(t.Context())
		if err != nil {
			continue
		}
		if err := o.audit.Observe(status); err != nil {
			t.Fatal(err)
		}
		if err := o.follower.To(t.Context(), client, status); errors.As(err, new(*bench.DivergenceError)) {
			t.Fatal(err)
		}
		statuses[i] = status
	}
	return statuses
}

// eventually waits for a condition on what the validators tell; nil of those
// that do not answer. It goes by the chain's own time: on a machine that is busy
// with other tests, a chain is slow, and only one that stands still, or has gone
// far without, will not get there.
func (o *observer) eventually(t *testing.T, what string, condition func(statuses []*chain.Status) bool) {
	t.Helper()
	const enough = 1000
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	var first, best uint64
	moved := time.Now()
	for {
		statuses := o.ask(t)
		if condition(statuses) {
			return
		}
		for _, status := range statuses {
			if status != nil && status.FinalizedHeight > best {
				best, moved = status.FinalizedHeight, time.Now()
			}
		}
		if first == 0 {
			first = best
		}
		if time.Since(moved) > waiting.Patience || best > first+enough {
			t.Fatalf("waited in vain until %s: from height %d to %d, and then for %s", what, first, best,
				time.Since(moved).Round(time.Second))
		}
		<-ticker.C
	}
}

// awaitTransfers waits until every shard has executed transfers to the other.
func (o *observer) awaitTransfers(t *testing.T) {
	t.Helper()
	o.eventually(t, "transfers cross shards in both directions", func(statuses []*chain.Status) bool {
		status := statuses[0]
		if status == nil || len(status.Shards) != 2 {
			return false
		}
		return status.Shards[0].CrossShard > 0 && status.Shards[1].CrossShard > 0 &&
			status.Shards[0].Received.Sign() > 0 && status.Shards[1].Received.Sign() > 0
	})
}

// awaitEndorsements waits until the last chunk of every shard has the
// endorsements that it needs, as a chunk validator tells, which tracks none.
func (o *observer) awaitEndorsements(t *testing.T) {
	t.Helper()
	o.eventually(t, "the chunk validator knows of endorsements", func(statuses []*chain.Status) bool {
		status := statuses[4]
		if status == nil {
			return false
		}
		if status.Role != string(topology.RoleChunkValidator) || status.Tracked != nil || status.Load != nil {
			t.Fatalf("%s says %+v, want a chunk validator without a shard or a load", status.Node, status)
		}
		return !slices.ContainsFunc(status.Shards, func(shard chain.ShardStatus) bool {
			return shard.MandatedStake == 0 || 3*shard.EndorsedStake <= 2*shard.MandatedStake
		})
	})
}

// killAndRecover kills a validator. The others go on, and it comes back to the
// state roots that the chain commits to.
func (o *observer) killAndRecover(t *testing.T) {
	t.Helper()
	const victim, other = 3, 0
	var height uint64
	if status := o.ask(t)[other]; status != nil {
		height = status.FinalizedHeight
	}
	if err := syscall.Kill(o.validators[victim].PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	o.eventually(t, "the others go on", func(statuses []*chain.Status) bool {
		status := statuses[other]
		return status != nil && status.FinalizedHeight >= height+10
	})

	name := o.validators[victim].Name
	o.network.says(t, "validator "+name+" ended (signal: killed)")
	o.eventually(t, name+" is ready again", func([]*chain.Status) bool {
		return strings.Contains(o.network.stderr.String(), "validator "+name+" is ready again")
	})
	recovered := o.validators[victim]
	for _, validator := range o.network.validators(t) {
		if validator.Name == name {
			recovered = validator
		}
	}
	if recovered.PID == o.validators[victim].PID || recovered.HTTP != o.validators[victim].HTTP {
		t.Errorf("%+v came back as %+v", o.validators[victim], recovered)
	}
	o.eventually(t, "a header confirms the state of "+name, func([]*chain.Status) bool {
		return o.audit.Confirmed(name) >= height+10
	})
}
