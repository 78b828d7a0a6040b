// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/dashboards"
)

// hurry is how much faster than in production the rules are here: every window and
// every wait in them is a tenth of what it is in the chart, which is minutes, and no
// network may be ill for that long. Nodes are scraped five times as often as by their
// PodMonitor, which leaves these windows as many samples as they can have. Nothing
// else about the rules differs.
const hurry = 10

// memberValues are those that the monitoring chart has for member clusters.
const memberValues = root + "/charts/monitoring/member.yaml"

// scraping is what a Prometheus of these tests reads and evaluates.
type scraping struct {
	Namespace string
	// Nodes are the addresses of nodes, by the names of their pods.
	Nodes map[string]string
	// Reporter is the address of a kube-state-metrics; empty for none.
	Reporter string
	// Rules is a file of rules; empty for none.
	Rules string
	// Cluster is the name of the cluster of an agent, and RemoteWrite the part of its
	// configuration that says where it writes.
	Cluster, RemoteWrite string
}

var scrapeConfig = template.Must(template.New("prometheus").Parse(`
global:
  scrape_interval: 1s
  evaluation_interval: 1s
{{- with .Cluster }}
  external_labels: {cluster: {{ . }}}
{{- end }}
{{- with .Rules }}
rule_files: [{{ printf "%q" . }}]
{{- end }}
{{ .RemoteWrite }}
scrape_configs:
  {{- with .Reporter }}
  - job_name: kube-state-metrics
    honor_labels: true
    static_configs: [{targets: ["{{ . }}"]}]
  {{- end }}
  - job_name: shardnode
    honor_labels: true
    static_configs:
      {{- range $pod, $address := .Nodes }}
      - targets: ["{{ $address }}"]
        labels: {namespace: {{ $.Namespace }}, pod: {{ $pod }}}
      {{- end }}
`))

// testDashboards has a Prometheus scrape the nodes, and asks it everything that
// the dashboards ask.
func (n *network) testDashboards(t *testing.T) {
	prometheus := startPrometheus(t, scraping{Namespace: n.namespace, Nodes: n.addresses(t)})
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

// startPrometheus starts a Prometheus that reads and evaluates what is said.
func startPrometheus(t *testing.T, reads scraping) *dashboards.Prometheus {
	t.Helper()
	prometheus, stop, err := dashboards.Serve(t.TempDir(), reads.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return prometheus
}

// startAgent starts the agent of a member cluster, which writes to a Prometheus what
// the agents of the monitoring chart do.
func startAgent(t *testing.T, home *dashboards.Prometheus, reads scraping) {
	t.Helper()
	var err error
	if reads.RemoteWrite, err = dashboards.RemoteWrite(memberValues, home.URL); err != nil {
		t.Fatal(err)
	}
	stop, err := dashboards.ServeAgent(t.TempDir(), reads.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
}

// config is the configuration of a Prometheus.
func (s scraping) config(t *testing.T) string {
	t.Helper()
	var config strings.Builder
	if err := scrapeConfig.Execute(&config, s); err != nil {
		t.Fatal(err)
	}
	return config.String()
}

// addresses lead to the HTTP APIs of all nodes, by the names of their pods.
func (n *network) addresses(t *testing.T) map[string]string {
	t.Helper()
	plan, addresses := n.plan(t), map[string]string{}
	for _, validator := range plan.Nodes {
		pod := resources.PodName(validator.Name)
		addresses[pod] = n.tunnel(t, n.namespace, pod, plan.Ports.HTTP)
	}
	return addresses
}

// hurriedRules are the rules of the operator's chart, hurried.
func hurriedRules(t *testing.T) string {
	t.Helper()
	content, err := dashboards.Hurried(operatorChart+"/files/rules.yaml", hurry)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
