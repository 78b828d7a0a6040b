// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"testing"

	"github.com/shardyard/shardyard/test/dashboards"
)

// checkLinks checks that what the nodes of two regions send each other takes as
// long as the link between these, and that nothing else is held up.
func checkLinks(t *testing.T, prometheus *dashboards.Prometheus) {
	t.Helper()
	for _, series := range seriesOf(t, prometheus, "shardnode_link_bytes_total") {
		if series["region"] == series["peer_region"] {
			t.Errorf("there is a link within a region: %v", series)
		}
	}
	const atLeast = `count(
		sum by (direction) (shardnode_link_hold_seconds_sum) / sum by (direction) (shardnode_link_hold_seconds_count) >= 0.01
	) == 2`
	held, err := prometheus.HasData(t.Context(), dashboards.Query{Expression: atLeast, Instant: true})
	if err != nil {
		t.Fatal(err)
	}
	if !held {
		t.Error("what is sent and received is held for less than the link's 10 ms")
	}
}
