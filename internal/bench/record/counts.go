// SPDX-License-Identifier: Apache-2.0

package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
)

// countsTimeout is how long a node may take to tell its metrics.
const countsTimeout = 5 * time.Second

// counters are the counters of nodes that a record keeps, each with the label that
// tells its kinds apart; without one, there are none.
var counters = map[string]string{
	result.TransfersMetric:                    "",
	result.SentMetric:                         "",
	result.ReceivedMetric:                     "",
	result.ChecksMetric:                       "result",
	"runtime_storage_syncs_total":             "",
	"shardnode_body_recoveries_total":         "result",
	"shardnode_chunks_limited_total":          "cause",
	"shardnode_chunks_produced_total":         "",
	"shardnode_http_requests_total":           "",
	result.RefusalsMetric:                     "reason",
	"shardnode_process_allocated_bytes_total": "",
	"shardnode_process_cpu_seconds_total":     "",
	result.FailuresMetric:                     "reason",
	"shardnode_proposed_missed_chunks_total":  "reason",
	"shardnode_requests_refused_total":        "channel",
	"shardnode_requests_unanswered_total":     "channel",
}

// histograms are those that a record keeps.
var histograms = []string{
	result.ExecutionMetric, result.FinalityLagMetric, result.WitnessBytesMetric,
	result.WitnessMakeMetric, result.WitnessReceiveMetric, result.WitnessValidationMetric,
}

// Teller is a node that tells its metrics.
type Teller struct {
	// Name is the node's.
	Name    string
	Metrics interface {
		Metrics(ctx context.Context) (chain.Metrics, error)
		CountersOf(ctx context.Context, names ...string) (chain.Metrics, error)
	}
}

// counted is what nodes had counted at one time.
type counted struct {
	atMs       int64
	counters   map[series]float64
	histograms map[string]*result.Histogram
	// nodes are the counters of each node that told them, by its name, and how much each of
	// its histograms has observed.
	nodes map[string]map[series]float64
	// untold is why a node did not tell; nil if all did.
	untold error
}

// series is one kind of a counter.
type series struct {
	metric, kind string
}

// Count asks all nodes for what they counted where the measurement begins, and
// where it ends; and, after each sample, why transfers failed up to then.
func (r *Recorder) Count(ctx context.Context, at time.Time, nodes []Teller) {
	r.countFailures(ctx, at, nodes, r.countEdge(ctx, at, nodes))
}

// countEdge asks all nodes for everything at an edge of the measurement; nil at other
// times.
func (r *Recorder) countEdge(ctx context.Context, at time.Time, nodes []Teller) *counted {
	all := func(ctx context.Context, node Teller) (chain.Metrics, error) { return node.Metrics.Metrics(ctx) }
	switch window := r.run.Window; {
	case window.BeginMs == 0 || at.UnixMilli() < window.BeginMs:
	case r.begin == nil:
		r.begin = ask(ctx, at, countsTimeout, nodes, all)
		return r.begin
	case r.end == nil && r.Settled() && (r.Complete() || at.UnixMilli() >= window.EndMs):
		r.end = ask(ctx, at, countsTimeout, nodes, all)
		return r.end
	}
	return nil
}

// ask asks all at the same time.
func ask(
	ctx context.Context, at time.Time, timeout time.Duration, nodes []Teller,
	what func(ctx context.Context, node Teller) (chain.Metrics, error),
) *counted {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	told := make([]chain.Metrics, len(nodes))
	untold := make([]error, len(nodes))
	var asked sync.WaitGroup
	for i := range nodes {
		asked.Go(func() {
			var err error
			if told[i], err = what(ctx, nodes[i]); err != nil {
				untold[i] = fmt.Errorf("%s: %w", nodes[i].Name, err)
			}
		})
	}
	asked.Wait()
	all := &counted{
		atMs: at.UnixMilli(), untold: firstOf(untold),
		counters: map[series]float64{}, histograms: map[string]*result.Histogram{},
		nodes: map[string]map[series]float64{},
	}
	for i, metrics := range told {
		if metrics != nil {
			all.add(nodes[i].Name, metrics)
		}
	}
	return all
}

// firstOf is the first of errors, and how many more there are; nil if there are
// none.
func firstOf(all []error) error {
	told := slices.DeleteFunc(all, func(err error) bool { return err == nil })
	switch len(told) {
	case 0:
		return nil
	case 1:
		return told[0]
	default:
		return fmt.Errorf("%w, and so of %d more nodes", told[0], len(told)-1)
	}
}

