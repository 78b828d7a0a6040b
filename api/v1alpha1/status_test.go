// SPDX-License-Identifier: Apache-2.0

package v1alpha1_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// The columns of kubectl get are the summary that people look at first.
func TestPrinterColumns(t *testing.T) {
	t.Parallel()
	network := edited(t, named(t))
	set("status.height", 7)(t, network)
	created, err := create(t, network)
	if err != nil {
		t.Fatal(err)
	}
	// What waits for a network compares the generations: the first one is 1.
	if got, want := fmt.Sprint(created.Object["status"]), "map[observedGeneration:-1]"; got != want {
		t.Errorf("a new network has the status %s, want %s", got, want)
	}

	set("status", object{
		"nodesWanted":           8,
		"nodesReady":            6,
		"nodesSummary":          "6/8",
		"transfersPerSecond":    4012,
		"blockTimeMilliseconds": 601,
		"height":                1201,
		"finalizedHeight":       1200,
		"conditions": []any{object{
			"type": v1alpha1.ConditionReady, "status": "False", "reason": v1alpha1.ReasonDegraded,
			"message": "6 of 8 nodes take part", "lastTransitionTime": "2026-11-22T12:00:00Z",
		}},
	})(t, created.Object)
	if _, err := networks.UpdateStatus(t.Context(), created, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}

	var columns, cells []string
	table := printed(t, "shardnetworks", created.GetName())
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 && column.Name != "Age" {
			columns = append(columns, column.Name)
			cells = append(cells, fmt.Sprint(table.Rows[0].Cells[i]))
		}
	}
	if got, want := strings.Join(columns, " "), "Name Shards Nodes Ready Reason TPS Block-time Height"; got != want {
		t.Errorf("columns are %s, want %s", got, want)
	}
	if got, want := strings.Join(cells, " "), created.GetName()+" 4 6/8 False Degraded 4012 601 1201"; got != want {
		t.Errorf("cells are %s, want %s", got, want)
	}
}

// printed asks for an object the way kubectl get does.
func printed(t *testing.T, plural, name string) *metav1.Table {
	t.Helper()
	client, err := rest.HTTPClientFor(apiServer)
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.JoinPath(apiServer.Host, "apis/shardyard.dev/v1alpha1/namespaces/default", plural, name)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode != http.StatusOK {
		t.Fatalf("%s answers %s: %s", address, response.Status, body)
	}
	var table metav1.Table
	if err := json.Unmarshal(body, &table); err != nil {
		t.Fatal(err)
	}
	if len(table.Rows) != 1 {
		t.Fatalf("the API server answers %s with %s", address, body)
	}
	return &table
}
