// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// setReady writes the status of a network as its operator would.
func (c cluster) setReady(t *testing.T, name string, status metav1.ConditionStatus) {
	t.Helper()
	var network v1alpha1.ShardNetwork
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: metav1.NamespaceDefault, Name: name}, &network); err != nil {
		t.Fatal(err)
	}
	network.Status = v1alpha1.ShardNetworkStatus{
		ObservedGeneration: network.Generation,
		Conditions: []metav1.Condition{{
			Type:               v1alpha1.ConditionReady,
			Status:             status,
			Reason:             v1alpha1.ReasonStarting,
			ObservedGeneration: network.Generation,
			LastTransitionTime: metav1.Now(),
		}},
	}
	if err := c.Status().Update(t.Context(), &network); err != nil {
		t.Fatal(err)
	}
}

func TestHelmWaitsForTheNetwork(t *testing.T) {
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart)
	waits := func(t *testing.T, action string) {
		t.Helper()
		_, err := cluster.run(action, "quickstart", testnetChart, "--wait", "--timeout", "2s")
		if err == nil {
			t.Fatal("helm took the network for ready")
		}
		if !strings.Contains(err.Error(), "ShardNetwork/default/quickstart not ready") {
			t.Fatalf("the error is %v, want one that says that the network is not ready", err)
		}
	}

	waits(t, "install")
	cluster.setReady(t, "quickstart", metav1.ConditionFalse)
	waits(t, "upgrade")
	cluster.setReady(t, "quickstart", metav1.ConditionTrue)
	cluster.mustRun(t, "upgrade", "quickstart", testnetChart, "--wait", "--timeout", "1m")
}
