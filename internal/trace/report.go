// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Report sums up what the blocks of some heights waited for.
type Report struct {
	// FirstHeight and LastHeight are of the blocks with a path.
	FirstHeight uint64 `json:"firstHeight"`
	LastHeight  uint64 `json:"lastHeight"`
	// Blocks is how many have a path.
	Blocks int `json:"blocks"`
	// Incomplete are heights of which spans are missing that a path needs.
	Incomplete []Incomplete `json:"incomplete"`
	// BlockMilliseconds is how long blocks took.
	BlockMilliseconds Figures `json:"blockMilliseconds"`
	// Phases, Spans, Shards, Nodes and Regions are what was waited for, each by
	// what was waited for the longest.
	Phases  []Row `json:"phases"`
	Spans   []Row `json:"spans"`
	Shards  []Row `json:"shards"`
	Nodes   []Row `json:"nodes"`
	Regions []Row `json:"regions"`
	// Places are phases by shard, node and region together.
	Places []Row `json:"places"`
	// Paths are those of the blocks, in their order.
	Paths []*Path `json:"paths"`
}

// Incomplete is a height without a path.
type Incomplete struct {
	Height uint64 `json:"height"`
	Reason string `json:"reason"`
}

// Row is what blocks waited for one thing.
type Row struct {
	Phase  Phase  `json:"phase,omitempty"`
	Span   string `json:"span,omitempty"`
	Shard  *int   `json:"shard,omitempty"`
	Node   string `json:"node,omitempty"`
	Region string `json:"region,omitempty"`
	// Milliseconds is how long a block waited for it.
	Milliseconds Figures `json:"milliseconds"`
	// SharePercent is that of the time of all blocks.
	SharePercent float64 `json:"sharePercent"`
}

// Figures are percentiles over blocks.
type Figures struct {
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	Max float64 `json:"max"`
}

// key is what a row is of.
type key struct {
	phase  Phase
	span   string
	shard  int
	node   string
	region string
}

// NewReport sums up the spans of one chain.
func NewReport(spans []Span) *Report {
	byHeight := map[uint64][]Span{}
	for _, span := range spans {
		byHeight[span.Height] = append(byHeight[span.Height], span)
	}
	report := &Report{Incomplete: []Incomplete{}, Paths: []*Path{}}
	for _, height := range slices.Sorted(maps.Keys(byHeight)) {
		path, err := CriticalPath(byHeight[height], func(height uint64) []Span { return byHeight[height] })
		if err != nil {
			report.Incomplete = append(report.Incomplete, Incomplete{Height: height, Reason: err.Error()})
			continue
		}
		report.Paths = append(report.Paths, path)
	}
	report.sum()
	return report
}

func (r *Report) sum() {
	r.Blocks = len(r.Paths)
	if r.Blocks == 0 {
		return
	}
	r.FirstHeight, r.LastHeight = r.Paths[0].Height, r.Paths[r.Blocks-1].Height
	durations := make([]time.Duration, 0, r.Blocks)
	for _, path := range r.Paths {
		durations = append(durations, path.Duration())
	}
	r.BlockMilliseconds = figures(durations)

	r.Phases = r.by(func(s Segment) []key { return []key{{phase: s.Phase, shard: NoShard}} })
	r.Spans = r.by(func(s Segment) []key { return []key{{phase: s.Phase, span: s.Span, shard: NoShard}} })
	r.Shards = r.by(func(s Segment) []key {
		if s.Shard == NoShard {
			return nil
		}
		return []key{{shard: s.Shard}}
	})
	r.Nodes = r.by(func(s Segment) []key { return ends(s.Node, s.FromNode, func(k *key, node string) { k.node = node }) })
	r.Regions = r.by(func(s Segment) []key {
		return ends(s.Region, s.FromRegion, func(k *key, region string) { k.region = region })
	})
	r.Places = r.by(func(s Segment) []key {
		return []key{{phase: s.Phase, span: s.Span, shard: s.Shard, node: s.Node, region: s.Region}}
	})
}

// ends are the places that a segment is of: what goes from one to another is of
// both.
func ends(to, from string, set func(*key, string)) []key {
	places := []string{to}
	if from != "" && from != to {
		places = append(places, from)
	}
	keys := make([]key, 0, len(places))
	for _, place := range places {
		k := key{shard: NoShard}
		set(&k, place)
		keys = append(keys, k)
	}
	return keys
}

// by sums segments up by what they are of.
func (r *Report) by(keysOf func(Segment) []key) []Row {
	waited := map[key][]time.Duration{}
	var total time.Duration
	for i, path := range r.Paths {
		total += path.Duration()
		for _, segment := range path.Segments {
			for _, key := range keysOf(segment) {
				if waited[key] == nil {
					waited[key] = make([]time.Duration, len(r.Paths))
				}
				waited[key][i] += segment.Duration()
			}
		}
	}
	keys := make([]key, 0, len(waited))
	sums := map[key]time.Duration{}
	for key, durations := range waited {
		keys = append(keys, key)
		for _, duration := range durations {
			sums[key] += duration
		}
	}
	slices.SortFunc(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a.phase, b.phase), cmp.Compare(a.span, b.span),
			cmp.Compare(a.shard, b.shard), cmp.Compare(a.node, b.node), cmp.Compare(a.region, b.region))
	})
	rows := make([]Row, 0, len(keys))
	for _, key := range keys {
		row := Row{Phase: key.phase, Span: key.span, Node: key.node, Region: key.region, Milliseconds: figures(waited[key])}
		if key.shard != NoShard {
			row.Shard = &key.shard
		}
		if total > 0 {
			row.SharePercent = 100 * float64(sums[key]) / float64(total)
		}
		rows = append(rows, row)
	}
	return rows
}

// figures are the percentiles of durations, each one of these.
func figures(durations []time.Duration) Figures {
	sorted := slices.Sorted(slices.Values(durations))
	at := func(percent int) float64 {
		rank := (len(sorted)*percent + 99) / 100
		return float64(sorted[max(rank, 1)-1]) / float64(time.Millisecond)
	}
	return Figures{P50: at(50), P95: at(95), Max: at(100)}
}

// label is what a row is of, in words.
func (r Row) label() string {
	var words []string
	add := func(word, value string) {
		if value != "" {
			words = append(words, word+value)
		}
	}
	add("", string(r.Phase))
	add("", r.Span)
	if r.Shard != nil {
		add("shard ", strconv.Itoa(*r.Shard))
	}
	add("", r.Node)
	add("", r.Region)
	label := ""
	for i, word := range words {
		if i > 0 {
			label += ", "
		}
		label += word
	}
	return label
}
