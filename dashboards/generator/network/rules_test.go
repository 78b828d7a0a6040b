// SPDX-License-Identifier: Apache-2.0

package network_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/grafana/grafana-foundation-sdk/go/prometheus"

	"github.com/shardyard/shardyard/dashboards/generator/network"
)

// values are a user's choices, and an hour of which a minute is a rate's window.
var values = strings.NewReplacer(
	"$__rate_interval", "1m",
	"$__range", "1h",
	"$namespace", ".*",
	"$network", "small",
	"$region", ".*",
	"$shard", ".*",
)

// series is a series and its samples, one every 15 seconds, in promtool's
// notation.
type series struct {
	Series string `json:"series"`
	Values string `json:"values"`
}

type sample struct {
	Labels string  `json:"labels"`
	Value  float64 `json:"value"`
}

// evaluate checks what a query of a panel says of some series after ten
// minutes.
func evaluate(t *testing.T, panel, legend string, given []series, want []sample) {
	t.Helper()
	type expressionTest struct {
		Expression string   `json:"expr"`
		Time       string   `json:"eval_time"`
		Samples    []sample `json:"exp_samples"`
	}
	document, err := json.Marshal(map[string]any{
		"evaluation_interval": "15s",
		"tests": []any{map[string]any{
			"interval":         "15s",
			"input_series":     given,
			"promql_expr_test": []expressionTest{{Expression: expression(t, panel, legend), Time: "10m", Samples: want}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "test.yaml")
	if err := os.WriteFile(file, document, 0o600); err != nil {
		t.Fatal(err)
	}
	if output, err := exec.CommandContext(t.Context(), "promtool", "test", "rules", file).CombinedOutput(); err != nil {
		t.Errorf("%s of %s: %v\n%s", legend, panel, err, output)
	}
}

// expression is the query of a panel with this legend.
func expression(t *testing.T, title, legend string) string {
	t.Helper()
	dashboard, err := network.Dashboard()
	if err != nil {
		t.Fatal(err)
	}
	for _, panel := range dashboard.Panels {
		if panel.Panel == nil || *panel.Panel.Title != title {
			continue
		}
		for _, target := range panel.Panel.Targets {
			query := target.(prometheus.Dataquery)
			if *query.LegendFormat == legend {
				return values.Replace(query.Expr)
			}
		}
	}
	t.Fatalf("no query of a panel %q has the legend %q", title, legend)
	return ""
}

// counter is a series of a node, of which there are samples for eleven minutes,
// that grows by as much a second.
func counter(name, node, labels string, perSecond float64) series {
	return labelled("small", name, node, labels, fmt.Sprintf("1000+%gx44", perSecond*15))
}

func labelled(network, name, node, labels, samples string) series {
	if labels != "" {
		labels = "," + labels
	}
	return series{
		Series: fmt.Sprintf(`%s{network=%q,node=%q,region=%q%s}`, name, network, node, "region-"+node[:1], labels),
		Values: samples,
	}
}

// everywhere has a series of each node, which all say the same.
func everywhere(name, labels string, perSecond float64) []series {
	var all []series
	for _, node := range []string{"a1", "a2", "b1", "b2"} {
		all = append(all, counter(name, node, labels, perSecond))
	}
	return all
}
