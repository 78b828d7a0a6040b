// SPDX-License-Identifier: Apache-2.0

package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"slices"
	"time"

	"github.com/shardyard/shardyard/internal/bench/figures"
)

//go:embed assets/site.html
var siteTemplate string

// site is what the template of the page of all results shows.
type site struct {
	Style      template.CSS
	Figures    []string
	Benchmarks []siteBenchmark
}

type siteBenchmark struct {
	Name string
	Rows []siteRow
}

type siteRow struct {
	Link, Started, Variant, Outcome string
	Cells                           []string
}

// WriteSite writes the page of all results: each is named by the address of its
// own page. The newest are first.
func WriteSite(out io.Writer, results []Named) error {
	parsed, err := template.New("site").Parse(siteTemplate)
	if err != nil {
		return fmt.Errorf("parse the page: %w", err)
	}
	shown := site{Style: template.CSS(style)}
	for _, name := range historyFigures {
		definition, _ := figures.Define(name)
		shown.Figures = append(shown.Figures, fmt.Sprintf("%s, %s", definition.Title, definition.Unit))
	}
	for _, named := range slices.Backward(results) {
		shown.add(named)
	}
	if err := parsed.Execute(out, shown); err != nil {
		return fmt.Errorf("write the page: %w", err)
	}
	return nil
}

func (s *site) add(named Named) {
	made := named.Result
	ofName := func(benchmark siteBenchmark) bool { return benchmark.Name == made.Benchmark.Name }
	at := slices.IndexFunc(s.Benchmarks, ofName)
	if at < 0 {
		at = len(s.Benchmarks)
		s.Benchmarks = append(s.Benchmarks, siteBenchmark{Name: made.Benchmark.Name})
	}
	for i := range made.Variants {
		variant := &made.Variants[i]
		row := siteRow{
			Link:    named.Name,
			Started: made.StartedAt.Format(time.DateTime),
			Variant: orDash(variant.Name),
			Outcome: string(made.Verdict.Outcome),
		}
		for _, name := range historyFigures {
			row.Cells = append(row.Cells, orDash(newCell(variant, name).Value))
		}
		s.Benchmarks[at].Rows = append(s.Benchmarks[at].Rows, row)
	}
}
