// SPDX-License-Identifier: Apache-2.0

package loading_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

// producer serves the admin API of a node by its key.
type producer struct {
	name   string
	client *chain.Client

	lock sync.Mutex
	// rates are what it was told, one after the other.
	rates []int64
	// refuses has it refuse all that it is told.
	refuses bool
	// process is the number of its process.
	process int
	// load is what it answers.
	load chain.Load
	// holds has it tell of a load that it is told, and wait before it takes it; nil if it
	// waits for nobody.
	holds func()
}

func newProducer(t *testing.T, name string) *producer {
	t.Helper()
	made := &producer{name: name}
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /admin/load", made.putLoad)
	mux.HandleFunc("GET /admin/load", made.getLoad)
	server := httptest.NewUnstartedServer(mux)
	if err := server.Listener.Close(); err != nil {
		t.Fatal(err)
	}
	if server.Listener, err = adminapi.Listen(t.Context(), "127.0.0.1:0", key); err != nil {
		t.Fatal(err)
	}
	server.Start()
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	made.client = chain.NewClient(address, chain.Admin{Address: address, PublicKey: key.Public(), Token: "token"})
	t.Cleanup(made.client.Close)
	return made
}

func (p *producer) putLoad(response http.ResponseWriter, request *http.Request) {
	var target chain.LoadTarget
	if err := json.NewDecoder(request.Body).Decode(&target); err != nil {
		http.Error(response, err.Error(), http.StatusBadRequest)
		return
	}
	if p.holds != nil {
		p.holds()
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.refuses {
		http.Error(response, `{"error":"not now"}`, http.StatusServiceUnavailable)
		return
	}
	p.load.TransfersPerSecond, p.load.Workload, p.load.Signing = target.TransfersPerSecond, target.Workload, target.Signing
	switch {
	case target.Signing != chain.SigningBefore:
		p.load.Stock = nil
	case target.Stock > 0:
		p.load.Stock = &chain.Stock{Transfers: target.Stock}
	}
	if target.Stock == 0 {
		p.rates = append(p.rates, target.TransfersPerSecond)
	}
	_ = json.NewEncoder(response).Encode(p.load)
}

func (p *producer) getLoad(response http.ResponseWriter, _ *http.Request) {
	p.lock.Lock()
	defer p.lock.Unlock()
	_ = json.NewEncoder(response).Encode(p.load)
}

func (p *producer) set(change func(*producer)) {
	p.lock.Lock()
	defer p.lock.Unlock()
	change(p)
}

// told is what it was told.
func (p *producer) told() []int64 {
	p.lock.Lock()
	defer p.lock.Unlock()
	return append([]int64(nil), p.rates...)
}

func (p *producer) node(slot int) loading.Node {
	return loading.Node{
		Validator: topology.Validator{Name: p.name, Role: topology.RoleProducer, Seat: &topology.Seat{Slot: slot}},
		Client:    p.client,
		Process: func() (int, bool) {
			p.lock.Lock()
			defer p.lock.Unlock()
			return p.process, true
		},
	}
}

// driven are two producers and the driver of their load, which counts refusals.
func driven(t *testing.T, load *loading.Load) (first, second *producer, driver *loading.Driver, refused map[string]int) {
	t.Helper()
	first, second, refused = newProducer(t, "first"), newProducer(t, "second"), map[string]int{}
	var lock sync.Mutex
	driver = loading.NewDriver(loading.Options{
		Nodes: []loading.Node{first.node(0), second.node(1)}, Load: load,
		Refused: func(validator string, _ error) {
			lock.Lock()
			defer lock.Unlock()
			refused[validator]++
		},
	})
	return first, second, driver, refused
}

func newLoop() *loading.Load {
	return &loading.Load{Loop: loading.NewLoop(&v1alpha1.ClosedLoopLoad{
		TargetBlockTimeMilliseconds: 100, InitialTransfersPerSecond: 10, MaxTransfersPerSecond: 1000, MaxBacklogBlocks: 4,
	})}
}

// Each producer is told its share once, and again after it started again.
func TestSharesAreToldOnce(t *testing.T) {
	t.Parallel()
	first, second, driver, _ := driven(t, newLoop())
	for range 2 {
		if !driver.Apply(t.Context(), 11) {
			t.Fatalf("not all took their share: %+v", driver.Refusal())
		}
	}
	first.set(func(p *producer) { p.process++ })
	driver.Apply(t.Context(), 11)
	if a, b := first.told(), second.told(); len(a) != 2 || len(b) != 1 || a[0]+b[0] != 11 || a[1] != a[0] {
		t.Errorf("they were told %d and %d, want 11 together, and the first one twice", a, b)
	}
}

// A producer that does not take its share is told again, reported once, and known by
// how long it did not.
func TestARefusal(t *testing.T) {
	t.Parallel()
	first, second, driver, refused := driven(t, newLoop())
	second.set(func(p *producer) { p.refuses = true })
	before := time.Now()
	for range 3 {
		if driver.Apply(t.Context(), 10) {
			t.Fatal("all took their share")
		}
	}
	refusal := driver.Refusal()
	if refusal == nil || refusal.Validator != "second" || refusal.Since.Before(before) || !strings.Contains(refusal.Err.Error(), "not now") {
		t.Fatalf("the refusal is %+v", refusal)
	}
	since := refusal.Since
	driver.Apply(t.Context(), 12)
	if refusal = driver.Refusal(); !refusal.Since.Equal(since) {
		t.Errorf("it refuses since %s, want %s", refusal.Since, since)
	}
	if refused["second"] != 1 || refused["first"] != 0 {
		t.Errorf("the refusals that were told are %v", refused)
	}
	if told := driver.Told(1); told != nil {
		t.Errorf("the second signs %d, and took nothing", *told)
	}
	second.set(func(p *producer) { p.refuses = false })
	if !driver.Apply(t.Context(), 12) || driver.Refusal() != nil {
		t.Errorf("the refusal is still %+v", driver.Refusal())
	}
	if a, b := first.told(), second.told(); a[len(a)-1]+b[len(b)-1] != 12 {
		t.Errorf("they were told %d and %d, want 12 together at last", a, b)
	}
}

// What was told is known until the next time that something is told.
func TestWhatWasTold(t *testing.T) {
	t.Parallel()
	_, _, driver, _ := driven(t, newLoop())
	if driver.Told(0) != nil {
		t.Error("something was told before anything was")
	}
	driver.Apply(t.Context(), 10)
	told := driver.Told(0)
	if told == nil || *told != 5 {
		t.Fatalf("the first was told %v, want 5", told)
	}
	if driver.Apply(t.Context(), 10); driver.Told(0) != told {
		t.Error("it was told again what it signs already")
	}
	driver.Apply(t.Context(), 20)
	if driver.Apply(t.Context(), 10); driver.Told(0) == told {
		t.Error("what was told in between cannot be seen")
	}
}

// Who is to stop stops, whoever told it to sign.
func TestStop(t *testing.T) {
	t.Parallel()
	first, second, driver, _ := driven(t, newLoop())
	second.set(func(p *producer) { p.refuses = true })
	err := driver.Stop(t.Context())
	if err == nil || !strings.Contains(err.Error(), "validator second: ") || strings.Contains(err.Error(), "first") {
		t.Errorf("the error is %v, want that the second does not stop", err)
	}
	if told := first.told(); len(told) != 1 || told[0] != 0 {
		t.Errorf("the first was told %d, want 0", told)
	}
}

// A controller that asks for another rate is followed, until the end.
func TestRunFollowsTheLoop(t *testing.T) {
	t.Parallel()
	load := newLoop()
	first, second, driver, _ := driven(t, load)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		driver.Run(ctx, time.Now())
	}()
	await(t, func() bool { return sum(first, second) == 10 })
	at := time.Now()
	for step := uint64(1); load.Loop.Rate() <= 10; step++ {
		load.Loop.Observe(sampleAt(at, step), at.Add(time.Duration(step)*time.Second))
		if step > 100 {
			t.Fatal("the controller does not raise the rate of a chain without load")
		}
	}
	await(t, func() bool { return sum(first, second) == load.Loop.Rate() })
	cancel()
	<-done
}