// add adds what one node counted.
func (c *counted) add(node string, metrics chain.Metrics) {
	own := map[series]float64{}
	c.nodes[node] = own
	for name, label := range counters {
		for _, metric := range metrics[name].GetMetric() {
			// A number that is none would spread to all sums.
			if count := valueOf(metric); !math.IsNaN(count) {
				own[series{metric: name, kind: labelOf(metric, label)}] += count
			}
		}
	}
	for kind, count := range own {
		c.counters[kind] += count
	}
	for _, name := range histograms {
		for _, metric := range metrics[name].GetMetric() {
			if observed := metric.GetHistogram(); observed != nil && !math.IsNaN(observed.GetSampleSum()) {
				c.observe(name, observed)
				own[series{metric: name}] += float64(observed.GetSampleCount())
			}
		}
	}
}

// observe adds one histogram, whose buckets count what is in those before, too.
func (c *counted) observe(name string, observed *dto.Histogram) {
	sum := c.histograms[name]
	if sum == nil {
		sum = &result.Histogram{Metric: name}
		c.histograms[name] = sum
	}
	sum.Count += float64(observed.GetSampleCount())
	sum.Sum += observed.GetSampleSum()
	var before uint64
	for _, bucket := range observed.GetBucket() {
		bound, upTo := bucket.GetUpperBound(), bucket.GetCumulativeCount()
		if math.IsInf(bound, 0) || math.IsNaN(bound) {
			continue
		}
		at, found := slices.BinarySearchFunc(sum.Buckets, bound, func(bucket result.Bucket, bound float64) int {
			return cmp.Compare(bucket.Bound, bound)
		})
		if !found {
			sum.Buckets = slices.Insert(sum.Buckets, at, result.Bucket{Bound: bound})
		}
		sum.Buckets[at].Count += float64(upTo) - float64(before)
		before = upTo
	}
}

// valueOf is what a counter says: one whose type is told by another name than its
// own has none.
func valueOf(metric *dto.Metric) float64 {
	if counter := metric.GetCounter(); counter != nil {
		return counter.GetValue()
	}
	return metric.GetUntyped().GetValue()
}

func labelOf(metric *dto.Metric, name string) string {
	for _, label := range metric.GetLabel() {
		if name != "" && label.GetName() == name {
			return label.GetValue()
		}
	}
	return ""
}

// counts are what was counted over the measurement; nil when nobody was asked, and
// with why when it is not known.
func (r *Recorder) counts() (*result.Counts, error) {
	if r.begin == nil {
		return nil, nil
	}
	if r.end == nil {
		return nil, errors.New("they were not asked at its end")
	}
	if untold := cmp.Or(r.begin.untold, r.end.untold); untold != nil {
		return nil, untold
	}
	if err := r.begin.anew(r.end); err != nil {
		return nil, err
	}
	made := &result.Counts{BeginMs: r.begin.atMs, EndMs: r.end.atMs}
	kinds := slices.SortedFunc(maps.Keys(r.end.counters), func(a, b series) int {
		return cmp.Or(cmp.Compare(a.metric, b.metric), cmp.Compare(a.kind, b.kind))
	})
	for _, kind := range kinds {
		count := r.end.counters[kind] - r.begin.counters[kind]
		made.Counters = append(made.Counters, result.Counter{Metric: kind.metric, Kind: kind.kind, Count: count})
	}
	for _, name := range slices.Sorted(maps.Keys(r.end.histograms)) {
		rise, ok := rise(r.begin.histograms[name], r.end.histograms[name])
		if !ok {
			return nil, errBeganAnew
		}
		made.Histograms = append(made.Histograms, *rise)
	}
	return made, nil
}

var errBeganAnew = errors.New("counters began anew")

// anew says whose counters are less at a later time: what others count meanwhile hides it
// in the sums.
func (c *counted) anew(later *counted) error {
	for _, name := range slices.Sorted(maps.Keys(c.nodes)) {
		for kind, count := range c.nodes[name] {
			if later.nodes[name][kind] < count {
				return fmt.Errorf("%s: %w", name, errBeganAnew)
			}
		}
	}
	return nil
}

// rise is what was observed between two times; false when less than before.
func rise(begin, end *result.Histogram) (*result.Histogram, bool) {
	if begin == nil {
		return end, true
	}
	observed := &result.Histogram{Metric: end.Metric, Count: end.Count - begin.Count, Sum: end.Sum - begin.Sum}
	if observed.Count < 0 || len(begin.Buckets) != len(end.Buckets) {
		return nil, false
	}
	for i, bucket := range end.Buckets {
		count := bucket.Count - begin.Buckets[i].Count
		if bucket.Bound != begin.Buckets[i].Bound || count < 0 {
			return nil, false
		}
		observed.Buckets = append(observed.Buckets, result.Bucket{Bound: bucket.Bound, Count: count})
	}
	return observed, true
}
