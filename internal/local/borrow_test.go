// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/smallnetwork"
	"github.com/shardyard/shardyard/test/waiting"
)

// ownShares are what one validator is told of the steps of the network's own load.
const ownShares = "2 10"

// steady is a load of one rate.
func steady(rate int64) *v1alpha1.LoadSpec {
	return &v1alpha1.LoadSpec{
		Profile: v1alpha1.LoadProfileConstant, Constant: &v1alpha1.ConstantLoad{TransfersPerSecond: ptr.To(rate)},
	}
}

// naming is a benchmark that has the network net carry a load.
func naming(load *v1alpha1.LoadSpec) *v1alpha1.BenchmarkSpec {
	return &v1alpha1.BenchmarkSpec{Network: v1alpha1.BenchmarkNetwork{Name: "net"}, Load: *load}
}

// A network that runs carries the load of a benchmark, and its own again afterwards.
func TestBorrow(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	run.signs(t, "net-s0-p0", ownShares)
	load := steady(80)
	borrowed, err := Borrow(t.Context(), stateDir, naming(load))
	if err != nil {
		t.Fatal(err)
	}
	if borrowed.Network.Name != "net" || time.Since(borrowed.CreatedAt) > time.Hour {
		t.Errorf("the network is %+v", borrowed)
	}
	if _, err := Borrow(t.Context(), stateDir, naming(load)); err == nil ||
		!strings.Contains(err.Error(), "the network net cannot be measured: it carries the load of another benchmark") {
		t.Errorf("of a network that is borrowed, the error is %v", err)
	}
	var progress output.Buffer
	recorded, err := borrowed.Record(t.Context(), load, time.Second, 2*time.Second, waiting.Patience, &progress)
	if err != nil {
		t.Fatalf("%v\n%s", err, &progress)
	}
	if recorded.Fault != "" || recorded.BeganHeight == 0 || len(recorded.MeasuredBlocks()) == 0 {
		t.Errorf("the run has the fault %q, began at height %d and has %d blocks",
			recorded.Fault, recorded.BeganHeight, len(recorded.MeasuredBlocks()))
	}
	for _, sample := range recorded.MeasuredSamples() {
		if sample.OfferedPerSecond != 80 {
			t.Errorf("%d transfers per second are measured, want 80", sample.OfferedPerSecond)
		}
	}
	run.signs(t, "net-s0-p0", "0 20 0")
	borrowed.GiveBack()
	run.says(t, "the validators have their own load again")
	run.signs(t, "net-s0-p0", "0 20 0 "+ownShares)
	again, err := Borrow(t.Context(), stateDir, naming(load))
	if err != nil {
		t.Fatal(err)
	}
	again.GiveBack()
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// A benchmark is answered once nobody else tells the validators anything any more.
func TestBorrowWaitsForWhatIsTold(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	spec := steady(80)
	load, err := loading.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	var out output.Buffer
	group := &supervision.Group{Console: console.New(&out)}
	telling, told, answered := make(chan struct{}), make(chan struct{}), make(chan struct{})
	run := &run{group: group, load: loading.NewDriver(loading.Options{Load: load, Announce: func(int64) {
		close(telling)
		<-told
	}})}
	var running sync.WaitGroup
	running.Go(func() { run.drive(ctx, load) })
	<-telling
	running.Go(func() {
		request := httptest.NewRequestWithContext(ctx, http.MethodPost, borrowPath, http.NoBody)
		lend(ctx, group, &flushed{ResponseRecorder: httptest.NewRecorder(), done: answered}, request)
	})
	select {
	case <-answered:
		t.Error("it is answered while a validator is told something")
	case <-time.After(200 * time.Millisecond):
	}
	close(told)
	<-answered
	cancel()
	running.Wait()
}

// flushed says when an answer is on its way.
type flushed struct {
	*httptest.ResponseRecorder

	done chan struct{}
}

func (f *flushed) Flush() { close(f.done) }

func (f *flushed) SetReadDeadline(time.Time) error { return nil }

func (f *flushed) SetWriteDeadline(time.Time) error { return nil }

// Who asks a program that does not answer can end that, and does not end what is lent.
func TestBorrowOfOneThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	dir := statedir.NetworkDir(t.TempDir())
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", dir.Control())
	if err != nil {
		t.Fatal(err)
	}
	asked, answers, left := make(chan struct{}), make(chan struct{}), make(chan struct{}, 2)
	server := &http.Server{ReadHeaderTimeout: waiting.Patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { left <- struct{}{} }()
		asked <- struct{}{}
		select {
		case <-answers:
			_ = http.NewResponseController(w).Flush()
		case <-r.Context().Done():
		}
		<-r.Context().Done()
	})}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	type answer struct {
		giveBack func()
		lost     <-chan struct{}
		err      error
	}
	borrow := func(ctx context.Context) <-chan answer {
		got := make(chan answer, 1)
		go func() {
			giveBack, lost, err := newKeeper(dir).Borrow(ctx)
			got <- answer{giveBack, lost, err}
		}()
		<-asked
		return got
	}
	ctx, cancel := context.WithCancel(t.Context())
	got := borrow(ctx)
	cancel()
	select {
	case one := <-got:
		if !errors.Is(one.err, context.Canceled) {
			t.Fatalf("the error is %v", one.err)
		}
	case <-time.After(waiting.Patience):
		t.Fatal("it still asks")
	}
	// Else the answer to the next one may be taken for it.
	<-left

	ctx, cancel = context.WithCancel(t.Context())
	got = borrow(ctx)
	answers <- struct{}{}
	one := <-got
	cancel()
	if one.err != nil {
		t.Fatal(one.err)
	}
	select {
	case <-one.lost:
		t.Error("it is given back before anybody said so")
	default:
	}
	one.giveBack()
	<-one.lost
}

