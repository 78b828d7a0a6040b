// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
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
		"--set", "image.repository=shardyard/operator,image.tag=dev",
		"--set", "nodeImage.repository=shardyard/shardnode,nodeImage.tag=dev",
		"--wait", "--timeout", patience.String())
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
