// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"os"
	"testing"
)

// The parts share one cluster and one operator, and come in this order.
func TestEndToEnd(t *testing.T) {
	machine := lookAtMachine(t)
	cluster := startCluster(t, theCluster, keep())
	cluster.installOperator(t)

	t.Run("operator's chart", cluster.testOperatorChart)
	t.Run("network", cluster.testNetwork)
	t.Run("ordinary day", cluster.testOrdinaryDay)
	t.Run("refusals", cluster.testRefusals)
	t.Run("interruption", cluster.testInterruption)
	t.Run("troubles", cluster.testTroubles)
	t.Run("forbidden sysctl", cluster.testForbiddenSysctl)
	t.Run("side by side", func(t *testing.T) {
		t.Run("retention", cluster.testRetention)
		t.Run("benchmark", cluster.testBenchmark)
		t.Run("alerts", cluster.testAlerts)
		t.Run("others", func(t *testing.T) {
			t.Parallel()
			t.Run("storage class", cluster.testStorageClass)
			t.Run("tuning", cluster.testTuning)
		})
	})
	if keep() {
		return
	}
	t.Run("uninstall", cluster.testUninstall)
	t.Run("cluster down", func(t *testing.T) {
		cluster.down(t)
		// Docker keeps networks and images of its own.
		if cluster.provider == "namespaces" {
			machine.checkNothingLeft(t)
		}
	})
}

// keep says whether the cluster stays up.
func keep() bool { return os.Getenv("KEEP") != "" }
