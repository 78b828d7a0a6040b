// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/shardyard/shardyard/internal/trace"
	"github.com/shardyard/shardyard/internal/tracestore"
)

const (
	// mostTraces are asked for unless fewer are wanted. They have about 30 MB for a network
	// of four nodes.
	mostTraces = 1000
	// storeTimeout bounds how long a store may take.
	storeTimeout = 2 * time.Minute
)

// storeOptions say which store of traces is meant, if any.
type storeOptions struct {
	jaeger, tempo string
	since         time.Duration
}

func (o *storeOptions) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.jaeger, "jaeger", "", "take the spans from the Jaeger whose query service is at this URL")
	flags.StringVar(&o.tempo, "tempo", "", "take the spans from the Tempo at this URL")
	flags.DurationVar(&o.since, "since", 15*time.Minute, "of Jaeger or Tempo, take the traces that began so long ago or later")
}

// store is the one that is meant; nil for none.
func (o *storeOptions) store() (tracestore.Store, error) {
	switch {
	case o.jaeger != "" && o.tempo != "":
		return nil, errors.New("--jaeger and --tempo exclude each other")
	case o.jaeger != "":
		return tracestore.Jaeger(o.jaeger)
	case o.tempo != "":
		return tracestore.Tempo(o.tempo)
	}
	return nil, nil
}

// readStore reads what a store has of the network, and says on notes when it may have more
// that is meant.
func (options *traceOptions) readStore(ctx context.Context, store tracestore.Store, notes io.Writer) ([]trace.Span, error) {
	since := options.kept.since
	if since <= 0 {
		return nil, fmt.Errorf("--since must be positive, is %s", since)
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	most, now := options.mostTraces(), time.Now()
	answer, err := store.Find(ctx, tracestore.Query{Network: options.network, From: now.Add(-since), Until: now, Most: most})
	if err != nil {
		return nil, err
	}
	// With spans of others among them, there are fewer of this network than were asked for.
	if answer.Traces >= most && options.tracesOf(answer.Spans) != options.last {
		_, err = fmt.Fprintf(notes, "%d traces, as many as were asked for: there may be more of the last %s\n", answer.Traces, since)
	}
	return answer.Spans, err
}

// mostTraces is how many traces a store is asked for. The last heights of a range need not
// be the newest ones.
func (options *traceOptions) mostTraces() int {
	if options.last == 0 || options.to != math.MaxUint64 {
		return mostTraces
	}
	return options.last
}

// tracesOf is how many of a store's traces are of the network's newest chain, or of that
// of all if none is named.
func (options *traceOptions) tracesOf(spans []trace.Span) int {
	newest, _ := trace.NewestChain(slices.DeleteFunc(slices.Clone(spans), func(span trace.Span) bool {
		return options.network != "" && span.Network != options.network
	}))
	heights := map[uint64]bool{}
	for _, span := range newest {
		heights[span.Height] = true
	}
	return len(heights)
}
