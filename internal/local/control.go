// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// The paths of the socket by which other programs of the same user have faults
// happen, besides borrowPath: who may open it is what its folder says.
const (
	strikePath = "/strike"
	liftPath   = "/lift"
)

// controlTimeout bounds each exchange over the socket, and maxOrderBytes what is
// read of one.
const (
	controlTimeout = 10 * time.Second
	maxOrderBytes  = 1 << 20
)

// order is what is asked of the keeper of a network.
type order struct {
	Validators []string `json:"validators"`
	// The others are only of a strike.
	Action               v1alpha1.FaultAction  `json:"action,omitempty"`
	Restart              v1alpha1.FaultRestart `json:"restart,omitempty"`
	Program              *fault.Program        `json:"program,omitempty"`
	DurationMilliseconds int64                 `json:"durationMilliseconds,omitempty"`
	// Nodes are what nodes are told of a fault that they keep.
	Nodes []fault.Order `json:"nodes,omitempty"`
}

func (o *order) duration() time.Duration {
	return time.Duration(o.DurationMilliseconds) * time.Millisecond
}

// refusal is the answer to an order that was not followed.
type refusal struct {
	Error string `json:"error"`
}

// obey begins to take orders for a group. The function that it returns ends that. A
// network runs even if no faults can happen to it.
func (n *network) obey(ctx context.Context, group *group) (cease func()) {
	path := n.Dir.Control()
	// The lock of the network says that nobody else listens.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		group.console.Printf("faults and benchmarks cannot be run: %v", err)
		return func() {}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		group.console.Printf("faults and benchmarks cannot be run: %v", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+strikePath, func(w http.ResponseWriter, r *http.Request) { follow(w, r, group.strike) })
	mux.HandleFunc("POST "+liftPath, func(w http.ResponseWriter, r *http.Request) { follow(w, r, group.lift) })
	mux.HandleFunc("POST "+borrowPath, func(w http.ResponseWriter, r *http.Request) { group.borrow(ctx, w, r) })
	server := &http.Server{Handler: mux, ReadTimeout: controlTimeout, WriteTimeout: controlTimeout}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			group.console.Printf("faults and benchmarks cannot be run any more: %v", err)
		}
	})
	return func() {
		// Whoever waits for an answer sees the network end.
		_ = server.Close()
		serving.Wait()
	}
}

// follow does what an order says.
func follow(w http.ResponseWriter, r *http.Request, do func(*order) error) {
	var given order
	decoder := json.NewDecoder(io.LimitReader(r.Body, maxOrderBytes))
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&given)
	if err == nil {
		err = do(&given)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// refuse says why an order is not followed.
func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusConflict)
	_ = json.NewEncoder(w).Encode(refusal{err.Error()})
}

// strike has a fault happen to all validators of an order, or to none.
func (g *group) strike(given *order) error {
	if given.DurationMilliseconds <= 0 {
		return errors.New("the duration of a fault must be positive")
	}
	ordered, err := g.named(given.Validators)
	if err != nil {
		return err
	}
	g.striking.Lock()
	defer g.striking.Unlock()
	if name := g.kept.hits(given.Validators); name != "" {
		return fmt.Errorf("validator %s has a fault already", name)
	}
	if fault.IsKeptByNodes(given.Action) {
		return g.impair(given, ordered)
	}
	for i, supervisor := range ordered {
		if err := supervisor.strike(given); err != nil {
			for _, struck := range ordered[:i] {
				struck.lift()
			}
			return err
		}
	}
	return nil
}

// lift ends the faults of all validators of an order.
func (g *group) lift(given *order) error {
	ordered, err := g.named(given.Validators)
	if err != nil {
		return err
	}
	g.striking.Lock()
	defer g.striking.Unlock()
	// A validator has one fault at a time.
	if g.kept.hits(given.Validators) != "" {
		return g.repair()
	}
	for _, supervisor := range ordered {
		supervisor.lift()
	}
	return nil
}

// named are the validators that have these names.
func (g *group) named(names []string) ([]*supervisor, error) {
	byName := make(map[string]*supervisor, len(g.supervisors))
	for _, supervisor := range g.supervisors {
		byName[supervisor.name()] = supervisor
	}
	ordered := make([]*supervisor, 0, len(names))
	for _, name := range names {
		supervisor, ok := byName[name]
		if !ok {
			return nil, fmt.Errorf("there is no validator %s", name)
		}
		ordered = append(ordered, supervisor)
	}
	return ordered, nil
}

// keeper is whoever keeps the validators of a network running, as other programs of
// this machine see it.
type keeper struct {
	client *http.Client
	// program is what the fault that it is asked for has take the place of nodes; nil if
	// there is none.
	program *fault.Program
}

func newKeeper(dir statedir.NetworkDir) *keeper {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", dir.Control())
	}
	// The keeper closes what is idle, and an order must not meet that.
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true}
	return &keeper{client: &http.Client{Transport: transport, Timeout: controlTimeout}}
}

// Strike has a fault happen to validators.
func (k *keeper) Strike(ctx context.Context, validators []string, spec *v1alpha1.FaultSpec, orders []fault.Order) error {
	given := &order{
		Validators: validators, Action: spec.Action, Nodes: orders, Program: k.program,
		DurationMilliseconds: (time.Duration(spec.DurationSeconds) * time.Second).Milliseconds(),
	}
	if spec.Kill != nil {
		given.Restart = spec.Kill.Restart
	}
	return k.order(ctx, strikePath, given)
}

// Lift ends the faults of validators.
func (k *keeper) Lift(ctx context.Context, validators []string) error {
	return k.order(ctx, liftPath, &order{Validators: validators})
}

// order asks something of the keeper.
func (k *keeper) order(ctx context.Context, path string, given *order) error {
	content, err := json.Marshal(given)
	if err != nil {
		return err
	}
	// The host is the socket, whatever it is called.
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://keeper"+path, bytes.NewReader(content))
	if err != nil {
		return err
	}
	response, err := k.client.Do(request)
	if err != nil {
		return fmt.Errorf("ask the program that runs the network: %w", err)
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil
	}
	return refused(response)
}

// refused is why an order was not followed, as the answer says it.
func refused(response *http.Response) error {
	var said refusal
	if err := json.NewDecoder(io.LimitReader(response.Body, maxOrderBytes)).Decode(&said); err != nil {
		return fmt.Errorf("the program that runs the network answers %s", response.Status)
	}
	return errors.New(said.Error)
}
