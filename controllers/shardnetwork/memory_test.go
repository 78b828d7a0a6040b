// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/internal/chain"
)

// Events come in bursts, and what fails mostly fails again.
func TestTooSoon(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		failures   int
		since      time.Duration
		generation int64
		want       time.Duration
	}{
		"right after":                {0, 0, 1, 500 * time.Millisecond},
		"a little after":             {0, 200 * time.Millisecond, 1, 300 * time.Millisecond},
		"long after":                 {0, time.Second, 1, 0},
		"another spec":               {5, 0, 2, 0},
		"after a failure":            {1, 200 * time.Millisecond, 1, 800 * time.Millisecond},
		"after failures":             {4, 0, 1, 8 * time.Second},
		"after many":                 {1000, 0, 1, 30 * time.Second},
		"after many, and long after": {1000, time.Minute, 1, 0},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			memory := &memory{lastRun: now.Add(-test.since), lastGeneration: 1}
			for range test.failures {
				memory.done(errors.New("refused"))
			}
			if got := memory.tooSoon(now, test.generation); got != test.want {
				t.Errorf("the wait is %s, want %s", got, test.want)
			}
			memory.done(nil)
			if memory.failures != 0 {
				t.Errorf("%d failures are remembered after a success", memory.failures)
			}
		})
	}
}

// A cache lags for a moment. What is behind for longer, or no number, counts.
func TestAhead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	cases := map[string]struct {
		written, read string
		since         time.Duration
		want          bool
	}{
		"never written":        {"", "12", 0, false},
		"before":               {"1000", "999", time.Second, true},
		"the same":             {"1000", "1000", 0, false},
		"after":                {"999", "1000", 0, false},
		"before, and for long": {"1000", "999", maxCacheLag, false},
		"no number":            {"1000", "9-a", 0, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var memory memory
			if test.written != "" {
				memory.wrote(test.written, now.Add(-test.since))
			}
			if got := memory.ahead(test.read, now); got != test.want {
				t.Errorf("that it is ahead is %t, want %t", got, test.want)
			}
		})
	}
}

// A network that is made again has other nodes: those of before are not asked any more.
func TestMemoryOfAnotherNetworkOfTheName(t *testing.T) {
	t.Parallel()
	var memories memories
	name := types.NamespacedName{Namespace: "default", Name: "quickstart"}
	before := memories.of(name, "before")
	before.nodes[nodeKey{ip: "192.0.2.1"}] = chain.NewClient("192.0.2.1:8080", chain.Admin{})
	if memories.of(name, "before") != before {
		t.Error("what is known of a network is forgotten")
	}
	if after := memories.of(name, "after"); after == before || len(after.nodes) != 0 || len(before.nodes) != 0 {
		t.Errorf("there are %d clients of nodes of a network that is gone, and %d of the new one's", len(before.nodes), len(after.nodes))
	}
}

// Only a network that is known to be gone is forgotten.
func TestNetworkThatCannotBeReadIsNotForgotten(t *testing.T) {
	t.Parallel()
	name := types.NamespacedName{Namespace: "default", Name: "quickstart"}
	refused := errors.New("refused")
	reconciler := &Reconciler{restarts: newRestarts(), client: fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return refused
		},
	}).Build()}
	known := reconciler.memories.of(name, "network")
	if _, err := reconciler.Reconcile(t.Context(), ctrl.Request{NamespacedName: name}); !errors.Is(err, refused) {
		t.Errorf("the error is %v", err)
	}
	if reconciler.memories.of(name, "network") != known {
		t.Error("what is known of the network is forgotten")
	}
}
