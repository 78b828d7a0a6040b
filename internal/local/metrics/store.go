// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/tsdb"
	"github.com/prometheus/prometheus/util/compression"
)

const (
	// retention is how long samples are kept.
	retention = 6 * time.Hour

	// maxBlockBytes bounds what is kept on disk of samples that are no longer in
	// memory. The others are in a log there as well.
	maxBlockBytes = 256 << 20

	// blockDuration is how long samples stay in memory. A short one keeps memory,
	// and the log that is read when a network is resumed, small.
	blockDuration = 10 * time.Minute

	// logSegmentBytes is the least that the log of samples can shrink by.
	logSegmentBytes = 4 << 20

	// stripes is how many locks the series in memory have: as many as a network
	// of some nodes needs, not a data centre.
	stripes = 1 << 8
)

// maxExemplars is how many exemplars are kept in memory, the newest: some megabytes. Of a
// small network with every height traced they are of some minutes, for about as long as
// the traces that they name can be looked at.
const maxExemplars = 20_000

const (
	// maxSamples bounds the memory of a query.
	maxSamples = 5_000_000

	// queryTimeout bounds the time of a query.
	queryTimeout = 20 * time.Second

	// lookback is how old the last sample of a series may be that a query finds.
	// Series of a node that is down end at once.
	lookback = 5 * time.Minute
)

// Store keeps samples below a folder, and evaluates queries about them.
type Store struct {
	db     *tsdb.DB
	engine *promql.Engine
}

// OpenStore opens the store of a folder, which it makes if it is not there. No
// other process may have it open.
func OpenStore(dir string) (*Store, error) {
	options := tsdb.DefaultOptions()
	options.RetentionDuration = retention.Milliseconds()
	options.MaxBytes = maxBlockBytes
	options.MinBlockDuration = blockDuration.Milliseconds()
	options.MaxBlockDuration = blockDuration.Milliseconds()
	options.WALSegmentSize = logSegmentBytes
	options.WALCompression = compression.Snappy
	options.StripeSize = stripes
	options.EnableExemplarStorage = true
	options.MaxExemplars = maxExemplars
	// Whoever opens the folder holds the lock of the network.
	options.NoLockfile = true
	db, err := tsdb.Open(dir, silent(), prometheus.NewRegistry(), options, nil)
	if err != nil {
		return nil, fmt.Errorf("open the metrics of %s: %w", dir, err)
	}
	engine := promql.NewEngine(promql.EngineOpts{
		Logger:                   silent(),
		MaxSamples:               maxSamples,
		Timeout:                  queryTimeout,
		LookbackDelta:            lookback,
		NoStepSubqueryIntervalFn: func(int64) int64 { return time.Second.Milliseconds() },
		EnableAtModifier:         true,
		EnableNegativeOffset:     true,
	})
	return &Store{db: db, engine: engine}, nil
}

// Close ends queries and writes what is not on disk yet.
func (s *Store) Close() error {
	if err := errors.Join(s.engine.Close(), s.db.Close()); err != nil {
		return fmt.Errorf("close the metrics: %w", err)
	}
	return nil
}

// silent is a logger for what only says how it does its work. What a user has
// to know are errors.
func silent() *slog.Logger {
	return slog.New(slog.DiscardHandler)
}
