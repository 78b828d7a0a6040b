// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/bargauge"
	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/grafana/grafana-foundation-sdk/go/prometheus"
	"github.com/grafana/grafana-foundation-sdk/go/stat"
	"github.com/grafana/grafana-foundation-sdk/go/timeseries"
)

func TestMain(m *testing.M) {
	runtime := cog.NewRuntime()
	runtime.RegisterDataqueryVariant(prometheus.VariantConfig())
	runtime.RegisterPanelcfgVariant(bargauge.VariantConfig())
	runtime.RegisterPanelcfgVariant(stat.VariantConfig())
	runtime.RegisterPanelcfgVariant(timeseries.VariantConfig())
	os.Exit(m.Run())
}

// inTree reads the dashboards in the tree, by the name of their file.
func inTree(t *testing.T) map[string]dashboard.Dashboard {
	t.Helper()
	files, err := filepath.Glob("../*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(dashboards) {
		t.Errorf("the tree holds %d dashboards (%v), the generator makes %d", len(files), files, len(dashboards))
	}
	read := map[string]dashboard.Dashboard{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var dashboard dashboard.Dashboard
		if err := dashboard.UnmarshalJSONStrict(content); err != nil {
			t.Fatalf("%s is no dashboard: %v", file, err)
		}
		read[filepath.Base(file)] = dashboard
	}
	return read
}

func TestDashboardsAreValid(t *testing.T) {
	for name, dashboard := range inTree(t) {
		if err := dashboard.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if dashboard.Uid == nil || !strings.HasPrefix(*dashboard.Uid, "shardyard-") {
			t.Errorf("the uid of %s does not say whose dashboard it is", name)
		}
	}
}

// Panels can be told apart, say what they show and in which unit, and have a
// place of their own.
func TestPanels(t *testing.T) {
	for name, dashboard := range inTree(t) {
		t.Run(name, func(t *testing.T) {
			ids, titles := map[uint32]bool{}, map[string]bool{}
			places := map[[2]uint32]string{}
			for _, either := range dashboard.Panels {
				if either.RowPanel != nil {
					ids[either.RowPanel.Id] = true
					occupy(t, places, "row "+*either.RowPanel.Title, either.RowPanel.GridPos)
					continue
				}
				panel := either.Panel
				ids[*panel.Id] = true
				if titles[*panel.Title] {
					t.Errorf("two panels are called %q", *panel.Title)
				}
				if panel.Description == nil || *panel.Description == "" {
					t.Errorf("panel %q has no description", *panel.Title)
				}
				if panel.FieldConfig == nil || panel.FieldConfig.Defaults.Unit == nil {
					t.Errorf("panel %q has no unit", *panel.Title)
				}
				titles[*panel.Title] = true
				occupy(t, places, *panel.Title, panel.GridPos)
			}
			if len(ids) != len(dashboard.Panels) || ids[0] {
				t.Errorf("%d panels have %d ids: %v", len(dashboard.Panels), len(ids), ids)
			}
		})
	}
}

// occupy marks the cells of the grid that a panel covers.
func occupy(t *testing.T, places map[[2]uint32]string, title string, at *dashboard.GridPos) {
	t.Helper()
	const columns = 24
	if at.X+at.W > columns {
		t.Errorf("%s ends in column %d of %d", title, at.X+at.W, columns)
	}
	for x := at.X; x < at.X+at.W; x++ {
		for y := at.Y; y < at.Y+at.H; y++ {
			if other, taken := places[[2]uint32{x, y}]; taken {
				t.Fatalf("%s and %s overlap", title, other)
			}
			places[[2]uint32{x, y}] = title
		}
	}
}
