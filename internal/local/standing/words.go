// SPDX-License-Identifier: Apache-2.0

package standing

import (
	"fmt"
	"slices"
	"strings"
)

// says is how a validator stands out, what is the likeliest first, and what it points
// to; empty if it does not stand out.
func (t *table) says(row *row) string {
	var says []string
	add := func(figure *figure, what string) bool {
		if !figure.standsOut() {
			return false
		}
		says = append(says, fmt.Sprintf("%s %.0f ms, its peers %.0f ms", what, figure.Milliseconds, *figure.Peers))
		return true
	}
	executes := add(row.Executing, "executing takes")
	stores := add(row.Storing, "storing takes")
	add(row.Travelling, "the way to it and from it takes")
	if !executes && !stores {
		add(row.Executed, "executing and storing take")
	}
	add(row.EndorsingLate, "it endorses late by")
	if row.MissedOutlying {
		says = append(says, fmt.Sprintf("it missed %d of its %d turns", *row.Missed, *row.Turns))
	}
	points := t.pointsTo(row)
	switch {
	case len(says) == 0:
		return points
	case points == "":
		points = "slower than its peers"
	}
	return points + ": " + strings.Join(says, "; ")
}

// pointsTo is what the figures of a validator point to; empty if to nothing.
func (t *table) pointsTo(row *row) string {
	executes, stores := row.Executing.standsOut(), row.Storing.standsOut()
	switch {
	case !row.Answers:
		return "no answer"
	case executes && (!stores || row.Executing.timesPeers() > row.Storing.timesPeers()):
		return "short of processor"
	case stores, row.Executed.standsOut() && row.executesAsPeers():
		return "slow disk"
	case row.Travelling.standsOut() && row.Executing.isLonger() && row.Storing.isLonger():
		return "short of processor, or hanging"
	case row.Travelling.standsOut():
		return "slow connections"
	case t.slowRegion(row.Region):
		return "slow connections of its region " + row.Region
	default:
		return ""
	}
}

// executesAsPeers says whether little of what a validator takes longer to execute and
// store is for executing. Spans tell that of some heights, metrics of all: a disk that is
// slow at times may be so at others.
func (r *row) executesAsPeers() bool {
	const little = 0.25
	return r.Executing != nil && r.Executing.Peers != nil && r.Executing.longer() < little*r.Executed.longer()
}

// slowRegion says whether all ways from a region stand out, and some way between others
// does not: then it is the region that is slow. Where there are only two, the ways
// within them have to tell. If validators stand out by themselves, it is them.
func (t *table) slowRegion(region string) bool {
	if slices.ContainsFunc(t.Validators, func(row row) bool { return row.Travelling.standsOut() }) {
		return false
	}
	regions := map[string]bool{}
	for _, way := range t.Ways {
		regions[way.Between[0]], regions[way.Between[1]] = true, true
	}
	slow, fastElsewhere := false, false
	for _, way := range t.Ways {
		within := way.Between[0] == way.Between[1]
		switch touches := way.Between[0] == region || way.Between[1] == region; {
		case !touches:
			fastElsewhere = fastElsewhere || !way.Outlying
		case within && len(regions) > 2:
		case !way.Outlying:
			return false
		default:
			slow = true
		}
	}
	return slow && fastElsewhere
}
