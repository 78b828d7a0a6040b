// SPDX-License-Identifier: Apache-2.0

package dashboards

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb"

	"github.com/shardyard/shardyard/internal/chain"
)

// Large is a network of which there is one node: what that exports is taken for what
// each of many would.
type Large struct {
	// Network is its name, and Regions are where its nodes take turns.
	Network string
	Regions []string
	// Shards and Producers are how many shards there are, and producers of each.
	Shards, Producers int
}

// ownMetrics is how the names of the metrics of nodes begin that Prometheus keeps.
const ownMetrics = "shardnode_"

// Fill writes the samples of all nodes between two times into the folder of a
// Prometheus, from the metrics that a node of theirs exports. Counters grow by a hundredth of
// what they are with every sample, and gauges stay. It says how many series there are.
func (l *Large) Fill(ctx context.Context, folder string, exported chain.Metrics, begin, end time.Time, every time.Duration) (int, error) {
	series := l.series(exported)
	// One block holds all of it.
	writer, err := tsdb.NewBlockWriter(slog.New(slog.DiscardHandler), folder, 4*end.Sub(begin).Milliseconds())
	if err != nil {
		return 0, err
	}
	defer writer.Close()
	for number := 0; ; number++ {
		at := begin.Add(time.Duration(number) * every)
		if at.After(end) {
			break
		}
		appender := writer.Appender(ctx)
		for i := range series {
			one := &series[i]
			if one.ref, err = appender.Append(one.ref, one.labels, at.UnixMilli(), one.at(number)); err != nil {
				return 0, fmt.Errorf("append a sample of %s: %w", one.labels, err)
			}
		}
		if err := appender.Commit(); err != nil {
			return 0, err
		}
	}
	_, err = writer.Flush(ctx)
	return len(series), err
}

// filled is a series that is filled with samples.
type filled struct {
	ref    storage.SeriesRef
	labels labels.Labels
	value  float64
	grows  bool
}

func (f *filled) at(sample int) float64 {
	if !f.grows {
		return f.value
	}
	// Whole numbers, as counters mostly are.
	return f.value + math.Ceil(f.value/100)*float64(sample)
}

// series are those of all nodes.
func (l *Large) series(families chain.Metrics) []filled {
	var all []filled
	for shard := range l.Shards {
		for producer := range l.Producers {
			node := map[string]string{
				"network": l.Network, "job": l.Network, "namespace": "default",
				"region": l.Regions[(shard*l.Producers+producer)%len(l.Regions)],
				"node":   fmt.Sprintf("%s-s%d-p%d", l.Network, shard, producer),
			}
			node["instance"] = node["node"]
			for _, name := range slices.Sorted(maps.Keys(families)) {
				if strings.HasPrefix(name, ownMetrics) {
					all = append(all, l.ofFamily(families[name], node)...)
				}
			}
		}
	}
	return all
}

// ofFamily are the series of a family of one node: those of the first shard again for
// every shard.
func (l *Large) ofFamily(family *dto.MetricFamily, node map[string]string) []filled {
	var all []filled
	for _, metric := range family.GetMetric() {
		own := map[string]string{}
		for _, pair := range metric.GetLabel() {
			own[pair.GetName()] = pair.GetValue()
		}
		maps.Copy(own, node)
		shard, ofShard := own["shard"]
		switch {
		case !ofShard:
			all = append(all, samplesOf(family, metric, own)...)
		case shard == "0":
			for shard := range l.Shards {
				own["shard"] = strconv.Itoa(shard)
				all = append(all, samplesOf(family, metric, own)...)
			}
		}
	}
	return all
}

// samplesOf are the series of one metric.
func samplesOf(family *dto.MetricFamily, metric *dto.Metric, own map[string]string) []filled {
	series := func(name string, value float64, grows bool, more ...string) filled {
		builder := labels.NewBuilder(labels.FromMap(own)).Set(model.MetricNameLabel, name)
		for i := 0; i < len(more); i += 2 {
			builder.Set(more[i], more[i+1])
		}
		return filled{labels: builder.Labels(), value: value, grows: grows}
	}
	name := family.GetName()
	switch family.GetType() {
	case dto.MetricType_COUNTER:
		return []filled{series(name, metric.GetCounter().GetValue(), true)}
	case dto.MetricType_GAUGE:
		return []filled{series(name, metric.GetGauge().GetValue(), false)}
	case dto.MetricType_HISTOGRAM:
		histogram := metric.GetHistogram()
		all := []filled{
			series(name+"_count", float64(histogram.GetSampleCount()), true),
			series(name+"_sum", histogram.GetSampleSum(), true),
		}
		for _, bucket := range histogram.GetBucket() {
			bound := strconv.FormatFloat(bucket.GetUpperBound(), 'g', -1, 64)
			all = append(all, series(name+"_bucket", float64(bucket.GetCumulativeCount()), true, model.BucketLabel, bound))
		}
		return all
	default:
		return []filled{series(name, metric.GetUntyped().GetValue(), false)}
	}
}
