// SPDX-License-Identifier: Apache-2.0

package faulting_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/test/adminapi"
)

const (
	blockTime = 20 * time.Millisecond
	victim    = "net-s0-p0"
)

// fakeNode tells of a chain that goes by the clock alone.
type fakeNode struct {
	created time.Time
	// asked counts how often its status was asked for since the count began, which kill
	// turns into a crash: it does not answer from one question to another, and begins
	// anew then.
	asked      atomic.Int64
	kill       atomic.Bool
	from, till int64
	// hushed is when it first did not answer.
	hushed atomic.Pointer[time.Time]
	// stays says that it is but late then, and mute that it tells no blocks.
	stays bool
	mute  atomic.Bool
	// impaired says that its links have a fault, slow that its disk has, and wrong that
	// its clock has.
	impaired, slow, wrong atomic.Bool
	// lies says that it is of another version, and tells of blocks that there are not.
	lies atomic.Bool
}

func (n *fakeNode) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	height := uint64(time.Since(n.created) / blockTime)
	var answer any
	switch request.URL.Path {
	case "/readyz":
		answer = chain.Readiness{Ready: true}
	case "/status":
		status := chain.Status{FinalizedHeight: height, CPUSeconds: 100 + time.Since(n.created).Seconds()}
		if n.kill.Load() {
			asked := n.asked.Add(1)
			if asked > n.from && asked <= n.till {
				n.hushed.CompareAndSwap(nil, ptr.To(time.Now()))
				response.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			if asked > n.till && !n.stays {
				status.CPUSeconds -= 100
			}
		}
		if n.impaired.Load() {
			status.FaultyLinks = 1
		}
		if n.slow.Load() {
			status.DiskFault = ptr.To(chain.DiskSlow)
		}
		if n.wrong.Load() {
			status.ClockOffsetMilliseconds = -1
		}
		if n.lies.Load() {
			status.Version, status.FinalizedHeight = "another", status.FinalizedHeight+1_000_000
		}
		answer = status
	default:
		if n.mute.Load() {
			response.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var asked struct {
			Params struct {
				Height uint64 `json:"height"`
			} `json:"params"`
		}
		if err := json.NewDecoder(request.Body).Decode(&asked); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		at := n.created.Add(time.Duration(asked.Params.Height) * blockTime)
		answer = map[string]any{"jsonrpc": "2.0", "id": 1, "result": chain.Block{
			Height: asked.Params.Height, TimestampMs: at.UnixMilli(), Chunks: []chain.ChunkHeader{{Height: asked.Params.Height}},
		}}
	}
	_ = json.NewEncoder(response).Encode(answer)
}

// fakeNetwork is two producers of one shard, and a fault of the first.
func fakeNetwork(t *testing.T, spec v1alpha1.FaultSpec) (*faulting.Options, *fakeNode) {
	t.Helper()
	created := time.Now().Add(-time.Second)
	plan := &topology.Plan{Network: "net", Shards: 1}
	addresses := map[string]string{}
	var first *fakeNode
	for slot := range 2 {
		node := &fakeNode{created: created}
		if slot == 0 {
			first = node
		}
		server := httptest.NewServer(node)
		t.Cleanup(server.Close)
		name := fmt.Sprintf("net-s0-p%d", slot)
		plan.Nodes = append(plan.Nodes, topology.Validator{
			Name: name, Role: topology.RoleProducer, Seat: &topology.Seat{Slot: slot},
		})
		addresses[name] = server.Listener.Addr().String()
	}
	// Long enough that one answer more or less, on a busy machine, decides nothing.
	spec.DurationSeconds, spec.BaselineSeconds, spec.RecoverySeconds = 4, 4, 30
	spec.Validators.Names = []string{victim}
	scope := plan.Nodes[:1]
	orders, err := fault.Orders(&spec, scope, plan)
	if err != nil {
		t.Fatal(err)
	}
	return &faulting.Options{
		Spec: &spec, Plan: plan, Scope: scope, Orders: orders,
		Address:  func(validator string) string { return addresses[validator] },
		Progress: t.Logf,
	}, first
}

// bystander does nothing.
type bystander struct{}

func (bystander) Strike(context.Context, []string, *v1alpha1.FaultSpec, []fault.Order) error {
	return nil
}
func (bystander) Lift(context.Context, []string) error { return nil }

// witness is one who notes when it is told that the fault is over.
type witness struct {
	bystander

	lifted time.Time
}

func (w *witness) Lift(context.Context, []string) error {
	w.lifted = time.Now()
	return nil
}

// A fault that somebody else begins is measured from when its validators are seen to
// be gone. What passes before is of no time.
func TestAFaultThatSomebodyElseBegins(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionKill})
	// Whoever is summoned takes two seconds, and the node two and a half to be back, which
	// a busy machine may see later, but while the fault lasts.
	node.from, node.till = 10, 22
	options.Spec.DurationSeconds = 8
	var summoned, dismissed atomic.Int64
	var called time.Time
	actor := &witness{}
	options.Actor, options.Summon = actor, func() func() {
		summoned.Add(1)
		called = time.Now()
		node.kill.Store(true)
		return func() { dismissed.Add(1) }
	}
	began := time.Now()
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if summoned.Load() != 1 || dismissed.Load() != 1 {
		t.Fatalf("it was asked for %d times, and no longer %d times", summoned.Load(), dismissed.Load())
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultRestarted || seen.Answered == seen.Asked {
		t.Errorf("the validator shows %+v", seen)
	}
	before, during := status.Windows[0].DurationMilliseconds, status.Windows[1].DurationMilliseconds
	if most := called.Sub(began).Milliseconds(); before < 4000 || before > most {
		t.Errorf("it was measured for %d ms before, of which %d ms were before anybody was summoned", before, most)
	}
	if most := actor.lifted.Sub(*node.hushed.Load()).Milliseconds(); during < 8000 || during > most {
		t.Errorf("it was measured for %d ms, and there was a fault for %d ms", during, most)
	}
	if effective := meta.FindStatusCondition(status.Conditions, v1alpha1.ConditionEffective); effective.Reason != v1alpha1.ReasonNotFelt {
		t.Errorf("it is %s: %s, and the chain goes by the clock", effective.Reason, effective.Message)
	}
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered) || status.StartTime == nil {
		t.Errorf("the status is %+v", status)
	}
}

