// SPDX-License-Identifier: Apache-2.0

package recording_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
	"github.com/shardyard/shardyard/test/output"
)

const (
	// adminToken is what opens the admin API of the nodes.
	adminToken = "0a1b2c3d-not-for-logs"
	// steadyRate is the most that the controller asks for, and where it stays: blocks
	// take as long whatever the load.
	steadyRate = 400
)

// steered is a chain whose nodes are told their load by the recorder.
type steered struct {
	fakeChain
	rates [2]atomic.Int64
	// told counts what each was told, and refuses has it take nothing.
	told    [2]atomic.Int64
	refuses [2]atomic.Bool
	// stocks are what each signs before, half of it for each time that it is asked.
	stocks [2]atomic.Pointer[chain.Stock]
	log    output.Buffer
}

// serveAdmin serves the admin API of a node by a key, and says where.
func (s *steered) serveAdmin(t *testing.T, node int, key keys.Key) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /admin/load", func(w http.ResponseWriter, r *http.Request) {
		var load chain.LoadTarget
		switch err := json.NewDecoder(r.Body).Decode(&load); {
		case r.Header.Get("Authorization") != "Bearer "+adminToken:
			http.Error(w, `{"error":"the admin API needs the bearer token"}`, http.StatusUnauthorized)
			return
		case err != nil || s.refuses[node].Load():
			http.Error(w, `{"error":"not now"}`, http.StatusServiceUnavailable)
			return
		}
		s.rates[node].Store(load.TransfersPerSecond)
		s.told[node].Add(1)
		switch {
		case load.Signing != chain.SigningBefore:
			s.stocks[node].Store(nil)
		case load.Stock > 0:
			s.stocks[node].Store(&chain.Stock{Transfers: load.Stock})
		}
		_ = json.NewEncoder(w).Encode(chain.Load{
			TransfersPerSecond: load.TransfersPerSecond, Workload: load.Workload, Signing: load.Signing, Stock: s.stocks[node].Load(),
		})
	})
	mux.HandleFunc("GET /admin/load", func(w http.ResponseWriter, _ *http.Request) {
		stock := *s.stocks[node].Load()
		stock.Signed = min(stock.Transfers, stock.Signed+(stock.Transfers+1)/2)
		s.stocks[node].Store(&stock)
		_ = json.NewEncoder(w).Encode(chain.Load{Signing: chain.SigningBefore, Stock: &stock})
	})
	listener, err := adminapi.Listen(t.Context(), "127.0.0.1:0", key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

// record records the chain of two producers and a chunk validator, with the closed
// loop of a spec.
func (s *steered) record(ctx context.Context, t *testing.T, edit func(*v1alpha1.ClosedLoopLoad, *recording.Options)) (*result.Run, error) {
	t.Helper()
	loop := &v1alpha1.ClosedLoopLoad{
		TargetBlockTimeMilliseconds: 60, InitialTransfersPerSecond: steadyRate / 2, MaxTransfersPerSecond: steadyRate,
		MaxBacklogBlocks: 4, MaxSettleSeconds: 3600,
	}
	return s.recordLoad(ctx, t, &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileClosedLoop, ClosedLoop: loop},
		func(options *recording.Options) {
			if edit != nil {
				edit(loop, options)
			}
		})
}

