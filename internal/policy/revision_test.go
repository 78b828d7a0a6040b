// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"path/filepath"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/policy"
)

// A field that the API gets, and a network does not have, is not in the name of
// its revision: another release of the operator asks nothing else of its nodes.
func TestRevisionsKeepTheirNames(t *testing.T) {
	t.Parallel()
	for sample, want := range map[string]string{
		"quickstart":        "8818585dd7640416",
		"near-1m-70-shards": "9fd80cf5ea619528",
	} {
		network, err := manifest.Read(filepath.Join("..", "..", "config", "samples", sample+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		revision, err := policy.RevisionOf(network, "shardnode:1")
		if err != nil || revision.Name != want {
			t.Errorf("the revision of %s is %s, want %s: %v", sample, revision.Name, want, err)
		}
		network.Spec.PodTemplate = &v1alpha1.PodTemplate{Spec: &v1alpha1.PodTemplateSpec{PriorityClassName: "high"}}
		if changed, err := policy.RevisionOf(network, "shardnode:1"); err != nil || changed.Name == want {
			t.Errorf("the revision of %s is the same with another pod template: %v", sample, err)
		}
	}
}