// A validator that is back between two questions was killed nevertheless.
func TestAFaultThatIsOverAtOnce(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionKill})
	node.from, node.till = 5, 5
	options.Actor, options.Summon = bystander{}, func() func() {
		node.kill.Store(true)
		return func() {}
	}
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultRestarted {
		t.Errorf("the validator shows %+v", seen)
	}
}

// A validator that is late, or tells no block, is not gone.
func TestAFaultThatNobodyBegins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		silent int64
		mute   bool
	}{
		// A busy machine may have the next answer be late, too.
		"late":      {silent: 1},
		"no blocks": {mute: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionKill})
			node.from, node.till, node.stays = 2, 2+test.silent, true
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			options.Actor, options.Summon = bystander{}, func() func() {
				node.mute.Store(test.mute)
				node.kill.Store(true)
				go func() {
					for node.asked.Load() < node.till+10 && ctx.Err() == nil {
						<-time.After(blockTime)
					}
					cancel()
				}()
				return func() {}
			}
			var begun atomic.Bool
			options.Progress = func(format string, args ...any) {
				if strings.Contains(fmt.Sprintf(format, args...), "begins at height") {
					begun.Store(true)
				}
			}
			status, err := faulting.Run(ctx, options)
			if status != nil || err == nil || err.Error() != "interrupted before the fault was measured" || begun.Load() {
				t.Errorf("it has begun: %t, and is measured: %+v, %v", begun.Load(), status, err)
			}
		})
	}
}

// adminNode is the admin API of a node, which may refuse.
type adminNode struct {
	node    *fakeNode
	refuses bool
	orders  []string
}

func (a *adminNode) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	a.orders = append(a.orders, request.Method+" "+request.URL.Path+" "+request.Header.Get("Authorization"))
	if a.refuses {
		response.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	begins := request.Method == http.MethodPut
	switch request.URL.Path {
	case "/admin/disk":
		a.node.slow.Store(begins)
	case "/admin/clock":
		a.node.wrong.Store(begins)
	case "/admin/process":
		a.node.kill.Store(begins)
	default:
		a.node.impaired.Store(begins)
	}
	_, _ = response.Write([]byte("{}"))
}

