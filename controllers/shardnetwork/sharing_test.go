// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// What somebody else applies to the objects of a network, of fields that are not the
// operator's, stays: while nothing changes, when the operator is replaced, and when it
// applies the objects again because their network changed.
func TestFieldsOfOthersSurvive(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)

	theirs := []*unstructured.Unstructured{
		cluster.somebodys("apps/v1", "StatefulSet", "quickstart-s0-p0", object{
			"revisionHistoryLimit": int64(3),
			"template": object{
				"metadata": object{"annotations": object{"example.com/backup": "none"}},
				"spec": object{
					"priority": int64(0), "hostAliases": []any{object{"ip": "10.0.0.1", "hostnames": []any{"a.example"}}},
					"containers": []any{object{"name": "sidecar", "image": "sidecar:1"}},
				},
			},
		}),
		cluster.somebodys("v1", "Service", "quickstart-rpc", object{
			"sessionAffinity": "ClientIP",
			"ports":           []any{object{"name": "metrics", "port": int64(9000), "protocol": "TCP", "targetPort": int64(9000)}},
		}),
		cluster.somebodys("v1", "ConfigMap", "quickstart-s0-p0-config", nil),
	}
	theirs[2].Object["data"] = object{"note": "not the operator's"}
	for _, object := range theirs {
		cluster.applyAsSomebody(object)
	}

	for i := range 10 {
		switch i {
		case 3:
			cluster.restart()
		case 6:
			// All StatefulSets and configurations are other ones.
			before := network.DeepCopy()
			network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
			if err := cluster.client.Patch(t.Context(), network, client.MergeFrom(before)); err != nil {
				t.Fatal(err)
			}
		}
		written := cluster.writes.Load()
		cluster.mustReconcile(network)
		if extra := cluster.writes.Load() - written; i < 3 && extra != 0 {
			t.Errorf("reconciliation %d makes %d writes, though all that is the operator's is as it was", i, extra)
		}
		for _, object := range theirs {
			cluster.checkHolds(object)
		}
	}
}

// somebodys is what another manager says of an object.
func (c *cluster) somebodys(version, kind, name string, spec object) *unstructured.Unstructured {
	said := &unstructured.Unstructured{Object: object{
		"apiVersion": version, "kind": kind,
		"metadata": object{
			"namespace": c.namespace, "name": name,
			"labels": object{"team": "chain"}, "annotations": object{"example.com/owner": "somebody"},
		},
	}}
	if spec != nil {
		said.Object["spec"] = spec
	}
	return said
}

func (c *cluster) applyAsSomebody(said *unstructured.Unstructured) {
	c.t.Helper()
	if err := c.client.Apply(c.t.Context(), client.ApplyConfigurationFromUnstructured(said.DeepCopy()),
		client.FieldOwner("somebody")); err != nil {
		c.t.Fatalf("somebody applies the %s %s: %v", said.GetKind(), said.GetName(), err)
	}
}

// checkHolds checks that an object still says what somebody else said of it.
func (c *cluster) checkHolds(said *unstructured.Unstructured) {
	c.t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(said.GroupVersionKind())
	live.SetNamespace(said.GetNamespace())
	live.SetName(said.GetName())
	c.read(live)
	if missing := missingFrom(live.Object, said.Object, ""); missing != "" {
		c.t.Errorf("the %s %s does not have %s any more", said.GetKind(), said.GetName(), missing)
	}
}

// missingFrom is the first field of what is said that an object does not have as it is
// said; empty when it has them all. A list holds all items of the other.
func missingFrom(live, said any, path string) string {
	switch said := said.(type) {
	case object:
		has, _ := live.(object)
		for name, value := range said {
			if missing := missingFrom(has[name], value, path+"."+name); missing != "" {
				return missing
			}
		}
	case []any:
		has, _ := live.([]any)
		for _, item := range said {
			found := false
			for _, candidate := range has {
				found = found || missingFrom(candidate, item, "item") == ""
			}
			if !found {
				return path
			}
		}
	default:
		if !reflect.DeepEqual(live, said) {
			return path
		}
	}
	return ""
}
