// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/shardyard/shardyard/test/dashboards"
)

// agentConfig scrapes a chain as the agent of a member does.
const agentConfig = `
global:
  scrape_interval: 500ms
  external_labels: {cluster: %q}
scrape_configs:
  - job_name: all
    honor_labels: true
    static_configs:
      - targets: [%q, %q]
`

// slow is a node of a cluster, of which one execution is known by its trace.
func slow(cluster string) http.HandlerFunc {
	at := time.Now().Unix()
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = fmt.Fprintf(w, `# TYPE shardnode_execution_seconds histogram
shardnode_execution_seconds_sum{node="slow"} 3
shardnode_execution_seconds_count{node="slow"} 1
shardnode_execution_seconds_bucket{node="slow",le="+Inf"} 1 # {trace_id="trace of %s",height="7"} 3 %d
# EOF
`, cluster, at)
	}
}

// Agents that write what those of members do give one Prometheus all that dashboards
// ask of nodes, exemplars included, with the names of their clusters, and nothing else.
func TestAgentsOfMembersWriteToOnePrometheus(t *testing.T) {
	t.Parallel()
	home, stop, err := dashboards.Serve(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	write, err := dashboards.RemoteWrite("../../charts/monitoring/member.yaml", home.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, cluster := range []string{"us-east1", "us-east4"} {
		server, one := httptest.NewServer(&exportedChain{}), httptest.NewServer(slow(cluster))
		t.Cleanup(server.Close)
		t.Cleanup(one.Close)
		config := fmt.Sprintf(agentConfig, cluster, server.Listener.Addr(), one.Listener.Addr())
		stop, err := dashboards.ServeAgent(t.TempDir(), config+write)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(stop)
		for _, name := range []string{"shardnode_finalized_height", "kubelet_volume_stats_available_bytes", "up"} {
			query := dashboards.Query{
				Panel: "agents", Legend: cluster, Instant: true, Expression: fmt.Sprintf("%s{cluster=%q}", name, cluster),
			}
			eventually(t, query.String(), func() (bool, error) { return home.HasData(t.Context(), query) })
		}
		eventually(t, "the exemplar of "+cluster, func() (bool, error) {
			now := time.Now()
			bucket := fmt.Sprintf("shardnode_execution_seconds_bucket{cluster=%q}", cluster)
			series, err := home.QueryExemplars(t.Context(), bucket, now.Add(-time.Hour), now)
			want := model.LabelValue("trace of " + cluster)
			return len(series) == 1 && len(series[0].Exemplars) == 1 && series[0].Exemplars[0].Labels["trace_id"] == want, err
		})
	}
	all, _, err := home.Series(t.Context(), []string{`{__name__=~".+"}`}, time.Time{}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	for _, series := range all {
		name := string(series[model.MetricNameLabel])
		if !strings.HasPrefix(name, "shardnode_") && !strings.HasPrefix(name, "kubelet_volume_stats_") && name != "up" {
			t.Errorf("agents write %v", series)
		}
	}
}