// links tells the nodes of faults: the first at its admin API, and the second as well.
func links(t *testing.T, nodes []*adminNode) *faulting.Nodes {
	t.Helper()
	clients := map[string]chain.Admin{}
	for slot, node := range nodes {
		key, err := keys.Generate()
		if err != nil {
			t.Fatal(err)
		}
		listener, err := adminapi.Listen(t.Context(), net.JoinHostPort("127.0.0.1", "0"), key)
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: node, ReadHeaderTimeout: time.Minute}
		go func() { _ = server.Serve(listener) }()
		t.Cleanup(func() { _ = server.Close() })
		clients[fmt.Sprintf("net-s0-p%d", slot)] = chain.Admin{
			Address: listener.Addr().String(), PublicKey: key.Public(), Token: "the-token",
		}
	}
	return &faulting.Nodes{Client: func(node string) *chain.Client { return chain.NewClient("", clients[node]) }}
}

// Nodes on both sides of links are told of their fault, and that it is over.
func TestAFaultOfLinks(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{
		Action: v1alpha1.FaultActionDelay, Delay: &v1alpha1.DelayFault{Milliseconds: 1},
	})
	nodes := []*adminNode{{node: node}, {node: &fakeNode{}}}
	options.Actor = links(t, nodes)
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultImpaired {
		t.Errorf("the validator shows %+v", seen)
	}
	for _, node := range nodes {
		if want := []string{"PUT /admin/links Bearer the-token", "DELETE /admin/links Bearer the-token"}; !slices.Equal(node.orders, want) {
			t.Errorf("a node is told %q, want %q", node.orders, want)
		}
	}
}

// Of a fault of disks or clocks, those that have it are told, at the path of disks or
// clocks.
func TestAFaultOfOne(t *testing.T) {
	t.Parallel()
	for path, spec := range map[string]v1alpha1.FaultSpec{
		"/admin/disk": {
			Action: v1alpha1.FaultActionSlowDisk, SlowDisk: &v1alpha1.SlowDiskFault{Milliseconds: 1},
		},
		"/admin/clock": {
			Action: v1alpha1.FaultActionWrongClock, WrongClock: &v1alpha1.WrongClockFault{OffsetMilliseconds: -1},
		},
	} {
		t.Run(string(spec.Action), func(t *testing.T) {
			t.Parallel()
			options, node := fakeNetwork(t, spec)
			nodes := []*adminNode{{node: node}, {node: &fakeNode{}}}
			options.Actor = links(t, nodes)
			status, err := faulting.Run(t.Context(), options)
			if err != nil {
				t.Fatal(err)
			}
			if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultImpaired {
				t.Errorf("the validator shows %+v", seen)
			}
			if want := []string{"PUT " + path + " Bearer the-token", "DELETE " + path + " Bearer the-token"}; !slices.Equal(nodes[0].orders, want) {
				t.Errorf("a node is told %q, want %q", nodes[0].orders, want)
			}
			if len(nodes[1].orders) > 0 {
				t.Errorf("a node without the fault is told %q", nodes[1].orders)
			}
		})
	}
}

// Of a fault of processes, those that have it are told, and nobody that it is over.
func TestAFaultOfProcesses(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPause})
	node.till = 1_000
	var err error
	if options.Orders, err = fault.OrdersInPods(options.Spec, options.Scope, options.Plan); err != nil {
		t.Fatal(err)
	}
	nodes := []*adminNode{{node: node}, {node: &fakeNode{}}}
	actor := links(t, nodes)
	options.Actor = returning{Nodes: actor, node: node}
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultUnreachable {
		t.Errorf("the validator shows %+v", seen)
	}
	if want := []string{"PUT /admin/process Bearer the-token"}; !slices.Equal(nodes[0].orders, want) {
		t.Errorf("a node is told %q, want %q", nodes[0].orders, want)
	}
	if len(nodes[1].orders) > 0 {
		t.Errorf("a node without the fault is told %q", nodes[1].orders)
	}
}

