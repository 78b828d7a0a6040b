// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
)

const (
	operatorNamespace = "shardyard-system"
	operatorChart     = root + "/charts/shardyard"
	testnetChart      = root + "/charts/testnet"
)

// installOperator installs the operator's chart where only restricted pods may
// run. Its CRDs go with it, so that nothing stays.
func (c *cluster) installOperator(t *testing.T) {
	t.Helper()
	c.newNamespace(t, operatorNamespace, "restricted")
	c.helm.mustRun(t, "upgrade", "--install", "shardyard", operatorChart, "--namespace", operatorNamespace,
		"--set", "crds.keep=false",
		// It works behind its own network policy.
		"--set", "networkPolicy.enabled=true",
		// Where the operator of an earlier run is kept, its image has the same tag.
		"--set", "podAnnotations.archive="+checksum(t, imageFile("operator.tar")),
		"--set", "image.repository=shardyard/operator,image.tag=dev",
		"--set", "nodeImage.repository=shardyard/shardnode,nodeImage.tag=dev",
		"--wait", "--timeout", patience.String())
}

// testOperatorChart runs what the chart says whether it works with.
func (c *cluster) testOperatorChart(t *testing.T) {
	c.helm.mustRun(t, "test", "shardyard", "--namespace", operatorNamespace, "--timeout", patience.String())
}

// showOperator shows what the operator says.
func (c *cluster) showOperator(t *testing.T) {
	t.Helper()
	c.show(t, "--namespace", operatorNamespace, "get", "pods", "--output", "wide")
	c.show(t, "--namespace", operatorNamespace, "logs", "--selector", "app.kubernetes.io/name=shardyard", "--tail", "40")
}

// show logs what kubectl says, for whoever reads why a test failed.
func (c *cluster) show(t *testing.T, arguments ...string) {
	t.Helper()
	output, err := c.kubectl.run(context.Background(), "", arguments...)
	if err != nil {
		t.Log(err)
		return
	}
	t.Logf("kubectl %q says\n%s", arguments, output)
}

// checksum identifies the content of a file.
func checksum(t *testing.T, path string) string {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