// recordLoad records that chain with a load.
func (s *steered) recordLoad(
	ctx context.Context, t *testing.T, spec *v1alpha1.LoadSpec, edit func(*recording.Options),
) (*result.Run, error) {
	t.Helper()
	s.created = time.Now().Add(-10 * time.Second)
	wrong := s.wrong
	s.wrong = func(node int, status *chain.Status) {
		switch {
		case node < len(s.rates):
			status.Load.TransfersPerSecond = s.rates[node].Load()
			// What is signed does not matter, but that it is.
			status.Load.Signed = uint64(s.told[node].Load())
		default:
			status.Load = nil
		}
		if wrong != nil {
			wrong(node, status)
		}
	}
	addresses, admins := map[string]string{}, map[string]chain.Admin{}
	options := &recording.Options{
		Address: func(validator string) string { return addresses[validator] },
		WarmUp:  time.Second, Duration: 2 * time.Second, Patience: time.Minute,
		Log: slog.New(slog.NewJSONHandler(&s.log, nil)),
	}
	for node, name := range []string{"node-0", "node-1", "node-2"} {
		addresses[name] = s.serve(t, node)
		validator := topology.Validator{Name: name, Role: topology.RoleChunkValidator}
		if node < len(s.rates) {
			key, err := keys.Generate()
			if err != nil {
				t.Fatal(err)
			}
			validator.Role, validator.Seat = topology.RoleProducer, &topology.Seat{Slot: node}
			admins[name] = chain.Admin{Address: s.serveAdmin(t, node, key), PublicKey: key.Public(), Token: adminToken}
		}
		options.Validators = append(options.Validators, validator)
	}
	options.Steering = &recording.Steering{Admin: func(validator string) chain.Admin { return admins[validator] }}
	edit(options)
	load, err := loading.NewRun(spec, options.WarmUp, options.Duration)
	if err != nil {
		t.Fatal(err)
	}
	options.Steering.Load, options.Schedule = load, load.Schedule
	run, err := recording.Record(ctx, options)
	if log := s.log.String(); strings.Contains(log, adminToken) {
		t.Errorf("the token is in the log:\n%s", log)
	}
	return run, err
}

// checkStopped checks that a node signs nothing.
func (s *steered) checkStopped(t *testing.T, nodes ...int) {
	t.Helper()
	for _, node := range nodes {
		if rate, told := s.rates[node].Load(), s.told[node].Load(); rate != 0 || told == 0 {
			t.Errorf("node %d still signs %d transfers per second, after it was told something %d times", node, rate, told)
		}
	}
}

// The recorder begins the load, the warm-up begins when the rate is steady, and every
// step is in the record. Then the load ends.
func TestRecordOfAClosedLoop(t *testing.T) {
	t.Parallel()
	s := &steered{}
	run, err := s.record(t.Context(), t, nil)
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault != "" {
		t.Fatalf("the run does not count: %s", run.Fault)
	}
	if first := run.Samples[0]; first.Control.State != "Starting" || first.OfferedPerSecond != steadyRate/2 {
		t.Errorf("the first sample is %+v of %+v", first.Control, first)
	}
	// Every step is there.
	steady := slices.IndexFunc(run.Samples, func(sample result.Sample) bool { return sample.Control.Steady })
	if begin := run.Samples[steady].TimeMs + 1000; run.Window.BeginMs != begin || run.Window.EndMs != begin+2000 {
		t.Errorf("2 s are measured from %+v on, want from %d, a second after the rate was steady", run.Window, begin)
	}
	for _, sample := range run.MeasuredSamples() {
		if sample.OfferedPerSecond != steadyRate || !sample.Control.Steady {
			t.Errorf("a measured sample is %+v of %+v, want a steady %d", sample.Control, sample, steadyRate)
		}
	}
	if blocks := len(run.MeasuredBlocks()); blocks < 40 || blocks > 42 {
		t.Errorf("%d blocks are measured, want those of 2 s", blocks)
	}
	s.checkStopped(t, 0, 1)
}

// A recorder that finds a load which it did not begin ends it, and there is no record.
func TestALoadOfAnotherRecorder(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*chain.Load){
		"a load that goes on": func(load *chain.Load) { load.TransfersPerSecond = 7 },
		"a load that ended":   func(load *chain.Load) { load.Signed = 7 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &steered{}
			s.wrong = func(node int, status *chain.Status) {
				if node == 1 {
					before(status.Load)
				}
			}
			run, err := s.record(t.Context(), t, nil)
			want := "validator node-1 signed transfers before this recorder began: another one did, and ended"
			if run != nil || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the run is %+v and the error %v, want %q", run, err, want)
			}
			s.checkStopped(t, 0, 1)
		})
	}
}

