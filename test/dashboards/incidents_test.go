// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/shardyard/shardyard/test/dashboards"
)

// times is how much faster than in production the rules of these tests are.
const times = 20

// incidentsConfig scrapes what exports every incident, ten times as often as in production.
const incidentsConfig = `
global:
  scrape_interval: 500ms
  evaluation_interval: 500ms
rule_files: [%q]
scrape_configs:
  - job_name: all
    honor_labels: true
    static_configs:
      - targets: [%q]
`

// A Prometheus with the rules of the operator's chart, which scrapes series as nodes
// and kube-state-metrics export them, raises the alert of an incident, about the
// network and the shard that have it, and clears it.
func TestIncidentsRaiseTheirAlerts(t *testing.T) {
	chain := &exportedChain{}
	server := httptest.NewServer(chain)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "rules.yaml")
	content, err := dashboards.Hurried("../../charts/shardyard/files/rules.yaml", times)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	prometheus, stop, err := dashboards.Serve(t.TempDir(), fmt.Sprintf(incidentsConfig, file, server.Listener.Addr()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	evaluated(t, prometheus)
	well := dashboards.Query{
		Panel: "rules", Legend: "block time", Expression: `shardyard:block_time_seconds:mean1h{network="small"}`, Instant: true,
	}
	eventually(t, well.String(), func() (bool, error) { return prometheus.HasData(t.Context(), well) })

	for _, incident := range []struct {
		name, alert string
		labels      map[string]string
	}{
		{silentShard, "ShardyardShardWithoutChunks", map[string]string{"namespace": "chains", "network": "small", "shard": "1"}},
		{halted, "ShardyardNoBlockFinalised", map[string]string{"namespace": "chains", "network": "small"}},
		{fullDisk, "ShardyardDiskFull", map[string]string{"namespace": "chains", "network": "small"}},
	} {
		t.Run(incident.name, func(t *testing.T) {
			checkFiring(t, prometheus, incident.alert, nil)
			chain.set(incident.name)
			checkFiring(t, prometheus, incident.alert, incident.labels)
			chain.set("")
			checkFiring(t, prometheus, incident.alert, nil)
		})
	}
}

// checkFiring waits until an alert fires about this and nothing else; until it does
// not fire when about nothing.
func checkFiring(t *testing.T, prometheus *dashboards.Prometheus, alert string, about map[string]string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s about %v", alert, about), func() (bool, error) {
		firing, err := prometheus.Firing(t.Context(), alert)
		if err != nil || about == nil || len(firing) == 0 {
			return about == nil && len(firing) == 0, err
		}
		for label, value := range about {
			if len(firing) != 1 || firing[0][model.LabelName(label)] != model.LabelValue(value) {
				return false, fmt.Errorf("%s fires about %v", alert, firing)
			}
		}
		return true, nil
	})
}

// What can be wrong with an exported chain.
const (
	silentShard = "a silent shard"
	halted      = "a chain that stands still"
	fullDisk    = "a full disk"
)

// exportedChain serves the series of a chain of two shards with ten blocks a second.
type exportedChain struct {
	lock   sync.Mutex
	wrong  string
	height float64
	missed float64
	at     time.Time
}

// set has something be wrong from now on.
func (c *exportedChain) set(wrong string) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.advance()
	c.wrong = wrong
}

func (c *exportedChain) advance() {
	const rate = 10
	now := time.Now()
	if c.at.IsZero() {
		c.at = now
	}
	blocks := rate * now.Sub(c.at).Seconds()
	c.at = now
	if c.wrong != halted {
		c.height += blocks
	}
	if c.wrong == silentShard {
		c.missed += blocks
	}
}

func (c *exportedChain) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.advance()
	const small = `namespace="chains",network="small"`
	var text strings.Builder
	for _, node := range []string{"a1", "a2", "b1", "b2"} {
		for name, value := range map[string]float64{
			"shardnode_finalized_height":         float64(int(c.height)),
			"shardnode_block_time_seconds_count": c.height,
			"shardnode_block_time_seconds_sum":   c.height / 10,
		} {
			fmt.Fprintf(&text, "%s{%s,region=\"east\",node=%q} %f\n", name, small, node, value)
		}
		for shard, missed := range []float64{0, c.missed} {
			fmt.Fprintf(&text, "shardnode_shard_missed_chunks_total{%s,region=\"east\",node=%q,shard=\"%d\"} %f\n", small, node, shard, missed)
		}
	}
	text.WriteString("kubelet_volume_stats_available_bytes{namespace=\"chains\",persistentvolumeclaim=\"data-small-s0-p0-0\"} 1e9\n")
	full := 0
	if c.wrong == fullDisk {
		full = 1
	}
	fmt.Fprintf(&text, "shardyard_shardnetwork_condition{%s,condition=\"NodesReady\",reason=\"DiskFull\",status=\"False\"} %d\n", small, full)
	w.Header().Set("Content-Type", "text/plain; version=0.0.4")
	_, _ = w.Write([]byte(text.String()))
}

// Every time in the rules is a part of what it is, and nothing else changes.
func TestHurried(t *testing.T) {
	t.Parallel()
	const before = `
groups:
  - name: all
    rules:
      - record: recorded
        expr: rate(a[1m]) / b offset 10m > 600
      - alert: One
        expr: min_over_time((a - b)[5m:30s]) > 10
        for: 2m
        labels: {severity: critical}
      - alert: Other
        expr: a{b=~"[0-9]+[5m]"} == 1
`
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	after, err := dashboards.Hurried(file, 20)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rate(a[3s]) / b offset 30s > 600", "min_over_time((a - b)[15s:1s500ms]) > 10", "for: 6s\n", "severity: critical",
		`a{b=~"[0-9]+[5m]"} == 1`,
	} {
		if !strings.Contains(string(after), want) {
			t.Errorf("the rules have no %s:\n%s", want, after)
		}
	}
	if strings.Count(string(after), "for:") != 1 {
		t.Errorf("more rules have to last than did:\n%s", after)
	}
}
