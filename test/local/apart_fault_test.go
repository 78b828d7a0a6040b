// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// upApart starts the test's network with a producer of each shard in another region than
// all else, 30 ms away.
func upApart(t *testing.T) *command {
	t.Helper()
	content, err := os.ReadFile("testdata/network.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const regions = "    - name: local\n      nodes: 6\n"
	if !strings.Contains(string(content), regions) {
		t.Fatalf("testdata/network.yaml has other regions than\n%s", regions)
	}
	manifest := filepath.Join(t.TempDir(), "network.yaml")
	apart := strings.Replace(string(content), regions, `    - {name: north, nodes: 2}
    - {name: south, nodes: 4}
  links:
    - {between: [north, south], delayMilliseconds: 30}
`, 1)
	if err := os.WriteFile(manifest, []byte(apart), 0o600); err != nil {
		t.Fatal(err)
	}
	return up(t, t.TempDir(), "-f", manifest)
}

// With two of four producers in another region, the chain makes no blocks while the regions
// are cut off from each other. Blocks take longer while half of what is sent there, and from
// there, is lost: it has to be sent again, from far away.
func TestFaultsBetweenRegions(t *testing.T) {
	t.Parallel()
	network := upApart(t)
	network.says(t, "genesis hash ")
	watch(t, network).awaitTransfers(t)
	const region = "region: north"

	cut := measureFault(t, network, region, "Partition\n  partition: {from: {region: south}}", "8")
	checkFewerBlocks(t, &cut.Status)
	checkReached(t, &cut.Status, v1alpha1.FaultImpaired)

	lossy := measureUntil(t, network, v1alpha1.ReasonFelt, region, "Loss\n  loss: {basisPoints: 5000}", "10")
	checkReached(t, &lossy.Status, v1alpha1.FaultImpaired)
	// What is lost comes five quarters of a round trip later.
	const retransmission = 75
	before, during := lossy.Status.Windows[0].BlockTimeMilliseconds, lossy.Status.Windows[1].BlockTimeMilliseconds
	if before == nil || during == nil || *during < *before+retransmission {
		t.Errorf("with loss, blocks take as long as without: %+v", lossy.Status.Windows)
	}
	network.signal(t, os.Interrupt)
	if summary := network.summary(t); !summary.SupplyConserved {
		t.Errorf("the summary is %+v", summary)
	}
}