// Whatever a benchmark told the validators that is no more, they are told their own load
// again, be it none.
func TestBorrowedByOneThatIsKilled(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	idle := smallnetwork.Manifest(t, "transfersPerSecond: 10", "transfersPerSecond: 0", "transfersPerSecond: 42", "transfersPerSecond: 0")
	run := startUp(t, stateDir, Options{Manifest: idle}, nil)
	run.says(t, "ready after ")
	borrowed, err := Borrow(t.Context(), stateDir, naming(steady(80)))
	if err != nil {
		t.Fatal(err)
	}
	run.says(t, "a benchmark tells the validators their load")
	client := chain.NewClient(borrowed.addresses["net-s0-p0"], borrowed.admins["net-s0-p0"])
	defer client.Close()
	if _, err := client.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 777}); err != nil {
		t.Fatal(err)
	}
	borrowed.GiveBack()
	run.signs(t, "net-s0-p0", "777 0")
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

// A benchmark of a network that ends is not recorded, and does not hang.
func TestTheNetworkEndsWhileItIsBorrowed(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	borrowed, err := Borrow(t.Context(), stateDir, naming(steady(80)))
	if err != nil {
		t.Fatal(err)
	}
	defer borrowed.GiveBack()
	var progress output.Buffer
	go func() {
		ticker := time.NewTicker(20 * time.Millisecond)
		defer ticker.Stop()
		for t.Context().Err() == nil && !strings.Contains(progress.String(), "the load began") {
			<-ticker.C
		}
		run.interrupt()
	}()
	if recorded, err := borrowed.Record(t.Context(), steady(80), 0, time.Hour, waiting.Patience, &progress); err == nil ||
		!strings.Contains(err.Error(), "the program that runs the network ended") {
		t.Errorf("the record is %+v and the error %v\n%s", recorded, err, &progress)
	}
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}

func TestNetworksThatAreNotBorrowed(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	refuses := func(load *v1alpha1.LoadSpec, want string) {
		t.Helper()
		if borrowed, err := Borrow(t.Context(), stateDir, naming(load)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the network is %+v and the error %v, want %q", borrowed, err, want)
		}
	}
	refuses(steady(1), "does not run")
	run := startUp(t, stateDir, Options{}, nil)
	run.says(t, "ready after ")
	refuses(steady(4_000_001), "the network net cannot carry the load: the load asks for 4000001 transfers per second")
	keeper := newKeeper(run.dir)
	wanted := readFault(t)
	if err := keeper.Strike(t.Context(), []string{"net-s1-p0"}, &wanted.Spec, nil); err != nil {
		t.Fatal(err)
	}
	refuses(steady(1), "the network net cannot be measured: validator net-s1-p0 has a fault")
	if err := keeper.Lift(t.Context(), []string{"net-s1-p0"}); err != nil {
		t.Fatal(err)
	}
	run.interrupt()
	if _, err := run.end(t); err != nil {
		t.Error(err)
	}
}
