// SPDX-License-Identifier: Apache-2.0

package clients_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/clients"
)

// newClients are two and five users, whose loader is a function.
func newClients(launch func(ctx context.Context, number int, step *clients.Step) ([]byte, error)) *clients.Clients {
	return clients.New(clients.Options{
		Load: &v1alpha1.OpenLoopLoad{
			EveryMilliseconds: 1500, Steps: []v1alpha1.OpenLoopStep{{Users: 2}, {Users: 5}},
		},
		WarmUp: time.Second, Duration: 2 * time.Second, Nodes: []string{"http://a:1"}, Accounts: 20_000,
		Launch: launch, Say: func(string) {},
	})
}

// document is what a loader says, all of whose transfers were executed but some.
func document(step *clients.Step, lost uint64) ([]byte, error) {
	offered := uint64(step.Users) * uint64(step.DurationSeconds) * 1000 / uint64(step.EveryMilliseconds)
	return json.Marshal(map[string]any{
		"version": 1, "startedAtMs": step.StartAtMs,
		"totals": map[string]any{"offered": offered, "sent": offered, "executed": offered - lost, "refused": map[string]uint64{"full": lost}},
		"blocks": map[string]any{"firstHeight": 1, "lastHeight": 10 * step.Users},
	})
}

// Each number of users has a loader of its own, with time to begin, and after the one
// before.
func TestStepsOfUsers(t *testing.T) {
	t.Parallel()
	var users []int32
	var c *clients.Clients
	c = newClients(func(_ context.Context, number int, step *clients.Step) ([]byte, error) {
		users = append(users, step.Users)
		state := c.Current()
		if state.Began.UnixMilli() != step.StartAtMs || state.Last != (number == 1) || state.Over() {
			t.Errorf("step %d is told %+v, and known as %+v", number, step, state)
		}
		checkOffered(t, &state, float64(step.Users)/1.5)
		return document(step, 3)
	})
	c.Run(t.Context())
	state := c.Current()
	if !slices.Equal(users, []int32{2, 5}) || !state.Over() || state.Fault != nil || state.LastHeight() != 50 {
		t.Errorf("loaders of %d users ran, and came to %+v", users, state)
	}
	var recorded result.Run
	c.Conclude(&recorded)
	if open := recorded.OpenLoop; recorded.Fault != "" || open.Nodes != 1 || len(open.Steps) != 2 ||
		open.Steps[1].Transfers.Refused["full"] != 3 || open.Steps[1].Window.EndMs-open.Steps[1].Window.BeginMs != 2000 {
		t.Errorf("the users came to %+v, with the fault %q", open, recorded.Fault)
	}
}

// checkOffered checks what users offer for the three seconds of a step.
func checkOffered(t *testing.T, state *clients.State, want float64) {
	t.Helper()
	// Ten seconds, and one for each ten thousand accounts, of which little has passed.
	if lead := time.Until(state.Began); lead < 10*time.Second || lead > 12*time.Second {
		t.Errorf("the loader has %s to begin", lead)
	}
	end := state.Began.Add(3 * time.Second)
	for at, want := range map[time.Time]float64{
		state.Began.Add(-time.Millisecond): 0, state.Began: want, end.Add(-time.Millisecond): want, end: 0,
	} {
		if got := state.Offered(at); got != want {
			t.Errorf("%s after the step began, users offer %f, want %f", at.Sub(state.Began), got, want)
		}
	}
}

// What fails ends the steps, and says of whom.
func TestStepsThatFail(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		launch func(step *clients.Step) ([]byte, error)
		want   string
	}{
		"no loader":     {func(*clients.Step) ([]byte, error) { return nil, errors.New("its container is gone") }, "its container is gone"},
		"no document":   {func(*clients.Step) ([]byte, error) { return []byte("late"), nil }, "decode result of loader: "},
		"wrong version": {func(*clients.Step) ([]byte, error) { return []byte(`{"version": 7}`), nil }, "result of loader has version 7"},
		"wrong counts": {
			func(*clients.Step) ([]byte, error) {
				return []byte(`{"version": 1, "totals": {"offered": 5, "executed": 4}}`), nil
			},
			"of 5 transfers that were offered, the loader knows the end of 4",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ran := 0
			c := newClients(func(_ context.Context, _ int, step *clients.Step) ([]byte, error) {
				ran++
				return test.launch(step)
			})
			c.Run(t.Context())
			state := c.Current()
			if state.Fault == nil || !strings.HasPrefix(state.Fault.Error(), "the loader of 2 users: "+test.want) || state.Over() || ran != 1 {
				t.Errorf("after %d loaders, the fault is %v, want %q", ran, state.Fault, test.want)
			}
		})
	}
}

// Whoever ends a run finds nothing wrong with it.
func TestStepsThatAreEnded(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c := newClients(func(ctx context.Context, _ int, _ *clients.Step) ([]byte, error) {
		cancel()
		<-ctx.Done()
		return nil, ctx.Err()
	})
	c.Run(ctx)
	if state := c.Current(); state.Fault != nil || state.Over() {
		t.Errorf("it came to %+v", state)
	}
}

// What a loader is told is what users do.
func TestArgumentsOfLoaders(t *testing.T) {
	t.Parallel()
	told := &clients.Step{
		Users: 100, EveryMilliseconds: 5000, DurationSeconds: 25, StartAtMs: 1_700_000_000_000, Nodes: []string{"http://a:1", "http://b:2"},
		Workload: chain.Workload{Senders: "Uniform", Receivers: "HotAccount", WithinShardPercent: ptr.To[int32](10)},
	}
	want := strings.Fields("load --genesis g.json --users 100 --every-ms 5000 --duration-seconds 25 --start-at-ms 1700000000000 " +
		"--batch 1 --when-full count --connections 96 --drain-seconds 10 --node http://a:1 --node http://b:2 " +
		"--receivers HotAccount --within-shard-percent 10")
	if got := told.Arguments("g.json"); !slices.Equal(got, want) {
		t.Errorf("it is told %q, want %q", got, want)
	}
	for users, connections := range map[int32]string{20: "20", 1_000_000: "1000"} {
		told.Users, told.Nodes = users, make([]string, 30)
		arguments := told.Arguments("g.json")
		if got := arguments[slices.Index(arguments, "--connections")+1]; got != connections {
			t.Errorf("%d users have %s connections, want %s", users, got, connections)
		}
	}
}
