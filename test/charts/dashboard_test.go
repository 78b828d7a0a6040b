// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/shardyard/shardyard/test/dashboards"
)

// operatorScrapes scrapes the operator as its PodMonitor does, and what
// kube-state-metrics exposes of networks, benchmarks, schedules and faults.
const operatorScrapes = `
global:
  scrape_interval: 1s
scrape_configs:
  - job_name: operator
    scheme: https
    honor_labels: true
    authorization: {credentials: %q}
    tls_config: {insecure_skip_verify: true}
    static_configs: [{targets: [%q], labels: {namespace: shardyard-system}}]
  - job_name: kube-state-metrics
    honor_labels: true
    static_configs: [{targets: [%q]}]
`

// checkDashboard checks that every query of the operator's dashboard has an answer
// of an operator that runs.
func (o *operator) checkDashboard(t *testing.T, token string) {
	t.Helper()
	// What kube-state-metrics exposes by the configuration of this repository, which
	// its own tests find out.
	const exposed = "../../dashboards/kube-state-metrics/testdata"
	var content []byte
	for _, name := range []string{"running.prom", "regressed.prom", "nightly.prom", "measured.prom"} {
		part, err := os.ReadFile(filepath.Join(exposed, name))
		if err != nil {
			t.Fatal(err)
		}
		content = append(content, part...)
	}
	reported := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(content)
	}))
	defer reported.Close()
	config := fmt.Sprintf(operatorScrapes, token, o.metricsAddress, reported.Listener.Addr())
	prometheus, stop, err := dashboards.Serve(t.TempDir(), config)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dashboard, err := dashboards.Read("../../dashboards/operator.json", map[string]string{
		"__rate_interval": "10s", "__range": "1m", "namespace": ".*",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Queries) == 0 {
		t.Fatal("the dashboard asks nothing")
	}
	for _, query := range dashboard.Queries {
		eventually(t, func(ctx context.Context) error {
			found, err := prometheus.HasData(ctx, query)
			if err == nil && !found {
				err = errors.New("there is no answer to " + query.String())
			}
			return err
		})
	}
}
