// SPDX-License-Identifier: Apache-2.0

package metrics_test

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/local/metrics"
)

// What a histogram counted has a mean, and of a node that counted nothing there is
// none.
func TestMeans(t *testing.T) {
	t.Parallel()
	store, err := metrics.OpenStore(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	targets := []metrics.Target{histogram(t, "busy", 10, 0.04), histogram(t, "idle", 0, 0)}
	scraper, err := metrics.StartScraper(t.Context(), store, targets, 100*time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scraper.Stop)
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(patience); ; <-ticker.C {
		means, err := store.Means(t.Context(), "net", "shardnode_execution_seconds", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		if mean, ok := means["busy"]; ok {
			if math.Abs(mean.Milliseconds-4) > 1e-6 || mean.Of < 1 || len(means) != 1 {
				t.Errorf("got %+v", means)
			}
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there are only %+v", means)
		}
	}
}

// histogram is a node that counts so much more each time that it is asked.
func histogram(t *testing.T, name string, count int64, seconds float64) metrics.Target {
	t.Helper()
	var scrapes atomic.Int64
	node := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		times := scrapes.Add(1)
		w.Header().Set("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")
		_, _ = fmt.Fprintf(w, `# TYPE shardnode_execution_seconds histogram
shardnode_execution_seconds_bucket{network="net",region="east",node=%[1]q,le="+Inf"} %[2]d
shardnode_execution_seconds_sum{network="net",region="east",node=%[1]q} %[3]f
shardnode_execution_seconds_count{network="net",region="east",node=%[1]q} %[2]d
# EOF
`, name, count*times, seconds*float64(times))
	}))
	t.Cleanup(node.Close)
	return metrics.Target{Address: node.Listener.Addr().String(), Network: "net", Region: "east", Node: name}
}
