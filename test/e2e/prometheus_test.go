// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/template"

	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/test/dashboards"
)

// scrapeConfig reads the metrics of every validator's pod by way of the API
// server, so that Prometheus may run where pods cannot be reached. Validators'
// pods keep their names; Debian's Prometheus cannot look for pods by itself.
var scrapeConfig = template.Must(template.New("prometheus").Parse(`
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: shardnode
    scheme: https
    honor_labels: true
    tls_config: {ca_file: ca.crt, cert_file: client.crt, key_file: client.key}
    static_configs:
      {{- range .Pods }}
      - targets: ["{{ $.Server }}"]
        labels:
          namespace: {{ $.Namespace }}
          pod: {{ . }}
          __metrics_path__: /api/v1/namespaces/{{ $.Namespace }}/pods/{{ . }}:{{ $.Port }}/proxy/metrics
      {{- end }}
`))

// testDashboards has a Prometheus scrape the nodes, and asks it everything that
// the dashboards ask.
func (n *network) testDashboards(t *testing.T) {
	prometheus := n.startPrometheus(t)
	files, err := filepath.Glob(root + "/dashboards/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no dashboards")
	}
	for _, file := range files {
		dashboard, err := dashboards.Read(file, map[string]string{
			"__rate_interval": "10s",
			"__range":         "1m",
			"namespace":       n.namespace,
			"network":         n.name,
			"region":          ".*",
			"shard":           ".*",
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
	server, err := url.Parse(n.config.Host)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	writeCredentials(t, folder, n.config)
	var config strings.Builder
	if err := scrapeConfig.Execute(&config, map[string]any{
		"Namespace": n.namespace,
		"Pods":      slices.Sorted(maps.Keys(n.mustPods(t))),
		"Port":      n.plan(t).Ports.HTTP,
		"Server":    server.Host,
	}); err != nil {
		t.Fatal(err)
	}
	prometheus, stop, err := dashboards.Serve(folder, config.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return prometheus
}

// writeCredentials writes what a kubeconfig holds as the files that Prometheus
// reads.
func writeCredentials(t *testing.T, folder string, config *rest.Config) {
	t.Helper()
	for name, content := range map[string][]byte{
		"ca.crt":     config.CAData,
		"client.crt": config.CertData,
		"client.key": config.KeyData,
	} {
		if len(content) == 0 {
			t.Fatalf("the kubeconfig holds no %s", name)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
