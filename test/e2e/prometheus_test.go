// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/dashboards"
)

// scrapeConfig reads the metrics of every validator.
var scrapeConfig = template.Must(template.New("prometheus").Parse(`
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: shardnode
    honor_labels: true
    static_configs:
      {{- range $pod, $address := .Addresses }}
      - targets: ["{{ $address }}"]
        labels: {namespace: {{ $.Namespace }}, pod: {{ $pod }}}
      {{- end }}
`))

// testDashboards has a Prometheus scrape the nodes, and asks it everything that
// the dashboards ask.
func (n *network) testDashboards(t *testing.T) {
	prometheus := n.startPrometheus(t)
	files, err := dashboards.AboutNetworks(root + "/dashboards")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		dashboard, err := dashboards.Read(file, map[string]string{
			"__rate_interval": "10s",
			"__range":         "1m",
			"earlier":         "1s",
			"namespace":       n.namespace,
			"network":         n.name,
			"node":            ".*",
			"region":          ".*",
			"shard":           ".*",
			"target":          "1.5",
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range dashboard.Queries {
			eventually(t, query.String(), func(ctx context.Context) error {
				found, err := prometheus.HasData(ctx, query)
				if err == nil && !found {
					err = errors.New("there is no data")
				}
				return err
			})
		}
		t.Logf("%d queries of %s have data", len(dashboard.Queries), filepath.Base(file))
	}
}

func (n *network) startPrometheus(t *testing.T) *dashboards.Prometheus {
	t.Helper()
	plan, addresses := n.plan(t), map[string]string{}
	for _, validator := range plan.Validators {
		pod := resources.PodName(validator.Name)
		addresses[pod] = n.tunnel(t, pod, plan.Ports.HTTP)
	}
	var config strings.Builder
	if err := scrapeConfig.Execute(&config, map[string]any{"Namespace": n.namespace, "Addresses": addresses}); err != nil {
		t.Fatal(err)
	}
	prometheus, stop, err := dashboards.Serve(t.TempDir(), config.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return prometheus
}
