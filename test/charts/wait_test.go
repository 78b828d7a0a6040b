// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
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

// A network that gets ready by nothing but a change of its spec has helm end with
// the reason, long before its time-out, and kubectl show it.
func TestHelmEndsEarly(t *testing.T) {
	const namespace = "shardyard-system"
	cluster := startCluster(t)
	cluster.installOperator(t, operatorChart, "--namespace", namespace, "--create-namespace")
	operator := cluster.startOperator(t, namespace, "op-shardyard")

	_, err := cluster.run("install", "quickstart", testnetChart, "--wait", "--timeout", "10m",
		"--set", "network.budget.usdPerHour=1")
	if err == nil {
		t.Fatal("helm took the network for ready")
	}
	for _, want := range []string{"status: Failed", "the cost of the network is not known"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want one that says %q", err, want)
		}
	}
	if strings.Contains(err.Error(), "deadline exceeded") {
		t.Errorf("helm ran into its time-out: %v", err)
	}
	operator.stop(t)
	cluster.checkColumns(t, map[string]string{
		"Shards": "2", "Nodes": "0/4", "Ready": "False", "Reason": v1alpha1.ReasonCostUnknown,
	})
}

// checkColumns compares what kubectl get shows of the only network.
func (c cluster) checkColumns(t *testing.T, want map[string]string) {
	t.Helper()
	config := rest.CopyConfig(c.config)
	config.GroupVersion, config.APIPath = &v1alpha1.GroupVersion, "/apis"
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	api, err := rest.RESTClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	content, err := api.Get().Resource("shardnetworks").
		SetHeader("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var table metav1.Table
	if err := json.Unmarshal(content, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("there are %d networks, want 1", len(table.Rows))
	}
	shown := map[string]string{}
	for i, column := range table.ColumnDefinitions {
		if _, ok := want[column.Name]; ok && column.Priority == 0 {
			shown[column.Name] = fmt.Sprint(table.Rows[0].Cells[i])
		}
	}
	if !maps.Equal(shown, want) {
		t.Errorf("the columns show %v, want %v", shown, want)
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