// Whoever ends a load while a producer is told of it waits until that took it: nothing
// arrives after what it is told next.
func TestRunEndsWithWhatItTells(t *testing.T) {
	t.Parallel()
	first, _, driver, _ := driven(t, newLoop())
	ctx, cancel := context.WithCancel(t.Context())
	first.holds = func() {
		cancel()
		<-time.After(200 * time.Millisecond)
	}
	driver.Run(ctx, time.Now())
	if told := first.told(); len(told) != 1 {
		t.Errorf("it was told %d when its load ended, want one rate", told)
	}
	if driver.Refusal() != nil {
		t.Errorf("it refuses by %+v", driver.Refusal())
	}
}

// sampleAt is a chain that makes blocks in half of the target.
func sampleAt(began time.Time, step uint64) bench.Sample {
	at := began.Add(time.Duration(step) * time.Second)
	return bench.Sample{Nodes: []bench.NodeSample{{Name: "first", Status: &chain.Status{
		FinalizedHeight: 20 * step, FinalizedTimeMs: at.UnixMilli(), Transfers: 10 * step, Shards: make([]chain.ShardStatus, 1),
	}}}}
}

// sum is what two producers sign.
func sum(producers ...*producer) (total int64) {
	for _, p := range producers {
		if told := p.told(); len(told) > 0 {
			total += told[len(told)-1]
		}
	}
	return total
}

