// SPDX-License-Identifier: Apache-2.0

// Package network is the dashboard of one network: how fast its chain runs,
// and how its validators are.
//
// It queries only what docs/node-contract.md lists. Every node counts what
// finalised blocks commit to, for all shards: these counters are compared and
// never summed, unlike those of what a node did itself. The rates are of executed
// transfers, and what was offered is shown apart, under its own name.
package network

import (
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/common"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
)

// row is a titled group of panels.
type row struct {
	title  string
	panels []cog.Builder[dashboard.Panel]
}

// Dashboard builds the dashboard.
func Dashboard() (dashboard.Dashboard, error) {
	builder := dashboard.NewDashboardBuilder("Shardyard network").
		Uid("shardyard-network").
		Description("One sharded network: throughput, blocks and chunks from finalised blocks, load, and validators.").
		Tags([]string{"shardyard"}).
		Timezone(common.TimeZoneBrowser).
		Time("now-30m", "now").
		Refresh("10s").
		Tooltip(dashboard.DashboardCursorSyncCrosshair).
		Readonly().
		Variables(variables())
	for _, row := range []row{overview(), throughput(), blocks(), chunks(), load(), validators()} {
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
