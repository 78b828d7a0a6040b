// SPDX-License-Identifier: Apache-2.0

package scale_test

import (
	"context"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// object names an object of the cluster.
type object struct {
	kind, name string
}

func (o object) String() string { return o.kind + " " + o.name }

// planned are the objects that the operator has to make for a network in a
// cluster.
func planned(t *testing.T, network *v1alpha1.ShardNetwork, cluster string) map[object]bool {
	t.Helper()
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	objects := map[object]bool{
		{"ConfigMap", resources.GenesisName(network.Name)}: true,
		{"Secret", resources.AdminTokenName(network.Name)}: true,
	}
	// Whose keys these are does not matter to the names.
	publicKeys := map[string]ed25519.PublicKey{}
	domains := map[string]string{}
	for _, validator := range plan.Nodes {
		publicKeys[validator.Name] = make(ed25519.PublicKey, ed25519.PublicKeySize)
		domains[validator.Cluster] = "example"
	}
	for _, validator := range plan.In(cluster) {
		objects[object{"Secret", resources.KeyName(validator.Name)}] = true
	}
	built, err := resources.Build(network, plan, resources.Inputs{
		Cluster:        cluster,
		PublicKeys:     publicKeys,
		ClusterDomains: domains,
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, made := range built {
		objects[object{made.GetObjectKind().GroupVersionKind().Kind, made.GetName()}] = true
	}
	return objects
}

// found are an object that exists and its owners.
type found struct {
	object
	uid    types.UID
	owners []metav1.OwnerReference
	labels map[string]string
}

// everything lists all objects of the cluster, of every kind.
func (c *cluster) everything(ctx context.Context) ([]found, error) {
	kinds, err := c.kinds()
	if err != nil {
		return nil, err
	}
	var all []found
	for _, kind := range kinds {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind)
		if err := c.List(ctx, list); err != nil {
			return nil, fmt.Errorf("list %s: %w", kind.Kind, err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			all = append(all, found{
				object: object{kind.Kind, item.Name},
				uid:    item.UID,
				owners: item.OwnerReferences,
				labels: item.Labels,
			})
		}
	}
	return all, nil
}

// kinds are those that can be listed, but for events: they tell what happened
// to an object and outlive it.
func (c *cluster) kinds() ([]schema.GroupVersionKind, error) {
	api, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		return nil, err
	}
	lists, err := api.ServerPreferredResources()
	if err != nil {
		return nil, fmt.Errorf("list kinds: %w", err)
	}
	var kinds []schema.GroupVersionKind
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		if err != nil {
			return nil, err
		}
		for i := range list.APIResources {
			if resource := &list.APIResources[i]; resource.Kind != "Event" && slices.Contains(resource.Verbs, "list") {
				kinds = append(kinds, version.WithKind(resource.Kind))
			}
		}
	}
	return kinds, nil
}

// complete says what is missing of a network in the cluster that it names so, or
// what it has that belongs to nothing: every object of it is planned, or owned
// by one that is.
func (c *cluster) complete(ctx context.Context, t *testing.T, network *v1alpha1.ShardNetwork, name string) error {
	t.Helper()
	all, err := c.everything(ctx)
	if err != nil {
		return err
	}
	missing := planned(t, network, name)
	known := map[types.UID]bool{}
	var rest []found
	for _, thing := range all {
		if missing[thing.object] && thing.labels[resources.LabelNetwork] == network.Name {
			delete(missing, thing.object)
			known[thing.uid] = true
		} else if thing.uid != network.UID {
			rest = append(rest, thing)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%d objects are missing, such as %v", len(missing), first(missing))
	}
	// What a StatefulSet owns may own something itself.
	for grown := true; grown; {
		before := len(rest)
		rest = slices.DeleteFunc(rest, func(thing found) bool {
			owned := slices.ContainsFunc(thing.owners, func(owner metav1.OwnerReference) bool { return known[owner.UID] })
			known[thing.uid] = known[thing.uid] || owned
			return owned
		})
		grown = len(rest) < before
	}
	var orphans []string
	for _, thing := range rest {
		if thing.belongsTo(network) {
			orphans = append(orphans, thing.String())
		}
	}
	if len(orphans) > 0 {
		return fmt.Errorf("objects that the plan does not have: %s", strings.Join(orphans, ", "))
	}
	return nil
}

func (f *found) belongsTo(network *v1alpha1.ShardNetwork) bool {
	return f.labels[resources.LabelNetwork] == network.Name ||
		slices.ContainsFunc(f.owners, func(owner metav1.OwnerReference) bool { return owner.UID == network.UID })
}

// networkKinds are those of which a cluster without networks has no object.
var networkKinds = []string{"ShardNetwork", "Pod", "PersistentVolume", "PersistentVolumeClaim", "StorageClass"}

// empty says what is left when no network should be there.
func (c *cluster) empty(ctx context.Context) error {
	all, err := c.everything(ctx)
	if err != nil {
		return err
	}
	var left []string
	for _, thing := range all {
		if _, labelled := thing.labels[resources.LabelNetwork]; labelled || slices.Contains(networkKinds, thing.kind) {
			left = append(left, thing.String())
		}
	}
	if len(left) > 0 {
		return fmt.Errorf("%d objects are left, such as %s", len(left), strings.Join(left[:min(5, len(left))], ", "))
	}
	return nil
}

// checkGenesis checks that the genesis document names the keys that the Secrets
// of a cluster's validators hold, and returns its content.
func (c *cluster) checkGenesis(t *testing.T, network *v1alpha1.ShardNetwork, name string) string {
	t.Helper()
	var document corev1.ConfigMap
	key := client.ObjectKey{Namespace: network.Namespace, Name: resources.GenesisName(network.Name)}
	if err := c.Get(t.Context(), key, &document); err != nil {
		t.Fatal(err)
	}
	var genesis nodeconfig.Genesis
	if err := json.Unmarshal([]byte(resources.GenesisFile(&document)), &genesis); err != nil {
		t.Fatalf("genesis document of %s: %v", network.Name, err)
	}
	if wanted := int(network.Spec.Shards * network.Spec.ProducersPerShard); len(genesis.Validators) != wanted {
		t.Errorf("the genesis document of %s has %d validators, want %d", network.Name, len(genesis.Validators), wanted)
	}
	plan, err := topology.New(network)
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, validator := range genesis.Validators {
		named[validator.Name] = validator.PublicKey
	}
	for _, validator := range plan.In(name) {
		var secret corev1.Secret
		key := client.ObjectKey{Namespace: network.Namespace, Name: resources.KeyName(validator.Name)}
		if err := c.Get(t.Context(), key, &secret); err != nil {
			t.Fatal(err)
		}
		parsed, err := keys.Parse(resources.KeyFile(&secret))
		if err != nil {
			t.Fatalf("Secret %s: %v", secret.Name, err)
		}
		if public := hex.EncodeToString(parsed.Public()); public != named[validator.Name] {
			t.Errorf("the genesis document has key %s of %s, its Secret %s", named[validator.Name], validator.Name, public)
		}
	}
	return resources.GenesisFile(&document)
}

func first(objects map[object]bool) object {
	for name := range objects {
		return name
	}
	return object{}
}
