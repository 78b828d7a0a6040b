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
)

// borrowPath is the path of the socket by which another program of the same user has
// the validators carry its load instead of their own, for as long as it stays connected:
// it needs not be there any more to give them back.
const borrowPath = "/borrow"

// lending says whether somebody else tells the validators their load.
type lending struct {
	mu       sync.Mutex
	borrowed bool
	// changed is closed when that is no longer so; nil before anybody asked.
	changed chan struct{}
	// driving is held while the validators are told their own load.
	driving sync.Mutex
}

// state says whether somebody else tells the validators their load, and what is closed
// when that changes.
func (l *lending) state() (borrowed bool, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	return l.borrowed, l.changed
}

// set takes note of who tells the validators their load; false when it is so already.
func (l *lending) set(borrowed bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.borrowed == borrowed {
		return false
	}
	l.borrowed = borrowed
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return true
}

// borrow lends the validators to whoever asks, until the connection or the network ends.
func (g *group) borrow(ctx context.Context, w http.ResponseWriter, r *http.Request) {
	if err := g.lend(); err != nil {
		refuse(w, err)
		return
	}
	g.console.Printf("a benchmark tells the validators their load")
	defer func() {
		g.lending.set(false)
		g.console.Printf("the validators have their own load again")
	}()
	// What they are just told of their own load comes before what the benchmark tells them.
	g.lending.driving.Lock()
	g.lending.driving.Unlock() //nolint:staticcheck // It was waited for.
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

// lend lends the validators. The error is why they cannot be measured.
func (g *group) lend() error {
	g.striking.Lock()
	defer g.striking.Unlock()
	for _, supervisor := range g.supervisors {
		if supervisor.isStruck() || g.kept.hits([]string{supervisor.name()}) != "" {
			return fmt.Errorf("validator %s has a fault", supervisor.name())
		}
		if state := supervisor.current(); !state.ready {
			return fmt.Errorf("validator %s is not ready", supervisor.name())
		}
	}
	if !g.lending.set(true) {
		return errors.New("it carries the load of another benchmark")
	}
	return nil
}

// drive has the producers sign the load of the network whenever nobody borrows it. It
// begins with its first step again after that.
func (r *run) drive(ctx context.Context, load *loading.Load) {
	begin := r.window.Begin
	for ctx.Err() == nil {
		r.group.lending.driving.Lock()
		borrowed, changed := r.group.lending.state()
		driven, cancel := context.WithCancel(ctx)
		var waiting sync.WaitGroup
		waiting.Go(func() {
			select {
			case <-changed:
				cancel()
			case <-driven.Done():
			}
		})
		if borrowed {
			r.group.lending.driving.Unlock()
			<-driven.Done()
			// Whatever the validators sign now, they were told by somebody else.
			r.load, begin = newLoadDriver(r.group, load, true), time.Now()
		} else {
			r.load.Run(driven, begin)
			r.group.lending.driving.Unlock()
		}
		cancel()
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
		return nil, nil, refused(response)
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
