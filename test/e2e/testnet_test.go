// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// networkNamespace is where the network of the testnet chart is.
const networkNamespace = "e2e"

// testNetwork takes one network through its life.
func (c *cluster) testNetwork(t *testing.T) {
	c.startJaeger(t)
	n := c.installNetwork(t)

	t.Run("is ready when helm returns", n.testReadyAfterHelm)
	t.Run("passes its chart's test", n.testChart)
	t.Run("shows its rate", n.testRate)
	t.Run("sends its traces", n.testTraces)
	t.Run("runs in its regions", n.testRegions)
	t.Run("sets TCP in the pod", n.testTCP)
	t.Run("lets in whom its policy allows", n.testPolicy)
	t.Run("keeps what genesis fixes", n.testFixedFields)
	t.Run("says which disks do not grow", n.testGrowth)
	t.Run("goes on without a validator", n.testLoss)
	t.Run("fills the dashboards", n.testDashboards)
	t.Run("has faults happen to it", n.testFaults)
	t.Run("leaves nothing behind", n.testRemoval)
}

// installNetwork installs the testnet chart: the quickstart on disks, with TCP
// settings of its own, in the cluster's regions. Helm waits until the network
// is ready.
func (c *cluster) installNetwork(t *testing.T) *network {
	t.Helper()
	// The TCP settings, not the pods otherwise, need the level privileged.
	c.newNamespace(t, networkNamespace, "privileged")
	n := c.network(t, networkNamespace, "quickstart")
	n.upgrade(t)
	return n
}

// upgrade installs or upgrades the network's release and waits.
func (n *network) upgrade(t *testing.T, arguments ...string) {
	t.Helper()
	n.helm.mustRun(t, append([]string{
		"upgrade", "--install", n.name, testnetChart, "--namespace", n.namespace,
		"--set", "preset=quickstart", "--values", "testdata/quickstart.yaml", "--wait", "--timeout", patience.String(),
	}, arguments...)...)
}

func (n *network) testReadyAfterHelm(t *testing.T) {
	live := n.mustRead(t)
	for kind, want := range map[string]metav1.ConditionStatus{
		v1alpha1.ConditionReady:         metav1.ConditionTrue,
		v1alpha1.ConditionGenesisReady:  metav1.ConditionTrue,
		v1alpha1.ConditionApplied:       metav1.ConditionTrue,
		v1alpha1.ConditionNodesReady:    metav1.ConditionTrue,
		v1alpha1.ConditionUpdated:       metav1.ConditionTrue,
		v1alpha1.ConditionProducing:     metav1.ConditionTrue,
		v1alpha1.ConditionTCPTuned:      metav1.ConditionTrue,
		v1alpha1.ConditionMachinesTuned: metav1.ConditionTrue,
		// This cluster has no Prometheus operator, and no network needs one.
		v1alpha1.ConditionMonitored: metav1.ConditionFalse,
	} {
		found := false
		for _, condition := range live.Status.Conditions {
			if condition.Type != kind {
				continue
			}
			found = true
			if condition.Status != want || condition.ObservedGeneration != live.Generation {
				t.Errorf("%s is %s (%s: %s) as of generation %d, want %s as of %d", kind, condition.Status,
					condition.Reason, condition.Message, condition.ObservedGeneration, want, live.Generation)
			}
		}
		if !found {
			t.Errorf("the network has no condition %s", kind)
		}
	}
}

// testChart runs what the chart says whether it works with.
func (n *network) testChart(t *testing.T) {
	n.helm.mustRun(t, "test", n.name, "--namespace", n.namespace, "--timeout", patience.String())
}

// testRate reads the table that a user sees.
func (n *network) testRate(t *testing.T) {
	eventually(t, "kubectl get shardnetworks shows transfers per second", func(ctx context.Context) error {
		output, err := n.kubectl.run(ctx, "", "--namespace", n.namespace, "get", "shardnetworks")
		if err != nil {
			return err
		}
		rate, err := column(output, n.name, "TPS")
		if err != nil {
			return err
		}
		if value, err := strconv.Atoi(rate); err != nil || value <= 0 {
			return fmt.Errorf("TPS is %q in\n%s", rate, output)
		}
		t.Logf("kubectl get shardnetworks says\n%s", output)
		return nil
	})
}

// column is the cell of a table with a row for each name.
func column(table, name, heading string) (string, error) {
	lines := strings.Split(strings.TrimSpace(table), "\n")
	start := strings.Index(lines[0], heading+" ")
	for _, line := range lines[1:] {
		if strings.HasPrefix(line, name+" ") && start >= 0 && start < len(line) {
			cell, _, _ := strings.Cut(line[start:], " ")
			return cell, nil
		}
	}
	return "", fmt.Errorf("no %s of %s in\n%s", heading, name, table)
}

// testRegions checks that each validator runs on a machine of its region.
func (n *network) testRegions(t *testing.T) {
	pods := n.mustPods(t)
	for _, validator := range n.plan(t).Nodes {
		pod := pods[resources.PodName(validator.Name)]
		if pod == nil {
			t.Errorf("%s has no pod", validator.Name)
			continue
		}
		machine := &corev1.Node{}
		if err := n.Get(t.Context(), client.ObjectKey{Name: pod.Spec.NodeName}, machine); err != nil {
			t.Fatal(err)
		}
		if region := machine.Labels[resources.LabelRegionOfMachine]; region != validator.Region {
			t.Errorf("%s runs in %q, want %s", validator.Name, region, validator.Region)
		}
	}
}

// testRemoval uninstalls the network as a user would.
func (n *network) testRemoval(t *testing.T) {
	n.helm.mustRun(t, "uninstall", n.name, "--namespace", n.namespace,
		"--cascade", "foreground", "--wait", "--timeout", patience.String())
	n.waitForEnd(t)
}
