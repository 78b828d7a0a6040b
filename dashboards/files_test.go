// SPDX-License-Identifier: Apache-2.0

package dashboards_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/bench"
)

// The rules leave out networks whose producers sign as fast as pools have room. The module
// that writes them cannot import the rate that producers are asked for then.
func TestFixedCountsAreTold(t *testing.T) {
	t.Parallel()
	rules, err := os.ReadFile("rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("shardnode_load_target_tps[5m])) >= %d\n", bench.MaxProducerRate)
	if !strings.Contains(string(rules), want) {
		t.Errorf("no rule has %q", want)
	}
}
