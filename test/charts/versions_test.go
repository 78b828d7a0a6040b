// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	older, newer  = "v1alpha1", "v1beta1"
	versionsGuide = "../../docs/guides/api-versions.md"
)

// TestVersionsFollowEachOther goes from one version of every kind to the next by
// the commands of the guide: at every step each object reads as before.
func TestVersionsFollowEachOther(t *testing.T) {
	v := newVersions(t)
	for _, network := range []string{"kept", "left", "late"} {
		v.mustRun(t, "install", network, testnetChart, "--set", "nodeTuning.enabled=false")
		v.apply(t, older, network, "one", "two")
	}
	v.createSamples(t)
	before := v.objects(t, older)

	v.serve(t, version{name: older, served: true}, version{name: newer, served: true, stored: true})
	v.checkObjects(t, newer, before)
	v.checkObjects(t, older, before)
	v.checkStored(t, older)
	v.checkStoredVersions(t, older, newer)
	for _, alone := range []string{older, newer} {
		v.checkRefused(t, alone)
	}
	v.renameRelease(t, "kept")
	v.checkOwners(t)

	v.follow(t, "Write every object again")
	v.checkObjects(t, newer, before)
	v.checkStored(t, newer)
	v.checkManagers(t)
	v.follow(t, "Forget the older version")
	v.checkStoredVersions(t, newer)
	v.apply(t, older, "late", "one", "two")

	v.serve(t, version{name: newer, served: true, stored: true}, version{name: older})
	v.checkObjects(t, newer, before)
	v.serve(t, version{name: newer, served: true, stored: true})
	v.checkObjects(t, newer, before)
	v.checkRefused(t, older)
	if said := v.follow(t, "A release without the older"); strings.Contains(said, older) || strings.Count(said, newer) != 2*len(v.charts) {
		t.Errorf("the guide's command says:\n%s", said)
	}
	v.checkReleases(t)
	v.checkOwnership(t)

	v.checkUnequalSchemas(t)
}

// versions is a cluster whose CRDs get other versions.
type versions struct {
	cluster
	guide string
	// The CRDs as the chart has them, by name.
	charts map[string]*apiextensionsv1.CustomResourceDefinition
}

// version is one of a CRD, with the schema of the chart and maybe one text more in
// its spec.
type version struct {
	name           string
	served, stored bool
	field          string
}

// newVersions starts a cluster with the CRDs of the chart.
func newVersions(t *testing.T) *versions {
	t.Helper()
	v := &versions{
		cluster: startCluster(t), guide: readGuide(t, versionsGuide),
		charts: map[string]*apiextensionsv1.CustomResourceDefinition{},
	}
	paths, err := filepath.Glob(filepath.Join(operatorChart, "files", "crds", "*.yaml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("the chart has no CRDs: %v", err)
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		definition := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(content, definition); err != nil {
			t.Fatal(err)
		}
		if len(definition.Spec.Versions) != 1 || definition.Spec.Versions[0].Name != older {
			t.Fatalf("%s is not of %s alone", definition.Name, older)
		}
		v.charts[definition.Name] = definition
		if err := v.Create(t.Context(), definition.DeepCopy()); err != nil {
			t.Fatal(err)
		}
	}
	for _, definition := range v.charts {
		v.awaitStorage(t, definition)
	}
	return v
}

// serve gives every CRD these versions, and waits until the API server has taken
// notice.
func (v *versions) serve(t *testing.T, wanted ...version) {
	t.Helper()
	for _, definition := range v.definitions(t) {
		v.setVersions(&definition, wanted)
		if err := v.Update(t.Context(), &definition); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range wanted {
		eventually(t, func(ctx context.Context) error { return v.isServed(ctx, want) })
	}
}

// setVersions gives a CRD versions that differ from that of the chart in what is
// wanted.
func (v *versions) setVersions(definition *apiextensionsv1.CustomResourceDefinition, wanted []version) {
	definition.Spec.Versions = nil
	for _, want := range wanted {
		one := *v.charts[definition.Name].Spec.Versions[0].DeepCopy()
		one.Name, one.Served, one.Storage = want.name, want.served, want.stored
		if want.field != "" {
			one.Schema.OpenAPIV3Schema.Properties["spec"].Properties[want.field] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		}
		definition.Spec.Versions = append(definition.Spec.Versions, one)
	}
}

// isServed tells whether objects of every kind are answered as a version, or
// none is where the version is not to be served.
func (v *versions) isServed(ctx context.Context, want version) error {
	for _, definition := range v.charts {
		_, err := v.list(ctx, definition, want.name)
		if want.served && err != nil || !want.served && !apierrors.IsNotFound(err) {
			return fmt.Errorf("%s as %s are answered with %w", definition.Name, want.name, err)
		}
	}
	return nil
}

// checkRefused makes sure that no CRD can be of one version alone while objects may
// be stored as another.
func (v *versions) checkRefused(t *testing.T, alone string) {
	t.Helper()
	for _, definition := range v.definitions(t) {
		v.setVersions(&definition, []version{{name: alone, served: true, stored: true}})
		err := v.Update(t.Context(), &definition, client.DryRunAll)
		if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "status.storedVersions") {
			t.Errorf("%s of %s alone is answered with: %v", definition.Name, alone, err)
		}
	}
}

func (v *versions) definitions(t *testing.T) []apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var all apiextensionsv1.CustomResourceDefinitionList
	if err := v.List(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	return all.Items
}

func (v *versions) checkStoredVersions(t *testing.T, want ...string) {
	t.Helper()
	for _, definition := range v.definitions(t) {
		if got := definition.Status.StoredVersions; !slices.Equal(got, want) {
			t.Errorf("%s has the stored versions %v, want %v", definition.Name, got, want)
		}
	}
}

// checkUnequalSchemas shows why two versions that are served have one schema: a
// field of one is lost when the object is written as the other.
func (v *versions) checkUnequalSchemas(t *testing.T) {
	t.Helper()
	v.serve(t, version{name: older, served: true}, version{name: newer, served: true, stored: true, field: "note"})
	key := client.ObjectKey{Namespace: "default", Name: "kept"}
	note := func(version string) string {
		text, _, err := unstructured.NestedString(v.get(t, version, key).Object, "spec", "note")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}

	eventually(t, func(ctx context.Context) error {
		written := v.get(t, newer, key)
		if err := unstructured.SetNestedField(written.Object, "kept", "spec", "note"); err != nil {
			return err
		}
		if err := v.Update(ctx, written); err != nil {
			return err
		}
		if known := note(newer); known != "kept" {
			return fmt.Errorf("the version that knows the field reads %q", known)
		}
		return nil
	})
	if unknown := note(older); unknown != "" {
		t.Errorf("the version that does not know the field reads %q", unknown)
	}
	other := v.get(t, older, key)
	other.SetLabels(map[string]string{"changed": "yes"})
	if err := v.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if lost := note(newer); lost != "" {
		t.Errorf("written by the version that does not know the field, it is %q", lost)
	}
}