// returning has a node be back by itself when its fault is over.
type returning struct {
	*faulting.Nodes
	node *fakeNode
}

func (r returning) Lift(ctx context.Context, validators []string) error {
	r.node.kill.Store(false)
	return r.Nodes.Lift(ctx, validators)
}

// liar has a node lie while it has the fault.
type liar struct{ node *fakeNode }

func (l liar) Strike(context.Context, []string, *v1alpha1.FaultSpec, []fault.Order) error {
	l.node.lies.Store(true)
	return nil
}

func (l liar) Lift(context.Context, []string) error {
	l.node.lies.Store(false)
	return nil
}

// What a byzantine validator tells of the chain does not count.
func TestAFaultOfALiar(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{
		Action: v1alpha1.FaultActionByzantine, Byzantine: &v1alpha1.ByzantineFault{Program: "/another"},
	})
	options.Actor = liar{node}
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultImpaired {
		t.Errorf("the validator shows %+v", seen)
	}
	during := status.Windows[1]
	if most := int32(during.DurationMilliseconds/blockTime.Milliseconds()) + 200; during.Blocks == 0 || during.Blocks > most {
		t.Errorf("the chain made %d blocks in %d ms", during.Blocks, during.DurationMilliseconds)
	}
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionRecovered) {
		t.Errorf("the status is %+v", status)
	}
}

// hesitant has a fault of links begin once the node was asked for its status so many times
// more, and notes how long that took.
type hesitant struct {
	node *fakeNode
	asks int64
	took time.Duration
}

func (h *hesitant) Strike(ctx context.Context, _ []string, _ *v1alpha1.FaultSpec, _ []fault.Order) error {
	begun := time.Now()
	defer func() { h.took = time.Since(begun) }()
	for asked := h.node.asked.Load(); h.node.asked.Load() < asked+h.asks; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(blockTime):
		}
	}
	h.node.impaired.Store(true)
	return nil
}

func (h *hesitant) Lift(context.Context, []string) error {
	h.node.impaired.Store(false)
	return nil
}

// What is seen before all validators have a fault is not of its time, and neither are the
// blocks.
func TestAFaultThatTakesItsTime(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition})
	// Its status is counted, and told.
	node.from, node.till = 1<<40, 1<<40
	node.kill.Store(true)
	// It hesitates for three seconds, far longer than a busy machine is late.
	options.Spec.DurationSeconds = 8
	actor := &hesitant{node: node, asks: 15}
	options.Actor = actor
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if seen := status.Validators[0]; seen.Reached != v1alpha1.FaultImpaired || seen.Impaired < seen.Answered {
		t.Errorf("the validator shows %+v", seen)
	}
	during := status.Windows[1]
	lasted := time.Duration(during.DurationMilliseconds) * time.Millisecond
	if most := int32((lasted + 3*actor.took/4) / blockTime); during.Blocks > most {
		t.Errorf("the chain made %d blocks in %s, after %s of which none count", during.Blocks, lasted, actor.took)
	}
	// Who had it first ends it first.
	if lasted >= 8*time.Second {
		t.Errorf("it is measured for %s, of which the first that had it had none for some", lasted)
	}
}

// drowned is hesitant, of a node that nobody reaches until the fault is over by its own clock.
type drowned struct {
	hesitant
	over time.Time
}

func (d *drowned) Strike(ctx context.Context, names []string, spec *v1alpha1.FaultSpec, orders []fault.Order) error {
	err := d.hesitant.Strike(ctx, names, spec, orders)
	d.over = time.Now().Add(time.Duration(spec.DurationSeconds) * time.Second)
	return err
}

func (d *drowned) Lift(ctx context.Context, names []string) error {
	if time.Now().Before(d.over) {
		return errors.New("nobody answers")
	}
	return d.hesitant.Lift(ctx, names)
}

// The last that was told of a fault ends it last. Nobody may be there to be told before.
func TestAFaultThatIsOverLast(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition})
	node.from, node.till = 1<<40, 1<<40
	node.kill.Store(true)
	actor := &drowned{hesitant: hesitant{node: node, asks: 5}}
	options.Actor = actor
	status, err := faulting.Run(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	if lasted := status.EndTime.Sub(status.StartTime.Time); lasted < 4*time.Second+actor.took {
		t.Errorf("it lasted %s, and the last had it %s later than the first", lasted, actor.took)
	}
}

