// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/common/model"

	"github.com/shardyard/shardyard/internal/local"
	"github.com/shardyard/shardyard/internal/local/page"
	"github.com/shardyard/shardyard/test/dashboards"
)

// patience is how long anything may take on a machine that is busy with other
// tests.
const patience = 2 * time.Minute

// A network runs, and is asked what the dashboards and the rules ask.
func TestLiveNetwork(t *testing.T) {
	network := run(t)
	prometheus, err := dashboards.NewPrometheus(network.Page)
	if err != nil {
		t.Fatal(err)
	}
	// While the rest is looked at, there come to be samples enough.
	ruled := evaluateRules(t, network)
	// As somebody who has just opened it sees it.
	browse(t, "walk.mjs", prometheus.URL, "4")
	files, err := dashboards.AboutNetworks("../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			dashboard := read(t, file)
			checkQueries(t, prometheus, dashboard)
			checkVariables(t, prometheus, dashboard)
			checkPage(t, prometheus, filepath.Base(file))
		})
	}
	t.Run("rules", func(t *testing.T) { checkRules(t, ruled) })
	t.Run("metrics", func(t *testing.T) { checkMetrics(t, ruled) })
	t.Run("links", func(t *testing.T) { checkLinks(t, prometheus) })
}

func read(t *testing.T, file string) *dashboards.Dashboard {
	t.Helper()
	dashboard, err := dashboards.Read(file, map[string]string{
		"__rate_interval": "10s",
		"__range":         "1m",
		"earlier":         "1s",
		"namespace":       ".*",
		"network":         "seen",
		"node":            ".*",
		"region":          ".*",
		"shard":           ".*",
		"target":          "1.5",
	})
	if err != nil {
		t.Fatal(err)
	}
	return dashboard
}

// checkQueries checks that every query of every panel has an answer.
func checkQueries(t *testing.T, prometheus *dashboards.Prometheus, dashboard *dashboards.Dashboard) {
	t.Helper()
	for _, query := range dashboard.Queries {
		eventually(t, query.String(), func() (bool, error) { return prometheus.HasData(t.Context(), query) })
	}
}

// checkVariables checks that every variable offers what the network has.
func checkVariables(t *testing.T, prometheus *dashboards.Prometheus, dashboard *dashboards.Dashboard) {
	t.Helper()
	want := map[string]model.LabelValues{
		// Only Kubernetes has namespaces.
		"namespace": {},
		"network":   {"seen"},
		"node":      {"seen-s0-p0", "seen-s0-p1", "seen-s1-p0", "seen-s1-p1"},
		"region":    {"east", "west"},
		"shard":     {"0", "1"},
	}
	for _, variable := range dashboard.Variables {
		values, _, err := prometheus.LabelValues(t.Context(), variable.Label, []string{variable.Series}, time.Time{}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(values, want[variable.Label]) {
			t.Errorf("variable %s offers %v, want %v", variable.Label, values, want[variable.Label])
		}
	}
}

// checkPage checks that the page draws every panel.
func checkPage(t *testing.T, prometheus *dashboards.Prometheus, dashboard string) {
	t.Helper()
	// The page asks at multiples of the scrape interval that it is told, 5 s: one
	// of them has to be after there was enough to answer from.
	history := dashboards.Query{
		Panel: "all panels", Legend: "history", Expression: `shardnode_height{network="seen"} offset 15s`, Instant: true,
	}
	eventually(t, history.String(), func() (bool, error) { return prometheus.HasData(t.Context(), history) })

	address := prometheus.URL + "/?" + url.Values{
		"dashboard":  {strings.TrimSuffix(dashboard, ".json")},
		"last":       {"5m"},
		"var-scrape": {"5s"},
	}.Encode()
	browse(t, "picture.mjs", address, filepath.Join(t.TempDir(), "page.png"))
}

// browse has a browser do what a script of the page says.
func browse(t *testing.T, script string, args ...string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	command := exec.CommandContext(ctx, "node", append([]string{"../../dashboards/page/" + script}, args...)...)
	// Killed, it would leave its browser behind.
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", script, err, output)
	}
}

// runtime says where what runs of a network is.
type runtime struct {
	Page       string
	Validators []struct{ HTTP string }
}

// run runs the test's network. The node program is the one that SHARDNODE names,
// or else bin/shardnode.
func run(t *testing.T) *runtime {
	t.Helper()
	path := os.Getenv("SHARDNODE")
	if path == "" {
		path = "../../bin/shardnode"
	}
	shardnode, err := local.FindShardnode(path)
	if err != nil {
		t.Fatal(err)
	}
	stateDir := t.TempDir()
	upCtx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		_, err := local.Up(upCtx, local.Options{
			Manifest:     "testdata/network.yaml",
			StateDir:     stateDir,
			Shardnode:    shardnode,
			ReadyTimeout: patience,
			// For the page to show what blocks waited for.
			TraceBasisPoints: 10_000,
			Page:             page.Options{Address: "127.0.0.1:0", ScrapeInterval: time.Second},
			Progress:         t.Output(),
		})
		ended <- err
	}()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Errorf("the network ends with %v", err)
		}
	})

	var network *runtime
	eventually(t, "the network to run", func() (bool, error) {
		network = readRuntime(t, filepath.Join(stateDir, "seen", "runtime.json"))
		return network != nil, nil
	})
	return network
}

// readRuntime reads where what runs of a network is; nil if it does not run.
func readRuntime(t *testing.T, file string) *runtime {
	t.Helper()
	content, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var network runtime
	if err := json.Unmarshal(content, &network); err != nil {
		t.Fatal(err)
	}
	return &network
}

// eventually waits for a condition.
func eventually(t *testing.T, what string, condition func() (bool, error)) {
	t.Helper()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		holds, err := condition()
		if holds {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		select {
		case <-ticker.C:
		case <-deadline.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
