// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestReadmesNameEveryValue(t *testing.T) {
	for _, chart := range []string{operatorChart, testnetChart} {
		t.Run(filepath.Base(chart), func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(chart, "values.yaml"))
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]any
			if err := yaml.Unmarshal(content, &values); err != nil {
				t.Fatal(err)
			}
			readme, err := os.ReadFile(filepath.Join(chart, "README.md"))
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range leafPaths("", values) {
				if !strings.Contains(string(readme), "`"+path+"`") {
					t.Errorf("the README does not name %s", path)
				}
			}
		})
	}
}

func TestTheReadmesExampleIsANetwork(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(testnetChart, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(readme), "```yaml\n")
	if !found {
		t.Fatal("the README has no example")
	}
	example, _, _ := strings.Cut(rest, "```")
	renderNetwork(t, "--values", writeValues(t, example))
}

// leafPaths are the paths of all values that are not made of others. The
// resources of pods are Kubernetes's own, and count as one value.
func leafPaths(prefix string, values map[string]any) []string {
	var paths []string
	for name, value := range values {
		path := prefix + name
		if object, ok := value.(map[string]any); ok && len(object) > 0 && path != "resources" {
			paths = append(paths, leafPaths(path+".", object)...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}
