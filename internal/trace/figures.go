// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Mean is the mean of some times.
type Mean struct {
	Milliseconds float64 `json:"milliseconds"`
	// Of is how many times it is the mean of; of none there is no mean.
	Of int `json:"of"`
}

// NodeFigures are what the spans of some heights say of how fast a node is. What
// no span says is nil.
type NodeFigures struct {
	Node, Region string
	// Executing is an execution of a chunk.
	Executing *Mean
	// Storing is making something durable, once.
	Storing *Mean
	// Travelling is a way between this node and another one, beyond the delay of the
	// link: from when one begins to send a chunk until the other hears of it. It is
	// the median over the other nodes, so a way that is long to few of them does not
	// show.
	Travelling *Mean
	// EndorsingLate is how much later it endorses a chunk than most who endorse it.
	EndorsingLate *Mean
}

// Delay is how long what passes between two regions takes by their link.
type Delay func(from, to string) time.Duration

// WayFigures are how long it takes from one region to another, or within one, in
// both directions together and beyond the delay of their link.
type WayFigures struct {
	Between [2]string
	Mean    Mean
}

// NodesOf is what the spans of some heights say of the nodes and of the ways between
// their regions, in the order of their names.
func NodesOf(spans []Span, delay Delay) ([]NodeFigures, []WayFigures) {
	nodes := map[string]*NodeFigures{}
	sums := sums{}
	byHeight := map[uint64][]Span{}
	for _, span := range spans {
		if nodes[span.Node] == nil {
			nodes[span.Node] = &NodeFigures{Node: span.Node, Region: span.Region}
		}
		byHeight[span.Height] = append(byHeight[span.Height], span)
		switch {
		case span.Name == "execute":
			sums.add(sumKey{what: "execute", node: span.Node}, span.End.Sub(span.Begin))
		case kinds[span.Name].phase == Persistence:
			sums.add(sumKey{what: "store", node: span.Node}, span.End.Sub(span.Begin))
		}
	}
	for _, spans := range byHeight {
		sums.addWays(spans, delay)
		sums.addEndorsements(spans)
	}
	figures := make([]NodeFigures, 0, len(nodes))
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		node := nodes[name]
		node.Executing = sums.mean(sumKey{what: "execute", node: name})
		node.Storing = sums.mean(sumKey{what: "store", node: name})
		node.EndorsingLate = sums.mean(sumKey{what: "endorse", node: name})
		node.Travelling = sums.toMost(name, slices.Sorted(maps.Keys(nodes)))
		figures = append(figures, *node)
	}
	return figures, sums.ways()
}

// sumKey is what times are summed up of.
type sumKey struct {
	what string
	// node is whose they are; with other, they are of the way between the two.
	node, other string
	// regions are those of a way between regions.
	regions [2]string
}

type sum struct {
	total time.Duration
	of    int
}

type sums map[sumKey]sum

func (s sums) add(key sumKey, took time.Duration) {
	s[key] = sum{s[key].total + max(took, 0), s[key].of + 1}
}

func (s sums) mean(key sumKey) *Mean {
	sum, ok := s[key]
	if !ok {
		return nil
	}
	return &Mean{Milliseconds: milliseconds(sum.total) / float64(sum.of), Of: sum.of}
}

// addWays adds how long it took the chunks that were sent at one height to be heard of,
// from when their producers began to send them. Blocks do not count: a leader makes its
// own durable before it sends it.
func (s sums) addWays(spans []Span, delay Delay) {
	for _, sent := range spans {
		if sent.Name != "distribute" {
			continue
		}
		for _, heard := range spans {
			if (heard.Name != "receive_body" && heard.Name != "receive_part") || heard.Shard != sent.Shard || heard.Node == sent.Node {
				continue
			}
			took := heard.Begin.Sub(sent.Begin) - delay(sent.Region, heard.Region)
			s.add(sumKey{what: "way", node: sent.Node, other: heard.Node}, took)
			s.add(sumKey{what: "way", node: heard.Node, other: sent.Node}, took)
			s.add(sumKey{what: "way", regions: ordered(sent.Region, heard.Region)}, took)
		}
	}
}

func ordered(a, b string) [2]string {
	return [2]string{min(a, b), max(a, b)}
}

// addEndorsements adds how late the chunks of one height were endorsed.
func (s sums) addEndorsements(spans []Span) {
	byShard := map[int][]Span{}
	for _, span := range spans {
		if span.Name == "endorse" {
			byShard[span.Shard] = append(byShard[span.Shard], span)
		}
	}
	for _, endorsed := range byShard {
		if len(endorsed) < 2 {
			continue
		}
		slices.SortFunc(endorsed, func(a, b Span) int { return a.End.Compare(b.End) })
		most := endorsed[(len(endorsed)-1)/2].End
		for _, span := range endorsed {
			s.add(sumKey{what: "endorse", node: span.Node}, span.End.Sub(most))
		}
	}
}

// toMost is the median of the ways between a node and each of the others.
func (s sums) toMost(name string, others []string) *Mean {
	var ways []Mean
	of := 0
	for _, other := range others {
		if way := s.mean(sumKey{what: "way", node: name, other: other}); way != nil {
			ways = append(ways, *way)
			of += way.Of
		}
	}
	if len(ways) == 0 {
		return nil
	}
	slices.SortFunc(ways, func(a, b Mean) int { return cmp.Compare(a.Milliseconds, b.Milliseconds) })
	return &Mean{Milliseconds: ways[(len(ways)-1)/2].Milliseconds, Of: of}
}

func (s sums) ways() []WayFigures {
	ways := []WayFigures{}
	for key := range s {
		if key.regions[0] != "" {
			ways = append(ways, WayFigures{Between: key.regions, Mean: *s.mean(key)})
		}
	}
	slices.SortFunc(ways, func(a, b WayFigures) int { return slices.Compare(a.Between[:], b.Between[:]) })
	return ways
}
