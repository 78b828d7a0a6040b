// SPDX-License-Identifier: Apache-2.0

package network

import (
	"maps"
	"regexp"
	"slices"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/variants"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

// Heights of panels, and widths out of the 24 columns of a row.
const (
	statHeight  = 4
	graphHeight = 8
	third       = 8
	quarter     = 6
	half        = 12
)

// query is an expression and what its series are called.
type query struct {
	expression, legend string
}

// now are the queries of what is so at the end of the time that is looked at: what is
// gone by then has no value, rather than the one that it had last.
func now(queries []query) []cog.Builder[variants.Dataquery] {
	built := make([]cog.Builder[variants.Dataquery], 0, len(queries))
	for i, query := range queries {
		built = append(built, target(query).RefId(refID(i)).Instant())
	}
	return built
}

// drawn are the queries of a graph, which has the exemplars of nodes' histograms as points
// that lead to traces. Of several percentiles of the same buckets, the last is asked for
// them.
func drawn(queries []query) []cog.Builder[variants.Dataquery] {
	last := map[string]int{}
	for i, query := range queries {
		for _, selector := range buckets.FindAllString(query.expression, -1) {
			last[selector] = i
		}
	}
	exemplary := slices.Collect(maps.Values(last))
	built := make([]cog.Builder[variants.Dataquery], 0, len(queries))
	for i, query := range queries {
		target := target(query).RefId(refID(i)).Range()
		if slices.Contains(exemplary, i) {
			target.Exemplar(true)
		}
		built = append(built, target)
	}
	return built
}

// buckets are those of a histogram of nodes, and which of them.
var buckets = regexp.MustCompile(`shardnode_\w+_bucket\{[^}]*\}`)

func refID(i int) string {
	return string(rune('A' + i))
}

func target(query query) *prometheus.DataqueryBuilder {
	return prometheus.NewDataqueryBuilder().
		Datasource(datasource()).
		Expr(query.expression).
		Interval("$scrape").
		LegendFormat(query.legend)
}

// latest is a panel with the latest value of each query.
func latest(title, description, unit string, width uint32, queries ...query) *stat.PanelBuilder {
	return stat.NewPanelBuilder().
		Title(title).
		Description(description).
		Datasource(datasource()).
		Unit(unit).
		Span(width).Height(statHeight).
		GraphMode(common.BigValueGraphModeNone).
		ColorMode(common.BigValueColorModeValue).
		ReduceOptions(common.NewReduceDataOptionsBuilder().Calcs([]string{"lastNotNull"})).
		Thresholds(plain()).
		Targets(now(queries))
}

// plain is one colour for all values: which ones are good depends on the
// network.
func plain() *dashboard.ThresholdsConfigBuilder {
	return dashboard.NewThresholdsConfigBuilder().
		Mode(dashboard.ThresholdsModeAbsolute).
		Steps([]dashboard.Threshold{{Color: "blue"}})
}

// graph is a panel with the course of each query.
func graph(title, description, unit string, width uint32, queries ...query) *timeseries.PanelBuilder {
	return timeseries.NewPanelBuilder().
		Title(title).
		Description(description).
		Datasource(datasource()).
		Unit(unit).
		Min(0).
		Span(width).Height(graphHeight).
		LineWidth(1).
		FillOpacity(8).
		ShowPoints(common.VisibilityModeNever).
		Legend(common.NewVizLegendOptionsBuilder().
			DisplayMode(common.LegendDisplayModeList).
			Placement(common.LegendPlacementBottom).
			ShowLegend(true)).
		Tooltip(common.NewVizTooltipOptionsBuilder().
			Mode(common.TooltipDisplayModeMulti).
			Sort(common.SortOrderDescending)).
		Targets(drawn(queries))
}

// many is a graph of as many series as there are shards or validators.
func many(title, description, unit string, width uint32, queries ...query) *timeseries.PanelBuilder {
	return graph(title, description, unit, width, queries...).
		FillOpacity(0).
		Legend(common.NewVizLegendOptionsBuilder().
			DisplayMode(common.LegendDisplayModeTable).
			Placement(common.LegendPlacementRight).
			ShowLegend(true).
			Calcs([]string{"mean", "max"}))
}
