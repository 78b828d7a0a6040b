// SPDX-License-Identifier: Apache-2.0

package network

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// everything matches any value of a label, and a label that is not there.
const everything = ".*"

// chosenNetwork are the variables of every dashboard: where the data is, and which
// network it is about. A namespace is a label that Prometheus adds in Kubernetes;
// elsewhere there is none to choose.
func chosenNetwork() []cog.Builder[dashboard.VariableModel] {
	return []cog.Builder[dashboard.VariableModel]{
		dashboard.NewDatasourceVariableBuilder("datasource").Label("Data source").Type("prometheus"),
		labelValues("namespace", "Namespace", "shardnode_height").IncludeAll(true).AllValue(everything).Current(all("$__all")),
		labelValues("network", "Network", `shardnode_height{namespace=~"$namespace"}`),
	}
}

// variables are what a user of the network's dashboard chooses from.
func variables() []cog.Builder[dashboard.VariableModel] {
	return append(chosenNetwork(),
		labelValues("region", "Region", metric("shardnode_height", ofNetwork)).
			Multi(true).IncludeAll(true).AllValue(everything).Current(all([]string{"$__all"})),
		labelValues("shard", "Shard", metric("shardnode_shard_transfers_total", ofNetwork)).
			Multi(true).IncludeAll(true).AllValue(everything).Current(all([]string{"$__all"})),
		scrapeInterval(nodesScrape),
	)
}

// nodesScrape is how often the operator has nodes scraped: more often than a data
// source takes for granted.
const nodesScrape = "5s"

// scrapeInterval is how often what is shown is scraped, which rates depend on.
func scrapeInterval(usual string) *dashboard.CustomVariableBuilder {
	return choice("scrape", "Scraped every", usual, "5s,15s,30s,1m")
}

// choice is a variable that is one of some values.
func choice(name, label, usual, values string) *dashboard.CustomVariableBuilder {
	chosen := dashboard.StringOrArrayOfString{String: &usual}
	return dashboard.NewCustomVariableBuilder(name).
		Label(label).
		Values(dashboard.StringOrMap{String: &values}).
		Current(dashboard.VariableOption{Selected: cog.ToPtr(true), Text: chosen, Value: chosen})
}

// labelValues is a variable that offers the values of the label of its name.
func labelValues(name, label, series string) *dashboard.QueryVariableBuilder {
	query := "label_values(" + series + ", " + name + ")"
	return dashboard.NewQueryVariableBuilder(name).
		Label(label).
		Datasource(datasource()).
		Definition(query).
		Query(dashboard.StringOrMap{String: &query}).
		Refresh(dashboard.VariableRefreshOnTimeRangeChanged).
		Sort(dashboard.VariableSortNaturalAsc)
}

// all is the choice of everything.
func all[T string | []string](value T) dashboard.VariableOption {
	option := dashboard.VariableOption{Selected: cog.ToPtr(true)}
	switch value := any(value).(type) {
	case string:
		option.Text = dashboard.StringOrArrayOfString{String: cog.ToPtr("All")}
		option.Value = dashboard.StringOrArrayOfString{String: &value}
	case []string:
		option.Text = dashboard.StringOrArrayOfString{ArrayOfString: []string{"All"}}
		option.Value = dashboard.StringOrArrayOfString{ArrayOfString: value}
	}
	return option
}

func datasource() common.DataSourceRef {
	return common.DataSourceRef{Type: cog.ToPtr("prometheus"), Uid: cog.ToPtr("${datasource}")}
}
