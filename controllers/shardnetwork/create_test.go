// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/version"
)

// quickstartObjects are all objects of the sample quickstart, in order.
var quickstartObjects = []string{
	"ConfigMap/quickstart-genesis",
	"ConfigMap/quickstart-peers",
	"ConfigMap/quickstart-s0-p0-config",
	"ConfigMap/quickstart-s0-p1-config",
	"ConfigMap/quickstart-s1-p0-config",
	"ConfigMap/quickstart-s1-p1-config",
	"NetworkPolicy/quickstart",
	"PodDisruptionBudget/quickstart",
	"Secret/quickstart-admin",
	"Secret/quickstart-s0-p0-key",
	"Secret/quickstart-s0-p1-key",
	"Secret/quickstart-s1-p0-key",
	"Secret/quickstart-s1-p1-key",
	"Service/quickstart-p2p",
	"Service/quickstart-rpc",
	"StatefulSet/quickstart-s0-p0",
	"StatefulSet/quickstart-s0-p1",
	"StatefulSet/quickstart-s1-p0",
	"StatefulSet/quickstart-s1-p1",
}

func checkObjects(t *testing.T, found map[string]struct{}, want []string) {
	t.Helper()
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, want) {
		t.Errorf("the objects are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func names[V any](objects map[string]V) map[string]struct{} {
	found := map[string]struct{}{}
	for name := range objects {
		found[name] = struct{}{}
	}
	return found
}

func TestCreate(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)

	objects := cluster.objects(network.Name)
	checkObjects(t, names(objects), quickstartObjects)
	for name, object := range objects {
		if !metav1.IsControlledBy(object, network) {
			t.Errorf("%s is not deleted with its network", name)
		}
	}
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
	check(t, network, v1alpha1.ConditionNodesReady, metav1.ConditionFalse, v1alpha1.ReasonNodesMissing)
	check(t, network, v1alpha1.ConditionProducing, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer)
	check(t, network, v1alpha1.ConditionUpdated, metav1.ConditionFalse, v1alpha1.ReasonUpdating)
	check(t, network, v1alpha1.ConditionMonitored, metav1.ConditionFalse, v1alpha1.ReasonPodMonitorUnavailable)
	check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting)
	if network.Status.ObservedGeneration != network.Generation {
		t.Errorf("the status is of generation %d, want %d", network.Status.ObservedGeneration, network.Generation)
	}
	if network.Status.TransfersPerSecond != nil || network.Status.Height != nil {
		t.Errorf("nobody answers, but the status has figures: %+v", network.Status)
	}
}

// A network that stays as it is costs nothing.
func TestNoWritesWhenNothingChanges(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	before := cluster.writes.Load()
	for range 20 {
		cluster.mustReconcile(network)
	}
	if extra := cluster.writes.Load() - before; extra != 0 {
		t.Errorf("20 reconciliations of a settled network made %d writes", extra)
	}
}

// What somebody else changes is put back; what the spec changes is applied.
func TestDrift(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)

	set := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-s0-p0"}}
	cluster.read(set)
	set.Spec.Template.Spec.Containers[0].Image = "other:1"
	if err := cluster.client.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	cluster.read(set)
	if got := set.Spec.Template.Spec.Containers[0].Image; got != "shardnode:test" {
		t.Errorf("the image is %s, want that of the operator", got)
	}

	network.Spec.Node.Image = "other:2"
	network.Spec.Node.Log.Level = v1alpha1.LogLevelDebug
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	cluster.read(set)
	if got := set.Spec.Template.Spec.Containers[0].Image; got != "other:2" {
		t.Errorf("the image is %s, want that of the spec", got)
	}
	if level := cluster.config().Log.Level; level != "debug" {
		t.Errorf("the configuration has the log level %s, want that of the spec", level)
	}
	if network.Status.NodeImage != "other:2" {
		t.Errorf("the status names the image %s", network.Status.NodeImage)
	}
	if got, want := network.Status.OperatorVersion, version.Get().Version; got != want {
		t.Errorf("the status names the operator's version %q, want %q", got, want)
	}
}

// The Service for clients becomes a load balancer, and is none again: the cluster
// takes both, with nothing of it left over.
func TestRPCServiceChanges(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-rpc"}}
	for _, test := range []struct {
		wanted *v1alpha1.RPCServiceSpec
		want   corev1.ServiceType
	}{
		{&v1alpha1.RPCServiceSpec{
			Type: v1alpha1.RPCServiceLoadBalancer, SourceRanges: []string{"203.0.113.0/24"},
			Annotations: map[string]v1alpha1.AnnotationValue{"example.com/balancer": "internal"},
		}, corev1.ServiceTypeLoadBalancer},
		{nil, corev1.ServiceTypeClusterIP},
	} {
		network.Spec.RPCService = test.wanted
		if err := cluster.client.Update(t.Context(), network); err != nil {
			t.Fatal(err)
		}
		cluster.mustReconcile(network)
		check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
		cluster.read(service)
		balanced := test.wanted != nil
		if service.Spec.Type != test.want || (len(service.Spec.LoadBalancerSourceRanges) == 1) != balanced ||
			(service.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal) != balanced ||
			(service.Annotations["example.com/balancer"] == "internal") != balanced {
			t.Errorf("with %+v, the Service is %+v, %v", test.wanted, service.Spec, service.Annotations)
		}
	}
}

// The operator is killed after every number of writes that creating a network
// takes: another one goes on, and there is one genesis, of the keys that exist.
func TestKilledWhileCreating(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create()
	cluster.mustReconcile(network)
	total := cluster.writes.Load()

	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 10 {
		points := []int64{random.Int64N(total), random.Int64N(total), random.Int64N(total)}
		t.Run(fmt.Sprintf("after %v writes", points), func(t *testing.T) {
			t.Parallel()
			killAndCreate(t, points)
		})
	}
}

func killAndCreate(t *testing.T, points []int64) {
	t.Helper()
	cluster := newCluster(t)
	network := cluster.create()
	keys := map[string]string{}
	var genesis string
	for _, writes := range points {
		cluster.killAfter.Store(cluster.writes.Load() + writes + 1)
		if err := cluster.reconcile(network); err != nil && !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		cluster.restart()
		genesis = rememberKeysAndGenesis(t, cluster, network, keys, genesis)
	}
	cluster.mustReconcile(network)
	rememberKeysAndGenesis(t, cluster, network, keys, genesis)
	checkObjects(t, names(cluster.objects(network.Name)), quickstartObjects)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
}

// rememberKeysAndGenesis checks that no key and no genesis document is ever
// another than it was.
func rememberKeysAndGenesis(
	t *testing.T, cluster *cluster, network *v1alpha1.ShardNetwork, keys map[string]string, genesis string,
) string {
	t.Helper()
	for name, object := range cluster.objects(network.Name) {
		switch object := object.(type) {
		case *corev1.Secret:
			content := fmt.Sprint(object.UID, object.Data)
			if before, ok := keys[name]; ok && before != content {
				t.Errorf("%s was replaced", name)
			}
			keys[name] = content
		case *corev1.ConfigMap:
			if object.Name != resources.GenesisName(network.Name) {
				continue
			}
			content := fmt.Sprint(object.UID, object.Data)
			if genesis != "" && genesis != content {
				t.Errorf("%s was replaced", name)
			}
			genesis = content
		}
	}
	return genesis
}