// await waits until something holds.
func await(t *testing.T, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	late := time.NewTimer(time.Minute)
	defer late.Stop()
	for !holds() {
		select {
		case <-late.C:
			t.Fatal(errors.New("waited in vain"))
		case <-ticker.C:
		}
	}
}

// A network has a schedule or a loop.
func TestLoads(t *testing.T) {
	t.Parallel()
	none, err := loading.New(nil)
	if err != nil || none.Loop != nil || none.Rate(time.Hour) != 0 {
		t.Errorf("no load is %+v: %v", none, err)
	}
	loop, err := loading.New(&v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileClosedLoop,
		ClosedLoop: &v1alpha1.ClosedLoopLoad{
			TargetBlockTimeMilliseconds: 100, InitialTransfersPerSecond: 7, MaxTransfersPerSecond: 9, MaxSettleSeconds: 300,
		},
		Workload: &v1alpha1.Workload{Senders: v1alpha1.SendersUniform},
	})
	if err != nil || loop.Loop == nil || loop.Rate(time.Hour) != 7 || loop.Workload.Senders != "Uniform" {
		t.Errorf("a closed loop is %+v: %v", loop, err)
	}
	for want, refusal := range map[string]*loading.Refusal{
		"the controller found no steady rate within 5m0s": nil,
		"no rate was steady within 5m0s that all validators took: validator a does not take its load: it is full": {
			Validator: "a", Err: errors.New("it is full"),
		},
	} {
		if got := loop.Loop.Unsettled(refusal); got != want {
			t.Errorf("it is unsettled because %q, want %q", got, want)
		}
	}
	if _, err := loading.New(&v1alpha1.LoadSpec{Profile: "Sawtooth"}); err == nil {
		t.Error("a profile that there is not was taken")
	}
}

// Producers that somebody else told a load are told theirs, be it nothing.
func TestProducersThatWereToldBefore(t *testing.T) {
	t.Parallel()
	for _, rate := range []int64{0, 10} {
		first, second, driver, refused := driven(t, newLoop())
		options := driver.Options
		options.Told = true
		driver = loading.NewDriver(options)
		for range 2 {
			if !driver.Apply(t.Context(), rate) {
				t.Fatalf("not all took their share: %+v", driver.Refusal())
			}
		}
		if a, b := first.told(), second.told(); len(a) != 1 || len(b) != 1 || a[0]+b[0] != rate {
			t.Errorf("they were told %d and %d, want %d together, once", a, b, rate)
		}
		if len(refused) > 0 {
			t.Errorf("refusals were told: %v", refused)
		}
	}
}

// That one does not take its load is told of producers that were told before, too.
func TestARefusalOfOneThatWasToldBefore(t *testing.T) {
	t.Parallel()
	_, second, driver, refused := driven(t, newLoop())
	second.set(func(p *producer) { p.refuses = true })
	options := driver.Options
	options.Told = true
	driver = loading.NewDriver(options)
	for range 2 {
		driver.Apply(t.Context(), 10)
	}
	if refused["second"] != 1 || refused["first"] != 0 {
		t.Errorf("the refusals that were told are %v", refused)
	}
	if refusal := driver.Refusal(); refusal == nil || !strings.Contains(refusal.Err.Error(), "not now") {
		t.Errorf("the refusal is %+v", refusal)
	}
}
