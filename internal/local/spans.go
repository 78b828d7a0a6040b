// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/traces"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/otlp"
	"github.com/shardyard/shardyard/internal/trace"
)

// keptSpanBytes is how much is kept of a run's spans, and as much again of what
// came before that: of a small network at every height, about half an hour.
const keptSpanBytes = 256 << 20

// spanTimeout bounds what a sender that hangs costs.
const spanTimeout = 10 * time.Second

// ReadSpans reads what a run of a network, which may be going on, has kept of its
// nodes' spans.
func ReadSpans(stateDir, network string) ([]trace.Span, error) {
	return otlp.ReadKept(statedir.NetworkDir(filepath.Join(stateDir, network)).Spans())
}

// collector takes the spans of a network's nodes and keeps them in its folder.
type collector struct {
	listener net.Listener
	server   *http.Server
	file     *otlp.File
	// recent are those that the page shows.
	recent  *traces.Recent
	serving sync.WaitGroup
}

// collectSpans begins to take spans of so many of 10,000 heights; nil for none.
func collectSpans(ctx context.Context, dir statedir.NetworkDir, sampleBasisPoints int32) (*collector, error) {
	if sampleBasisPoints == 0 {
		return nil, nil
	}
	file, err := otlp.Create(dir.Spans(), keptSpanBytes)
	if err != nil {
		return nil, fmt.Errorf("keep spans: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, errors.Join(fmt.Errorf("take spans: %w", err), file.Close())
	}
	c := &collector{
		listener: listener,
		file:     file,
		recent:   traces.NewRecent(sampleBasisPoints),
	}
	c.server = &http.Server{Handler: otlp.Handler(c.keep), ReadTimeout: spanTimeout, WriteTimeout: spanTimeout}
	// It ends when it is closed, and not before.
	c.serving.Go(func() { _ = c.server.Serve(listener) })
	return c, nil
}

// tracing is what the nodes are told; nil if there is no collector.
func (c *collector) tracing() *nodeconfig.Tracing {
	if c == nil {
		return nil
	}
	return &nodeconfig.Tracing{Endpoint: "http://" + c.listener.Addr().String(), SampleBasisPoints: c.recent.SampleBasisPoints}
}

func (c *collector) keep(request []byte, spans []trace.Span) error {
	c.recent.Add(spans)
	return c.file.Append(request)
}

// traces are those of the newest blocks; nil if there is no collector.
func (c *collector) traces() *traces.Recent {
	if c == nil {
		return nil
	}
	return c.recent
}

// close takes no more spans. What was kept stays.
func (c *collector) close() error {
	if c == nil {
		return nil
	}
	err := c.server.Close()
	c.serving.Wait()
	return errors.Join(err, c.file.Close())
}
