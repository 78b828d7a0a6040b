// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// metadata is what Chart.yaml says of a chart.
type metadata struct {
	AppVersion  string            `json:"appVersion"`
	Annotations map[string]string `json:"annotations"`
}

func readMetadata(t *testing.T, chart string) *metadata {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(chart, "Chart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	read := &metadata{}
	if err := yaml.Unmarshal(content, read); err != nil {
		t.Fatal(err)
	}
	return read
}

// list is an annotation of Artifact Hub, which is a list in YAML.
func list[T any](t *testing.T, from *metadata, name string) []T {
	t.Helper()
	var items []T
	if err := yaml.UnmarshalStrict([]byte(from.Annotations["artifacthub.io/"+name]), &items); err != nil || len(items) == 0 {
		t.Fatalf("the annotation %s has no items: %v", name, err)
	}
	return items
}

// What the charts say of themselves to Artifact Hub is so: their images are those that
// they run, their links lead to files of the tree, and their CRDs are all there are.
func TestArtifactHub(t *testing.T) {
	for _, chart := range []string{operatorChart, testnetChart} {
		t.Run(filepath.Base(chart), func(t *testing.T) {
			said := readMetadata(t, chart)
			if ofZero := strings.HasPrefix(said.AppVersion, "0."); ofZero != (said.Annotations["artifacthub.io/prerelease"] == "true") {
				t.Errorf("of version %s it says prerelease=%s", said.AppVersion, said.Annotations["artifacthub.io/prerelease"])
			}
			for _, image := range list[struct {
				Name, Image string
				Platforms   []string
			}](t, said, "images") {
				if want := "ghcr.io/shardyard/" + image.Name + ":" + said.AppVersion; image.Image != want {
					t.Errorf("an image is %s, want %s", image.Image, want)
				}
			}
			for _, link := range list[struct{ Name, URL string }](t, said, "links") {
				_, path, found := strings.Cut(link.URL, "/main/")
				if _, err := os.Stat(filepath.Join("..", "..", path)); !found || err != nil {
					t.Errorf("the link %s leads to no file of the tree: %v", link.URL, err)
				}
			}
		})
	}
	var said, held []string
	for _, definition := range list[struct {
		Kind, Version, Name, DisplayName, Description string
	}](t, readMetadata(t, operatorChart), "crds") {
		said = append(said, definition.Name+" "+definition.Kind+" "+definition.Version)
	}
	for _, definition := range ofType[*apiextensionsv1.CustomResourceDefinition](renderOperator(t)) {
		held = append(held, definition.Name+" "+definition.Spec.Names.Kind+" "+definition.Spec.Versions[0].Name)
	}
	slices.Sort(said)
	slices.Sort(held)
	if !slices.Equal(said, held) {
		t.Errorf("the CRDs are said to be %v, and are %v", said, held)
	}
}
