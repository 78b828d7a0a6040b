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
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
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
	controlTimeout = supervision.OrderTimeout
	maxOrderBytes  = 1 << 20
)

// refusal is the answer to an order that was not followed.
type refusal struct {
	Error string `json:"error"`
}

// obey begins to take orders for a group. The function that it returns ends that. A
// network runs even if no faults can happen to it.
func (n *network) obey(ctx context.Context, group *supervision.Group) (cease func()) {
	path := n.Dir.Control()
	// The lock of the network says that nobody else listens.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		group.Console.Printf("faults and benchmarks cannot be run: %v", err)
		return func() {}
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		group.Console.Printf("faults and benchmarks cannot be run: %v", err)
		return func() {}
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+strikePath, func(w http.ResponseWriter, r *http.Request) { follow(w, r, group.Strike) })
	mux.HandleFunc("POST "+liftPath, func(w http.ResponseWriter, r *http.Request) { follow(w, r, group.Lift) })
	mux.HandleFunc("POST "+borrowPath, func(w http.ResponseWriter, r *http.Request) { lend(ctx, group, w, r) })
	server := &http.Server{Handler: mux, ReadTimeout: controlTimeout, WriteTimeout: controlTimeout}
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			group.Console.Printf("faults and benchmarks cannot be run any more: %v", err)
		}
	})
	return func() {
		// Whoever waits for an answer sees the network end.
		_ = server.Close()
		serving.Wait()
	}
}

// follow does what an order says.
func follow(w http.ResponseWriter, r *http.Request, do func(*supervision.Order) error) {
	var given supervision.Order
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
	given := &supervision.Order{
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
	return k.order(ctx, liftPath, &supervision.Order{Validators: validators})
}

// order asks something of the keeper.
func (k *keeper) order(ctx context.Context, path string, given *supervision.Order) error {
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
	return &faulting.RefusedError{Reason: refused(response)}
}

// refused is why an order was not followed, as the answer says it.
func refused(response *http.Response) string {
	var said refusal
	if err := json.NewDecoder(io.LimitReader(response.Body, maxOrderBytes)).Decode(&said); err != nil {
		return "the program that runs the network answers " + response.Status
	}
	return said.Error
}