// What keeps a load from being steered is in the record of a run that does not count,
// and whoever can be told to stop is.
func TestLoadsThatAreNotSteered(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		wrong func(s *steered, node int, status *chain.Status)
		edit  func(*v1alpha1.ClosedLoopLoad, *recording.Options)
		want  string
	}{
		"a validator starts again": {
			wrong: func(s *steered, node int, status *chain.Status) {
				if node == 1 && s.asked.Load() > 6 {
					status.CPUSeconds = 0.1
				}
			},
			want: "validator node-1 ended in the middle and was started again",
		},
		"somebody else tells nodes their load": {
			wrong: func(s *steered, node int, status *chain.Status) {
				if node == 1 && s.asked.Load() > 6 {
					status.Load.TransfersPerSecond = 77_777
				}
			},
			want: "validator node-1 signs 77777 transfers per second, and was told ",
		},
		"the rate does not become steady": {
			wrong: func(*steered, int, *chain.Status) {},
			edit:  func(loop *v1alpha1.ClosedLoopLoad, _ *recording.Options) { loop.MaxSettleSeconds = 0 },
			want:  "the controller found no steady rate within 0s",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &steered{}
			s.wrong = func(node int, status *chain.Status) { test.wrong(s, node, status) }
			run, err := s.record(t.Context(), t, test.edit)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(run.Fault, test.want) {
				t.Errorf("the fault is %q, want %q", run.Fault, test.want)
			}
			s.checkStopped(t, 0, 1)
		})
	}
}

// No load begins while a producer does not answer.
func TestALoadThatCannotBegin(t *testing.T) {
	t.Parallel()
	s := &steered{}
	s.wrong = func(node int, status *chain.Status) {
		if node == 1 {
			status.Load = nil
		}
	}
	run, err := s.record(t.Context(), t, func(_ *v1alpha1.ClosedLoopLoad, options *recording.Options) { options.Patience = time.Second })
	if run != nil || err == nil || !strings.Contains(err.Error(), "not all producers answered at one time within 1s: no load was begun") {
		t.Errorf("the run is %+v and the error %v, want that no load was begun", run, err)
	}
	s.checkStopped(t, 0, 1)
}

// A recorder that is told to end ends its load.
func TestInterruptedLoad(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := &steered{}
	go func() {
		defer cancel()
		for s.rates[0].Load() == 0 || s.rates[1].Load() == 0 {
			s.awaitAsked(t, 1)
		}
	}()
	run, err := s.record(ctx, t, nil)
	if run != nil || err == nil || !strings.Contains(err.Error(), "interrupted") {
		t.Errorf("the run is %+v and the error %v, want that it was interrupted", run, err)
	}
	s.checkStopped(t, 0, 1)
}

// Nobody but the holder of a node's key is told the token.
func TestTheTokenIsForNodesAlone(t *testing.T) {
	t.Parallel()
	s := &steered{}
	run, err := s.record(t.Context(), t, func(loop *v1alpha1.ClosedLoopLoad, options *recording.Options) {
		loop.MaxSettleSeconds = 1
		known := options.Steering.Admin
		options.Steering.Admin = func(validator string) chain.Admin {
			admin := known(validator)
			if validator == "node-1" {
				admin.PublicKey = known("node-0").PublicKey
			}
			return admin
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if run.Fault == "" || s.told[1].Load() != 0 {
		t.Errorf("the run has the fault %q, and node 1 was told its load %d times", run.Fault, s.told[1].Load())
	}
	if log := s.log.String(); !strings.Contains(log, "has another key than it is known by") {
		t.Errorf("the log does not say why:\n%s", log)
	}
}
