// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

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
      - targets: [%q]
`

// Agents that write what those of members do give one Prometheus all that dashboards
// ask of nodes, with the names of their clusters, and nothing else.
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
		server := httptest.NewServer(&exportedChain{})
		t.Cleanup(server.Close)
		stop, err := dashboards.ServeAgent(t.TempDir(), fmt.Sprintf(agentConfig, cluster, server.Listener.Addr())+write)
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
	}
	all, err := home.Series(t.Context(), `{__name__=~".+"}`)
	if err != nil {
		t.Fatal(err)
	}
	for _, series := range all {
		name := series["__name__"]
		if !strings.HasPrefix(name, "shardnode_") && !strings.HasPrefix(name, "kubelet_volume_stats_") && name != "up" {
			t.Errorf("agents write %v", series)
		}
	}
}
