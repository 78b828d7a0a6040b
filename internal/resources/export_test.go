// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// spanning is a network of two shards with three producers each, one shard with
// two of them in the member, and a chunk validator in either cluster.
func spanning(t *testing.T, cluster string) *fixture {
	t.Helper()
	network := everything(t).network
	network.Spec.Shards, network.Spec.ProducersPerShard = 2, 3
	network.Spec.Regions = []v1alpha1.Region{{Name: "a", Nodes: 4}, {Name: "b", Nodes: 4, Cluster: "far"}}
	f := planned(t, network)
	f.inputs.Cluster = cluster
	f.inputs.ClusterDomains = map[string]string{"": "cluster.local", "far": "far.example"}
	f.inputs.OperatorAddress = "10.0.0.7"
	return f
}

// Every validator is made in one cluster, with what it needs there.
func TestClustersShareThePlan(t *testing.T) {
	t.Parallel()
	var made []string
	for _, cluster := range []string{"", "far"} {
		f := spanning(t, cluster)
		objects := f.build(t)
		for _, set := range only[*appsv1.StatefulSet](objects) {
			made = append(made, set.Name)
			region := set.Spec.Template.Labels[resources.LabelRegion]
			if want := map[string]string{"": "a", "far": "b"}[cluster]; region != want {
				t.Errorf("cluster %q has %s of region %s", cluster, set.Name, region)
			}
		}
		if budgets := only[*policyv1.PodDisruptionBudget](objects); len(budgets) != 1 {
			t.Errorf("cluster %q has %d disruption budgets, want one", cluster, len(budgets))
		}
		configs := only[*corev1.ConfigMap](objects)
		if len(configs) != 5 {
			t.Fatalf("cluster %q has %d ConfigMaps, want 4 configurations and the addresses", cluster, len(configs))
		}
		for _, validator := range f.plan.Nodes {
			if peers := fmt.Sprint(configs[0].Data); !strings.Contains(peers, validator.Name) {
				t.Errorf("cluster %q has %s, which does not name %s: %s", cluster, configs[0].Name, validator.Name, peers)
			}
		}
	}
	slices.Sort(made)
	var want []string
	for _, validator := range spanning(t, "").plan.Nodes {
		want = append(want, validator.Name)
	}
	if !slices.Equal(made, want) {
		t.Errorf("the clusters have %v, want %v", made, want)
	}
}

// An owner of another cluster would have the garbage collector delete the
// object at once.
func TestObjectsOfMembersHaveNoOwner(t *testing.T) {
	t.Parallel()
	f := spanning(t, "far")
	for _, object := range f.build(t) {
		if len(object.GetOwnerReferences()) > 0 {
			t.Errorf("%T %s has an owner", object, object.GetName())
		}
		if object.GetLabels()[resources.LabelNetworkUID] != string(f.network.UID) {
			t.Errorf("%T %s does not say of which network it is", object, object.GetName())
		}
	}
	if classes := only[*storagev1.StorageClass](f.build(t)); len(classes) != 2 {
		t.Errorf("the member has %d storage classes, want that of all and that of chunk validators", len(classes))
	}
	// Claims may stay when the network goes, and the next one takes them over.
	for _, set := range only[*appsv1.StatefulSet](f.build(t)) {
		for _, claim := range set.Spec.VolumeClaimTemplates {
			if uid, ok := claim.Labels[resources.LabelNetworkUID]; ok {
				t.Errorf("the claims of %s are of the network %s for ever", set.Name, uid)
			}
		}
	}
	f.network.Spec.Volume.Retention = v1alpha1.VolumeRetentionRetain
	key := resources.NewKey(f.network, f.plan.Nodes[0], nil)
	resources.Export(f.network, key)
	if uid, ok := key.Labels[resources.LabelNetworkUID]; ok {
		t.Errorf("a key that stays goes with the network %s", uid)
	}
}

// Selectors find only pods of their own cluster, so validators are open to p2p
// from everywhere, and the operator is known by its address.
func TestNetworkPolicyAcrossClusters(t *testing.T) {
	t.Parallel()
	for cluster, want := range map[string]string{"": "namespace", "far": "10.0.0.7/32"} {
		spec := only[*networkingv1.NetworkPolicy](spanning(t, cluster).build(t))[0].Spec
		if len(spec.Ingress[0].From) > 0 || len(spec.Egress[0].To) > 0 {
			t.Errorf("cluster %q: p2p is from %v to %v, want everybody", cluster, spec.Ingress[0].From, spec.Egress[0].To)
		}
		operator := spec.Ingress[1].From[len(spec.Ingress[1].From)-1]
		switch {
		case cluster == "" && operator.NamespaceSelector == nil,
			cluster != "" && (operator.IPBlock == nil || operator.IPBlock.CIDR != want):
			t.Errorf("cluster %q: the operator is %+v, want its %s", cluster, operator, want)
		}
	}
}

// Spans go to a name, so only their port is known.
func TestNetworkPolicyLetsSpansOut(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]int{
		"http://collector.monitoring.svc:4318": 4318,
		"http://collector.monitoring.svc/otlp": 80,
		"http://[fd00::1]:4000":                4000,
	} {
		f := quickstart(t)
		without := only[*networkingv1.NetworkPolicy](f.build(t))[0].Spec.Egress
		f.network.Spec.Tracing = &v1alpha1.TracingSpec{Endpoint: endpoint, SampleBasisPoints: 1}
		with := only[*networkingv1.NetworkPolicy](f.build(t))[0].Spec.Egress
		if len(with) != len(without)+1 {
			t.Fatalf("%s: egress is %+v", endpoint, with)
		}
		if ports := with[len(with)-1].Ports; len(ports) != 1 || ports[0].Port.IntValue() != want {
			t.Errorf("%s: ports are %+v, want %d", endpoint, ports, want)
		}
	}
}

func TestEveryClusterHasToHaveADomain(t *testing.T) {
	t.Parallel()
	f := spanning(t, "")
	delete(f.inputs.ClusterDomains, "far")
	if _, err := resources.Build(f.network, f.plan, f.inputs); err == nil || !strings.Contains(err.Error(), `"far" is not known`) {
		t.Errorf("the error is %v", err)
	}
}
