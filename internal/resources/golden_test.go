// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/resources"
)

var update = flag.Bool("update", false, "write the files that the tests compare with")

func TestQuickstart(t *testing.T) {
	t.Parallel()
	checkGolden(t, "quickstart.yaml", quickstart(t).build(t))
}

func TestEverything(t *testing.T) {
	t.Parallel()
	checkGolden(t, "everything.yaml", everything(t).build(t))
}

func TestPodMonitor(t *testing.T) {
	t.Parallel()
	monitor := resources.NewPodMonitor(quickstart(t).network, map[string]string{"release": "prometheus"}, resources.LibraryMetricsDrop)
	checkGolden(t, "podmonitor.yaml", []resources.Object{monitor})
}

// Whoever looks into a library has all that it exports.
func TestPodMonitorOfLibraries(t *testing.T) {
	t.Parallel()
	monitor := resources.NewPodMonitor(quickstart(t).network, nil, resources.LibraryMetricsKeep)
	endpoints, _, err := unstructured.NestedSlice(monitor.Object, "spec", "podMetricsEndpoints")
	if err != nil || len(endpoints) != 1 {
		t.Fatalf("the endpoints are %v: %v", endpoints, err)
	}
	if relabelings, ok := endpoints[0].(map[string]any)["metricRelabelings"]; ok {
		t.Errorf("metrics are dropped by %v", relabelings)
	}
}

// checkGolden compares objects, in their order, with a file under testdata.
func checkGolden(t *testing.T, name string, objects []resources.Object) {
	t.Helper()
	var documents bytes.Buffer
	for _, object := range objects {
		fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		// Of typed objects also what only the cluster sets.
		delete(fields, "status")
		content, err := yaml.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		documents.WriteString("---\n")
		documents.Write(content)
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, documents.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := documents.Bytes(); !bytes.Equal(got, want) {
		t.Errorf("the objects are not those of %s; go test ./internal/resources -update writes it, "+
			"and git diff then shows what changed:\n%s", path, firstDifference(want, got))
	}
}

// firstDifference is the first line that differs, with what is around it.
func firstDifference(want, got []byte) string {
	wantLines, gotLines := bytes.Split(want, []byte("\n")), bytes.Split(got, []byte("\n"))
	at := 0
	for at < min(len(wantLines), len(gotLines)) && bytes.Equal(wantLines[at], gotLines[at]) {
		at++
	}
	around := func(lines [][]byte) string {
		return string(bytes.Join(lines[max(0, at-3):min(len(lines), at+4)], []byte("\n")))
	}
	return "want\n" + around(wantLines) + "\ngot\n" + around(gotLines)
}
