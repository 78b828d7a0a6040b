// SPDX-License-Identifier: Apache-2.0

package charts_test

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// checkOwners makes sure that the guide's command lists what names an owner of
// the older version, and nothing else.
func (v *versions) checkOwners(t *testing.T) {
	t.Helper()
	for _, version := range []string{older, newer} {
		owned := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
			Namespace: "default", Name: "owned-" + version, OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.GroupVersion.Group + "/" + version, Kind: "ShardNetwork", Name: "kept", UID: "1",
			}},
		}}
		if err := v.Create(t.Context(), owned); err != nil {
			t.Fatal(err)
		}
	}
	if listed := v.follow(t, "Name the newer version"); listed != "ConfigMap default/owned-v1alpha1\n" {
		t.Errorf("of the older version are %q", listed)
	}
}

// apply applies labels to a network on the server, as one who owns them.
func (v *versions) apply(t *testing.T, version, network string, labels ...string) {
	t.Helper()
	if err := v.tryApply(t.Context(), version, network, labels...); err != nil {
		t.Fatal(err)
	}
}

func (v *versions) tryApply(ctx context.Context, version, network string, labels ...string) error {
	applied := &unstructured.Unstructured{}
	applied.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("ShardNetwork").GroupKind().WithVersion(version))
	applied.SetNamespace("default")
	applied.SetName(network)
	wanted := map[string]string{}
	for _, label := range labels {
		wanted["example.com/"+label] = "yes"
	}
	applied.SetLabels(wanted)
	return v.Apply(ctx, client.ApplyConfigurationFromUnstructured(applied), client.FieldOwner("somebody"))
}

// checkManagers makes sure that nobody owns fields as the older version.
func (v *versions) checkManagers(t *testing.T) {
	t.Helper()
	managers := 0
	for _, definition := range v.charts {
		items, err := v.list(t.Context(), definition, newer)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			for _, entry := range item.GetManagedFields() {
				managers++
				if entry.APIVersion != definition.Spec.Group+"/"+newer {
					t.Errorf("%s %s has fields that %s owns as %s", item.GetKind(), item.GetName(), entry.Manager, entry.APIVersion)
				}
			}
		}
	}
	if managers == 0 {
		t.Error("nobody owns anything")
	}
}

// checkOwnership makes sure that what was owned as the older version is owned as
// the newer one: what is no longer applied goes. What somebody applied as the older
// version after all had been written again, nobody can apply any more.
func (v *versions) checkOwnership(t *testing.T) {
	t.Helper()
	v.apply(t, newer, "kept", "one")
	labels := v.get(t, newer, client.ObjectKey{Namespace: "default", Name: "kept"}).GetLabels()
	if labels["example.com/one"] == "" || labels["example.com/two"] != "" {
		t.Errorf("of two labels the first is still applied, and there are %v", labels)
	}
	err := v.tryApply(t.Context(), newer, "late", "one")
	if err == nil || !strings.Contains(err.Error(), "invalid group/version: "+v1alpha1.GroupVersion.Group+"/"+older) {
		t.Errorf("applying to what was applied as %s ends with: %v", older, err)
	}
}
