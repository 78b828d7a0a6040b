// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
	"text/tabwriter"

	"sigs.k8s.io/yaml"
)

// ranges are what the figures may be.
type ranges struct {
	MeasuredOn string            `json:"measuredOn"`
	Figures    map[string]figure `json:"figures"`
}

// figure is what one of them may be, and once was.
type figure struct {
	Unit     string   `json:"unit"`
	Least    *float64 `json:"least"`
	Most     *float64 `json:"most"`
	Measured float64  `json:"measured"`
}

func readRanges(t *testing.T, file string) ranges {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var known ranges
	if err := yaml.UnmarshalStrict(content, &known); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return known
}

// figures are those of this run, by the names of the file of ranges.
type figures map[string]float64

// print prints a table of the figures.
func (f figures) print(t *testing.T, known ranges) {
	t.Helper()
	table := tabwriter.NewWriter(t.Output(), 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "figure\tnow\tleast\tmost\tmeasured before\tunit\t")
	for _, name := range slices.Sorted(maps.Keys(f)) {
		limits := known.Figures[name]
		fmt.Fprintf(table, "%s\t%.1f\t%s\t%s\t%.1f\t%s\t\n",
			name, f[name], limit(limits.Least), limit(limits.Most), limits.Measured, limits.Unit)
	}
	if err := table.Flush(); err != nil {
		t.Fatal(err)
	}
}

// check says which figures are out of their ranges, and which are in only one
// of both.
func (f figures) check(t *testing.T, known ranges) {
	t.Helper()
	for name, value := range f {
		limits, ok := known.Figures[name]
		if !ok {
			t.Errorf("%s has no range", name)
		}
		if limits.Least != nil && value < *limits.Least || limits.Most != nil && value > *limits.Most {
			t.Errorf("%s is %.1f %s, want from %s to %s", name, value, limits.Unit, limit(limits.Least), limit(limits.Most))
		}
	}
	for name := range known.Figures {
		if _, ok := f[name]; !ok {
			t.Errorf("%s has a range and was not measured", name)
		}
	}
}

func limit(value *float64) string {
	if value == nil {
		return "-"
	}
	return fmt.Sprintf("%g", *value)
}
