// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/prometheus/prometheus/promql"

	"github.com/shardyard/shardyard/internal/trace"
)

// Means are, by node, those of what a histogram of seconds counted in a window before
// now. A node that counted nothing has none.
func (s *Store) Means(ctx context.Context, network, histogram string, window time.Duration) (map[string]trace.Mean, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	increase := func(suffix string) string {
		return fmt.Sprintf("sum by (node) (increase(%s_%s{network=%q}[%ds]))", histogram, suffix, network, int(window.Seconds()))
	}
	counts, err := s.byNode(ctx, increase("count"))
	if err != nil {
		return nil, err
	}
	// In one expression, so that both sides are of the same scrapes.
	seconds, err := s.byNode(ctx, increase("sum")+" / "+increase("count"))
	if err != nil {
		return nil, err
	}
	means := map[string]trace.Mean{}
	for node, mean := range seconds {
		if of := int(math.Round(counts[node])); of > 0 {
			means[node] = trace.Mean{Milliseconds: 1_000 * mean, Of: of}
		}
	}
	return means, nil
}

// byNode evaluates an expression now.
func (s *Store) byNode(ctx context.Context, expression string) (map[string]float64, error) {
	query, err := s.engine.NewInstantQuery(ctx, s.db, nil, expression, time.Now())
	if err != nil {
		return nil, err
	}
	defer query.Close()
	vector, err := query.Exec(ctx).Vector()
	if err != nil {
		return nil, err
	}
	return valuesByNode(vector), nil
}

func valuesByNode(vector promql.Vector) map[string]float64 {
	values := map[string]float64{}
	for _, sample := range vector {
		values[sample.Metric.Get("node")] = sample.F
	}
	return values
}
