// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"path/filepath"
	"testing"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/policy/replacing"
)

// A field that the API gets, and a network does not have, is not in the name of
// its revision: another release of the operator asks nothing else of its nodes.
func TestRevisionsKeepTheirNames(t *testing.T) {
	t.Parallel()
	for sample, want := range map[string]string{
		"quickstart":        "8818585dd7640416",
		"near-1m-70-shards": "9fd80cf5ea619528",
	} {
		network, err := manifest.Read(filepath.Join("..", "..", "..", "config", "samples", sample+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		revision, err := replacing.RevisionOf(network, "shardnode:1")
		if err != nil || revision.Name != want {
			t.Errorf("the revision of %s is %s, want %s: %v", sample, revision.Name, want, err)
		}
		for part, change := range map[string]func(*v1alpha1.ShardNetworkSpec){
			"links": func(spec *v1alpha1.ShardNetworkSpec) {
				spec.Links = append(spec.Links, v1alpha1.LinkSpec{Between: []string{"north", "south"}, DelayMilliseconds: 7})
			},
			"tracing": func(spec *v1alpha1.ShardNetworkSpec) {
				spec.Tracing = &v1alpha1.TracingSpec{Endpoint: "http://collector:4318", SampleBasisPoints: 3}
			},
		} {
			another := network.DeepCopy()
			change(&another.Spec)
			if changed, err := replacing.RevisionOf(another, "shardnode:1"); err != nil || changed.Name == want {
				t.Errorf("the revision of %s is the same with other %s: %v", sample, part, err)
			}
		}
		network.Spec.PodTemplate = &v1alpha1.PodTemplate{Spec: &v1alpha1.PodTemplateSpec{PriorityClassName: "high"}}
		if changed, err := replacing.RevisionOf(network, "shardnode:1"); err != nil || changed.Name == want {
			t.Errorf("the revision of %s is the same with another pod template: %v", sample, err)
		}
	}
}

// What nodes ran before is all of it, also what lies around them, as far as the
// operator of then kept it.
func TestNodesAreAsBefore(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(filepath.Join("..", "..", "..", "config", "samples", "quickstart.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	tracing := &v1alpha1.TracingSpec{Endpoint: "http://collector:4318", SampleBasisPoints: 3}
	network.Spec.Tracing = tracing
	stable, err := replacing.RevisionOf(network, "shardnode:1")
	if err != nil {
		t.Fatal(err)
	}
	network.Spec.Tracing = nil
	network.Spec.Links = []v1alpha1.LinkSpec{{Between: []string{"local", "local"}, DelayMilliseconds: 7}}
	wanted, err := replacing.RevisionOf(network, "shardnode:2")
	if err != nil {
		t.Fatal(err)
	}
	network.Status.Update = &v1alpha1.UpdateStatus{Phase: v1alpha1.UpdateRollingBack, Revision: wanted.Name}

	network.Status.StableRevision = stable
	before := replacing.Effective(network, wanted).Spec
	if before.Node.Image != "shardnode:1" || len(before.Links) > 0 || before.Tracing == nil || *before.Tracing != *tracing {
		t.Errorf("the nodes are to be as %+v, want them as before", before)
	}
	stable.Surroundings = nil
	if before := replacing.Effective(network, wanted).Spec; before.Node.Image != "shardnode:1" || len(before.Links) != 1 {
		t.Errorf("the nodes are to be as %+v, want them in the surroundings of the spec: nobody knows others", before)
	}
}
