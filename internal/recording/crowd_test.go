// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/topology"
)

// users are those of a run, and their loader.
type users struct {
	chain *fakeChain
	// unready is why there is no loader, and fails what one that runs says.
	unready, fails func() error
	// invents has the loader be told of transfers that no block of its time executed.
	invents bool
	// drains is how long after its last transfer it waits for what becomes of them.
	drains time.Duration
	ran    atomic.Int32
}

// launch says of the users of a step what a loader would: blocks execute what they can
// of it, and pools refuse the rest.
func (u *users) launch(ctx context.Context, _ int, step *clients.Step) ([]byte, error) {
	u.ran.Add(1)
	if u.fails != nil {
		return nil, u.fails()
	}
	first := u.chain.height(time.Now())
	last := func() uint64 {
		if u.invents {
			return first
		}
		return u.chain.height(time.Now())
	}
	timer := time.NewTimer(time.Until(time.UnixMilli(step.StartAtMs).Add(time.Duration(step.DurationSeconds)*time.Second + u.drains)))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	}
	perSecond := uint64(step.Users) * 1000 / uint64(step.EveryMilliseconds)
	counted := func(seconds uint64) map[string]any {
		executed := min(perSecond, transfersPerBlock*uint64(time.Second/blockTime)) * seconds
		return map[string]any{
			"offered": perSecond * seconds, "sent": perSecond * seconds, "accepted": executed,
			"executed": executed, "refused": map[string]uint64{"full": perSecond*seconds - executed},
		}
	}
	seconds := make([]map[string]any, step.DurationSeconds)
	for i := range seconds {
		seconds[i] = counted(1)
	}
	return json.Marshal(map[string]any{
		"version": 1, "startedAtMs": step.StartAtMs, "totals": counted(uint64(step.DurationSeconds)), "seconds": seconds,
		"blocks": map[string]any{"firstHeight": first, "lastHeight": last()},
	})
}

// record records the chain under two numbers of users: 100, who send less than it
// carries, and 400, who send twice that.
func (u *users) record(ctx context.Context, t *testing.T, patience time.Duration) (*result.Run, error) {
	t.Helper()
	u.chain.created = time.Now().Add(-10 * time.Second)
	addresses := map[string]string{}
	var validators []topology.Validator
	for node := range 2 {
		name := fmt.Sprintf("node-%d", node)
		addresses[name] = u.chain.serve(t, node)
		validators = append(validators, topology.Validator{Name: name, Role: topology.RoleProducer, Seat: &topology.Seat{Slot: node}})
	}
	options := &recording.Options{
		Validators: validators, Address: func(validator string) string { return addresses[validator] },
		WarmUp: time.Second, Duration: 2 * time.Second, Patience: patience, Log: slog.New(slog.DiscardHandler),
	}
	options.Users = &recording.Users{
		Clients: clients.New(clients.Options{
			Load: &v1alpha1.OpenLoopLoad{
				EveryMilliseconds: 1000, Steps: []v1alpha1.OpenLoopStep{{Users: 100}, {Users: 400}},
			},
			WarmUp: options.WarmUp, Duration: options.Duration, Nodes: []string{"http://rpc"}, Accounts: 1000, Lead: time.Second,
			Launch: u.launch, Say: func(string) {},
		}),
		Ready: func(context.Context) error {
			if u.unready != nil {
				return u.unready()
			}
			return nil
		},
	}
	return recording.Record(ctx, options)
}

// What users saw is in the record, beside what blocks say of it, and the measurement is
// that of the last step.
func TestRecordOfUsers(t *testing.T) {
	t.Parallel()
	// A loader that starts after the recorder is waited for.
	asked := atomic.Int32{}
	u := &users{chain: &fakeChain{}, drains: 2500 * time.Millisecond, unready: func() error {
		if asked.Add(1) == 1 {
			return errors.New("no such file")
		}
		return nil
	}}
	run, err := u.record(t.Context(), t, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" || run.OpenLoop == nil || len(run.OpenLoop.Steps) != 2 || run.OpenLoop.KneeUsers != 100 {
		t.Fatalf("the users came to %+v, with the fault %q", run.OpenLoop, run.Fault)
	}
	if run.BeganHeight == 0 || len(run.MeasuredBlocks()) < 38 {
		t.Errorf("the run began at %d, and %d blocks are measured", run.BeganHeight, len(run.MeasuredBlocks()))
	}
	checkLastStep(t, run)
}

