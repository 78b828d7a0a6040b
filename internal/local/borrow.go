// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/supervision"
)

// borrowPath is the path of the socket by which another program of the same user has
// the validators carry its load instead of their own, for as long as it stays connected:
// it needs not be there any more to give them back.
const borrowPath = "/borrow"

// lend lends the validators of a group to whoever asks, until the connection or the network ends.
func lend(ctx context.Context, group *supervision.Group, w http.ResponseWriter, r *http.Request) {
	if err := group.Lend(); err != nil {
		refuse(w, err)
		return
	}
	group.Console.Printf("a benchmark tells the validators their load")
	defer func() {
		group.TakeBack()
		group.Console.Printf("the validators have their own load again")
	}()
	// What they are just told of their own load comes before what the benchmark tells them.
	group.Lending.AwaitDriver()
	// It lasts as long as the benchmark does.
	response := http.NewResponseController(w)
	if errors.Join(response.SetReadDeadline(time.Time{}), response.SetWriteDeadline(time.Time{})) != nil {
		return
	}
	w.WriteHeader(http.StatusOK)
	if response.Flush() != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-ctx.Done():
	}
}

// drive has the producers sign the load of the network whenever nobody borrows it. It
// begins with its first step again after that.
func (r *run) drive(ctx context.Context, load *loading.Load) {
	begin := r.window.Begin
	for ctx.Err() == nil {
		returned := r.group.Lending.Drive(func(lent <-chan struct{}) {
			driven, cancel := until(ctx, lent)
			defer cancel()
			r.load.Run(driven, begin)
		})
		if returned == nil {
			continue
		}
		select {
		case <-returned:
		case <-ctx.Done():
		}
		// Whatever the validators sign now, they were told by somebody else.
		r.load, begin = newLoadDriver(r.group, load, true), time.Now()
	}
}

// until is a context that also ends when a channel is closed.
func until(ctx context.Context, closed <-chan struct{}) (bounded context.Context, cancel func()) {
	bounded, end := context.WithCancel(ctx)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		select {
		case <-closed:
			end()
		case <-bounded.Done():
		}
	})
	return bounded, func() {
		end()
		waiting.Wait()
	}
}

// Borrow has the validators carry no load of the network's own until the function is
// called that it returns. The channel is closed when the keeper ends before. Whoever is
// told to end has the validators' load to end first, so the context only ends the asking.
func (k *keeper) Borrow(ctx context.Context) (giveBack func(), lost <-chan struct{}, err error) {
	asking, asked := context.WithTimeout(ctx, controlTimeout)
	defer asked()
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	goOn := context.AfterFunc(asking, cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://keeper"+borrowPath, http.NoBody)
	if err != nil {
		cancel()
		return nil, nil, err
	}
	// There is no end to wait for.
	endless := &http.Client{Transport: k.client.Transport}
	response, err := endless.Do(request) //nolint:bodyclose // It is closed when the network is given back.
	if !goOn() {
		// It may be answered all the same.
		if err == nil {
			_ = response.Body.Close()
		}
		err = asking.Err()
	}
	if err != nil {
		cancel()
		return nil, nil, fmt.Errorf("ask the program that runs the network: %w", err)
	}
	if response.StatusCode != http.StatusOK {
		defer cancel()
		defer response.Body.Close()
		return nil, nil, errors.New(refused(response))
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}()
	return func() {
		cancel()
		<-gone
	}, gone, nil
}