// tardy is an actor of a fault that is over before it has begun it.
type tardy struct{ node *fakeNode }

func (a tardy) Strike(_ context.Context, _ []string, spec *v1alpha1.FaultSpec, _ []fault.Order) error {
	begun := time.Now()
	for time.Since(begun) <= time.Duration(spec.DurationSeconds)*time.Second {
		<-time.After(blockTime)
	}
	a.node.impaired.Store(true)
	return nil
}

func (a tardy) Lift(context.Context, []string) error {
	a.node.impaired.Store(false)
	return nil
}

// A fault that some have no more before all have it is not measured, and taken back.
func TestAFaultThatTakesTooLong(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition})
	options.Actor = tardy{node}
	status, err := faulting.Run(t.Context(), options)
	if want := "the fault was to last 4s, and not all validators had it by then"; status != nil || err == nil || err.Error() != want {
		t.Errorf("it is measured: %+v, %v; want %s", status, err, want)
	}
	if node.impaired.Load() {
		t.Error("a node is left with the fault")
	}
}

// A fault of which not all nodes can be told is taken back from those that were, and
// not measured.
func TestAFaultThatANodeRefuses(t *testing.T) {
	t.Parallel()
	options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition})
	nodes := []*adminNode{{node: node}, {node: &fakeNode{}, refuses: true}}
	options.Actor = links(t, nodes)
	status, err := faulting.Run(t.Context(), options)
	if status != nil || err == nil || !strings.Contains(err.Error(), "tell validator net-s0-p1 of a fault of its links") {
		t.Errorf("it is measured: %+v, %v", status, err)
	}
	if node.impaired.Load() {
		t.Error("a node is left with the fault")
	}
}

// Validators that have a fault of somebody else's keep it.
func TestAFaultThatIsRefused(t *testing.T) {
	t.Parallel()
	options, _ := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPause})
	actor := &busy{}
	options.Actor = actor
	status, err := faulting.Run(t.Context(), options)
	if status != nil || err == nil || err.Error() != "validator net-s0-p0 has a fault already" {
		t.Errorf("it is measured: %+v, %v", status, err)
	}
	if actor.lifted {
		t.Error("the fault of somebody else is taken back")
	}
}

// busy has another fault happen.
type busy struct{ lifted bool }

func (b *busy) Strike(_ context.Context, names []string, _ *v1alpha1.FaultSpec, _ []fault.Order) error {
	return &faulting.RefusedError{Reason: "validator " + names[0] + " has a fault already"}
}

func (b *busy) Lift(context.Context, []string) error {
	b.lifted = true
	return nil
}

// Whoever is told to end takes the fault back, also while it is about to begin.
func TestAFaultThatIsInterrupted(t *testing.T) {
	t.Parallel()
	for _, begun := range []bool{false, true} {
		t.Run(fmt.Sprintf("begun %t", begun), func(t *testing.T) {
			t.Parallel()
			options, node := fakeNetwork(t, v1alpha1.FaultSpec{Action: v1alpha1.FaultActionPartition})
			nodes := []*adminNode{{node: node}, {node: &fakeNode{}}}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			options.Actor = &interrupted{Nodes: links(t, nodes), begun: begun, cancel: cancel}
			status, err := faulting.Run(ctx, options)
			if status != nil || err == nil || err.Error() != "interrupted before the fault was measured" {
				t.Errorf("it is measured: %+v, %v", status, err)
			}
			if node.impaired.Load() || len(nodes[0].orders) != 2 {
				t.Errorf("a node is left with the fault: %q", nodes[0].orders)
			}
		})
	}
}

// interrupted is told to end once the fault has begun, or while it is about to.
type interrupted struct {
	*faulting.Nodes

	begun  bool
	cancel func()
}

func (i *interrupted) Strike(ctx context.Context, names []string, spec *v1alpha1.FaultSpec, orders []fault.Order) error {
	if !i.begun {
		i.cancel()
	}
	defer i.cancel()
	return i.Nodes.Strike(ctx, names, spec, orders)
}
