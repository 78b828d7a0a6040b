// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"crypto/ed25519"
	"crypto/sha256"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// fixture is a network and everything that its objects are made from.
type fixture struct {
	network *v1alpha1.ShardNetwork
	plan    *topology.Plan
	inputs  resources.Inputs
}

func quickstart(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, filepath.Join("..", "..", "config", "samples", "quickstart.yaml"))
}

// everything is a network whose spec sets all that its objects depend on.
func everything(t *testing.T) *fixture {
	t.Helper()
	return newFixture(t, filepath.Join("testdata", "everything.manifest.yaml"))
}

// seventyShards is the largest sample, all of it in one cluster.
func seventyShards(t *testing.T) *fixture {
	t.Helper()
	network := newFixture(t, filepath.Join("..", "..", "config", "samples", "near-1m-70-shards.yaml")).network
	for i := range network.Spec.Regions {
		network.Spec.Regions[i].Cluster = ""
	}
	return planned(t, network)
}

func newFixture(t *testing.T, path string) *fixture {
	t.Helper()
	network, err := manifest.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	network.UID = "3f0c1c52-7d33-4d0e-9c2b-0b8d2a6d9e11"
	return planned(t, network)
}

func planned(t *testing.T, network *v1alpha1.ShardNetwork) *fixture {
	t.Helper()
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	return &fixture{
		network: network,
		plan:    plan,
		inputs: resources.Inputs{
			PublicKeys:        publicKeys(plan.Nodes),
			DefaultNodeImage:  "ghcr.io/shardyard/shardnode:0.1.0",
			ClusterDomains:    map[string]string{"": "cluster.local"},
			OperatorNamespace: "shardyard-system",
		},
	}
}

func publicKeys(validators []topology.Validator) map[string]ed25519.PublicKey {
	keys := map[string]ed25519.PublicKey{}
	for _, validator := range validators {
		seed := sha256.Sum256([]byte(validator.Name))
		keys[validator.Name] = ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
	}
	return keys
}

func (f *fixture) build(t *testing.T) []resources.Object {
	t.Helper()
	objects, err := resources.Build(f.network, f.plan, f.inputs)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

// only are the objects of one kind.
func only[T resources.Object](objects []resources.Object) []T {
	var found []T
	for _, object := range objects {
		if object, ok := object.(T); ok {
			found = append(found, object)
		}
	}
	return found
}

func (f *fixture) statefulSets(t *testing.T) []*appsv1.StatefulSet {
	t.Helper()
	sets := only[*appsv1.StatefulSet](f.build(t))
	if len(sets) != len(f.plan.Nodes) {
		t.Fatalf("%d StatefulSets, want one for each of %d validators", len(sets), len(f.plan.Nodes))
	}
	return sets
}
