// SPDX-License-Identifier: Apache-2.0

package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
)

// WriteJSON writes the report as one JSON document.
func (r *Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(r)
}

// WriteText writes the report for people: the first rows of each table.
func (r *Report) WriteText(w io.Writer, rows int) error {
	var text strings.Builder
	printf := func(format string, arguments ...any) { _, _ = fmt.Fprintf(&text, format, arguments...) }
	if r.Blocks == 0 {
		printf("no block has a whole trace; %d heights have a part of one\n", len(r.Incomplete))
		_, err := io.WriteString(w, text.String())
		return err
	}
	printf("%d blocks from height %d to %d", r.Blocks, r.FirstHeight, r.LastHeight)
	if len(r.Incomplete) > 0 {
		printf(", and %d with a part of a trace", len(r.Incomplete))
	}
	printf("\nfrom block to block: p50 %.1f ms, p95 %.1f ms, max %.1f ms\n",
		r.BlockMilliseconds.P50, r.BlockMilliseconds.P95, r.BlockMilliseconds.Max)
	for _, table := range []struct {
		title string
		rows  []Row
	}{
		{"waited for", r.Phases},
		{"span", r.Spans},
		{"shard", r.Shards},
		{"node", r.Nodes},
		{"region", r.Regions},
		{"where", r.Places},
	} {
		if len(table.rows) == 0 {
			continue
		}
		printf("\n%7s %9s %9s %9s  %s\n", "share", "p50 ms", "p95 ms", "max ms", table.title)
		for _, row := range table.rows[:min(rows, len(table.rows))] {
			printf("%6.1f%% %9.1f %9.1f %9.1f  %s\n",
				row.SharePercent, row.Milliseconds.P50, row.Milliseconds.P95, row.Milliseconds.Max, row.label())
		}
		if more := len(table.rows) - rows; more > 0 {
			printf("%39s  and %d more\n", "", more)
		}
	}
	_, err := io.WriteString(w, text.String())
	return err
}
