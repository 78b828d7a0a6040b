// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/test/dashboards"
)

const (
	// slowestAnswer is how long a query of a dashboard may take.
	slowestAnswer = 2 * time.Second
	// scrapedEvery is how often the operator has nodes scraped, and shownEvery how far
	// the points of a panel are apart that shows an hour.
	scrapedEvery, shownEvery = 5 * time.Second, 15 * time.Second
)

// TestLargeNetwork asks every query of every dashboard of a Prometheus that holds an
// hour of the largest preset, with LARGE_NETWORK set. It wants a machine that does
// nothing else.
func TestLargeNetwork(t *testing.T) {
	if os.Getenv("LARGE_NETWORK") == "" {
		t.Skip("LARGE_NETWORK is not set: make queries sets it")
	}
	folder := t.TempDir()
	end := time.Now().Truncate(scrapedEvery)
	begin := end.Add(-time.Hour)
	count := fillLarge(t, filepath.Join(folder, "data"), begin, end)
	t.Logf("%d series", count)
	if count > mostSeries {
		t.Errorf("there are %d series, want at most %d", count, mostSeries)
	}
	prometheus, stop, err := dashboards.Serve(folder, "scrape_configs: []\n")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	files, err := dashboards.AboutNetworks("../../dashboards")
	if err != nil {
		t.Fatal(err)
	}
	answered := 0
	for _, file := range files {
		dashboard, err := dashboards.Read(file, chosen(filepath.Base(file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, query := range dashboard.Queries {
			before := time.Now()
			points, err := prometheus.Points(t.Context(), query, begin, end, shownEvery)
			took := time.Since(before).Round(time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			if points > 0 {
				answered++
			}
			t.Logf("%s, %d points: %s: %s", took, points, filepath.Base(file), query)
			if took > slowestAnswer {
				t.Errorf("%s takes %s, want at most %s", query, took, slowestAnswer)
			}
		}
	}
	// What needs a fault, or a load that a controller steers, has no answer here.
	if answered < 100 {
		t.Errorf("%d queries have an answer, want at least 100", answered)
	}
}

// chosen are the values of a dashboard's variables: all, where all may be chosen.
func chosen(file string) map[string]string {
	values := map[string]string{
		"__rate_interval": "20s", "__range": "1h", "earlier": "10m", "namespace": ".*", "network": "large",
		"region": ".*", "shard": ".*", "target": "1.5",
	}
	switch file {
	case "node.json":
		values["node"] = "large-s7-p0"
	case "shard.json":
		values["shard"] = "7"
	}
	return values
}

// fillLarge writes what the nodes of the largest preset would export between two times,
// from what a producer exports that runs.
func fillLarge(t *testing.T, data string, begin, end time.Time) int {
	t.Helper()
	network := run(t)
	prometheus, err := dashboards.NewPrometheus(network.Page)
	if err != nil {
		t.Fatal(err)
	}
	// Until there is load, half of the metrics have nothing to tell.
	loaded := dashboards.Query{Expression: `sum(shardnode_produced_transfers_total{network="seen"}) > 1000`, Instant: true}
	eventually(t, loaded.Expression, func() (bool, error) { return prometheus.HasData(t.Context(), loaded) })
	exported, err := chain.NewClient(network.Validators[0].HTTP, chain.Admin{}).Metrics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	large := dashboards.Large{
		Network: "large", Regions: []string{"us-central1", "us-east1", "us-east4"},
		Shards: largeShards, Producers: largeNodes / largeShards,
	}
	count, err := large.Fill(t.Context(), data, exported, begin, end, scrapedEvery)
	if err != nil {
		t.Fatal(err)
	}
	return count
}
