// SPDX-License-Identifier: Apache-2.0

package recording

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

// A validator that takes no load, and a chain that nobody tells about, are borne for a
// while.
func TestPatienceWithNodes(t *testing.T) {
	t.Parallel()
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := adminapi.Listen(t.Context(), "127.0.0.1:0", key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"error":"not now"}`, http.StatusServiceUnavailable)
	}))
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)

	load, err := loading.New(&v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: &v1alpha1.ClosedLoopLoad{
		TargetBlockTimeMilliseconds: 100, InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 10,
	}})
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	options := &Options{
		Validators: []topology.Validator{{Name: "node-0", Role: topology.RoleProducer, Seat: &topology.Seat{}}},
		Address:    func(string) string { return address },
		Steering: &Steering{Load: load, Admin: func(string) chain.Admin {
			return chain.Admin{Address: address, PublicKey: key.Public(), Token: "token"}
		}},
		Log: slog.New(slog.DiscardHandler),
	}
	nodes := newNodes(options)
	defer nodes.close()
	wheel := newWheel(options, nodes)
	wheel.seen = time.Now()
	if wheel.driver.Apply(t.Context(), 10) {
		t.Fatal("a node that refuses its load took it")
	}

	since := wheel.driver.Refusal().Since
	wheel.seen = since.Add(time.Hour)
	if fault := wheel.fault(since.Add(standstillPatience)); fault != "" {
		t.Errorf("after %s, the fault is %q", standstillPatience, fault)
	}
	fault := wheel.fault(since.Add(standstillPatience + time.Second))
	if !strings.HasPrefix(fault, "validator node-0 did not take its load for 31s: ") || !strings.Contains(fault, "not now") {
		t.Errorf("the fault is %q", fault)
	}
	wheel.seen = since.Add(-time.Second)
	if fault, want := wheel.fault(since.Add(standstillPatience)),
		"no validator answered for 31s, and nothing was seen of the chain"; fault != want {
		t.Errorf("the fault is %q, want %q", fault, want)
	}
}