// checkLastStep checks that the measurement is of the last step.
func checkLastStep(t *testing.T, run *result.Run) {
	t.Helper()
	last := &run.OpenLoop.Steps[1]
	if run.Window != last.Window || run.Window.EndMs-run.Window.BeginMs != 2000 {
		t.Errorf("the measurement is %+v, want that of the last step, %+v", run.Window, last.Window)
	}
	if last.Transfers.Offered != 1200 || last.Transfers.Executed != 600 || last.Transfers.Refused["full"] != 600 {
		t.Errorf("the last step is %+v", last.Transfers)
	}
	if last.ExecutedPerSecond == nil || *last.ExecutedPerSecond < 190 || *last.ExecutedPerSecond > 210 ||
		last.ExecutedInBlocks == nil || *last.ExecutedInBlocks < 600 {
		t.Errorf("blocks say %v of it, and %v", last.ExecutedPerSecond, last.ExecutedInBlocks)
	}
	checkOfferedByUsers(t, run.Samples, last)
}

// checkOfferedByUsers wants samples to say what the users of a step offer, and nothing
// of generators.
func checkOfferedByUsers(t *testing.T, samples []result.Sample, step *result.OpenLoopStep) {
	t.Helper()
	for _, sample := range samples {
		within := sample.TimeMs >= step.BeganMs && sample.TimeMs < step.EndedMs
		if sample.Signed != nil || within && sample.OfferedPerSecond != int64(step.Users) {
			t.Errorf("a sample is %+v, want what %d users offer", sample, step.Users)
		}
	}
}

// What breaks a run of users is in its record, and no loader goes on.
func TestUsersOfRunsThatDoNotCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		users *users
		wrong func(c *fakeChain, node int, status *chain.Status)
		want  string
		// loaders are how many run.
		loaders int32
	}{
		"the loader ends": {
			users: &users{fails: func() error { return errors.New("its container gave no answer: EOF") }},
			want:  "the loader of 100 users: its container gave no answer: EOF", loaders: 1,
		},
		"the loader says what no block does": {
			users: &users{invents: true},
			want: "the loader of 100 users was told that 300 of their transfers are executed, " +
				"and the blocks of that time hold 0",
			loaders: 2,
		},
		"a validator starts again": {
			users: &users{},
			wrong: func(c *fakeChain, node int, status *chain.Status) {
				if node == 1 && c.asked.Load() > 4 {
					status.CPUSeconds = 0.1
				}
			},
			want: "validator node-1 ended in the middle and was started again", loaders: 1,
		},
		"a producer signs": {
			users: &users{},
			wrong: func(c *fakeChain, node int, status *chain.Status) {
				if node == 1 && c.asked.Load() > 4 {
					status.Load.TransfersPerSecond = 7
				}
			},
			want: "the producers sign 7 transfers per second, and the users alone should send any", loaders: 1,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test.users.chain = &fakeChain{}
			if test.wrong != nil {
				test.users.chain.wrong = func(node int, status *chain.Status) { test.wrong(test.users.chain, node, status) }
			}
			run, err := test.users.record(t.Context(), t, time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(run.Fault, test.want) || test.users.ran.Load() != test.loaders {
				t.Errorf("after %d loaders, the fault is %q, want %q", test.users.ran.Load(), run.Fault, test.want)
			}
		})
	}
}

// Where nobody can begin, there is no record, and the error says why.
func TestUsersWhoDoNotBegin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		given func(u *users)
		want  string
	}{
		"no loader": {
			func(u *users) { u.unready = func() error { return errors.New("find the node program: no such file") } },
			"no user could send anything within 1s: the loader is not ready: find the node program: no such file",
		},
		"producers sign": {func(u *users) { u.chain.rate.Store(5) }, "the producers sign 10 transfers per second"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			u := &users{chain: &fakeChain{}}
			test.given(u)
			run, err := u.record(t.Context(), t, time.Second)
			if run != nil || err == nil || !strings.Contains(err.Error(), test.want) || u.ran.Load() != 0 {
				t.Errorf("the run is %+v and the error %v, want %q", run, err, test.want)
			}
		})
	}
}

// Whoever interrupts a recorder ends its loader.
func TestInterruptedUsers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	u := &users{chain: &fakeChain{}}
	go func() {
		defer cancel()
		u.chain.awaitAsked(t, 6)
	}()
	run, err := u.record(ctx, t, time.Minute)
	if run != nil || err == nil || !strings.Contains(err.Error(), "interrupted") || u.ran.Load() != 1 {
		t.Errorf("the run is %+v and the error %v, want that it was interrupted", run, err)
	}
}
