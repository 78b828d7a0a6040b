// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"text/template"

	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/dashboards"
)

// scrapeConfig finds the nodes' pods and reads their metrics by way of the API
// server, so that Prometheus may run where pods cannot be reached.
var scrapeConfig = template.Must(template.New("prometheus").Parse(`
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: shardnode
    scheme: https
    honor_labels: true
    tls_config: {ca_file: ca.crt, cert_file: client.crt, key_file: client.key}
    kubernetes_sd_configs:
      - role: pod
        kubeconfig_file: {{ .Kubeconfig }}
        namespaces: {names: [{{ .Namespace }}]}
        selectors: [{role: pod, label: "{{ .Selector }}"}]
    relabel_configs:
      - {source_labels: [__meta_kubernetes_pod_container_port_name], regex: {{ .Port }}, action: keep}
      - {source_labels: [__meta_kubernetes_namespace], target_label: namespace}
      - source_labels: [__meta_kubernetes_namespace, __meta_kubernetes_pod_name, __meta_kubernetes_pod_container_port_number]
        regex: (.+);(.+);(.+)
        replacement: /api/v1/namespaces/$1/pods/$2:$3/proxy/metrics
        target_label: __metrics_path__
      - {replacement: "{{ .Server }}", target_label: __address__}
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
	if err := scrapeConfig.Execute(&config, map[string]string{
		"Kubeconfig": n.kubeconfig,
		"Namespace":  n.namespace,
		"Selector":   resources.LabelNetwork + "=" + n.name,
		"Port":       resources.PortHTTP,
		"Server":     server.Host,
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
