// SPDX-License-Identifier: Apache-2.0

// Package network has the dashboards of one network, of one of its nodes and of
// one of its shards: how fast the chain runs, how its validators are, and what
// each does; and that of the operator, which is about all networks.
//
// Those of a network query only what docs/node-contract.md lists. Every node counts
// what finalised blocks commit to, for all shards: these counters are compared and
// never summed, unlike those of what a node did itself. The rates are of executed
// transfers, and what was offered is shown apart, under its own name.
package network

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// tag is what all dashboards have, and find each other by.
const tag = "shardyard"

// row is a titled group of panels.
type row struct {
	title  string
	panels []cog.Builder[dashboard.Panel]
}

// Dashboard builds the dashboard of one network.
func Dashboard() (dashboard.Dashboard, error) {
	return build("Shardyard network", "shardyard-network",
		"One sharded network: throughput, blocks and chunks from finalised blocks, load, and validators.",
		variables(), overview(), throughput(), blocks(), chunks(), load(), validators())
}

// build builds a dashboard of some rows, with a link to the others.
func build(
	title, uid, description string, variables []cog.Builder[dashboard.VariableModel], rows ...row,
) (dashboard.Dashboard, error) {
	builder := dashboard.NewDashboardBuilder(title).
		Uid(uid).
		Description(description).
		Tags([]string{tag}).
		Link(dashboard.NewDashboardLinkBuilder("Shardyard").
			Type(dashboard.DashboardLinkTypeDashboards).
			Tags([]string{tag}).
			AsDropdown(true).IncludeVars(true).KeepTime(true)).
		Timezone(common.TimeZoneBrowser).
		Time("now-30m", "now").
		Refresh("10s").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Readonly().
		Variables(variables)
	for _, row := range rows {
		builder.WithRow(dashboard.NewRowBuilder(row.title))
		for _, panel := range row.panels {
			builder.WithPanel(panel)
		}
	}
	built, err := builder.Build()
	if err != nil {
		return dashboard.Dashboard{}, err
	}
	number(built.Panels)
	return built, nil
}

// number gives every panel the id that links and alerts know it by.
func number(panels []dashboard.PanelOrRowPanel) {
	for i, panel := range panels {
		id := uint32(i + 1)
		if panel.RowPanel != nil {
			panel.RowPanel.Id = id
		} else {
			panel.Panel.Id = &id
		}
	}
}
