// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/drift"
	"github.com/shardyard/shardyard/internal/fleet"
	"github.com/shardyard/shardyard/internal/resources"
)

// errKilled is what every request gets once the operator is killed.
var errKilled = errors.New("killed")

// cluster is a namespace of the API server and the operator that works in it.
type cluster struct {
	t         *testing.T
	namespace string
	// client is that of the test.
	client client.Client
	// writes counts the operator's own.
	writes atomic.Int64
	// killAfter is the number of writes after which the operator is dead; 0 is
	// never.
	killAfter atomic.Int64

	reconciler *Reconciler
	clock      time.Time
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"}}
	if err := direct.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	cluster := &cluster{t: t, namespace: namespace.Name, client: direct, clock: time.Now()}
	cluster.restart()
	return cluster
}

// restart replaces the operator by one that remembers nothing.
func (c *cluster) restart() {
	c.t.Helper()
	direct, err := client.NewWithWatch(apiServer, client.Options{Scheme: scheme})
	if err != nil {
		c.t.Fatal(err)
	}
	counted := interceptor.NewClient(direct, interceptor.Funcs{
		Create: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.CreateOption) error {
			return c.write(func() error { return next.Create(ctx, object, options...) })
		},
		Delete: func(ctx context.Context, next client.WithWatch, object client.Object, options ...client.DeleteOption) error {
			return c.write(func() error { return next.Delete(ctx, object, options...) })
		},
		Patch: func(
			ctx context.Context, next client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption,
		) error {
			return c.write(func() error { return next.Patch(ctx, object, patch, options...) })
		},
		Apply: func(
			ctx context.Context, next client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption,
		) error {
			return c.write(func() error { return next.Apply(ctx, object, options...) })
		},
		SubResourceApply: func(
			ctx context.Context, next client.Client, name string,
			object runtime.ApplyConfiguration, options ...client.SubResourceApplyOption,
		) error {
			return c.write(func() error { return next.SubResource(name).Apply(ctx, object, options...) })
		},
	})
	prices, err := cost.ReadPrices()
	if err != nil {
		c.t.Fatal(err)
	}
	c.killAfter.Store(0)
	c.reconciler = &Reconciler{
		client: counted,
		reader: direct,
		listMachines: func(ctx context.Context) (*corev1.NodeList, error) {
			machines := &corev1.NodeList{}
			return machines, direct.List(ctx, machines)
		},
		recorder: events.NewFakeRecorder(1000),
		settings: Settings{DefaultNodeImage: "shardnode:test", ClusterDomain: "cluster.local"},
		prices:   prices,
		drift:    drift.NewDetector(scheme, FieldManager),
		restarts: newRestarts(),
		now:      func() time.Time { return c.clock },
		clusters: fleet.New(direct, fleet.Options{
			Scheme:  scheme,
			Cache:   CacheOptions(),
			Watched: ownedKinds,
			Network: networkOf,
		}),
	}
	c.t.Cleanup(func() { c.reconciler.forget(types.NamespacedName{Namespace: c.namespace, Name: "quickstart"}) })
}

// write does a request of the operator unless it is dead.
func (c *cluster) write(request func() error) error {
	limit := c.killAfter.Load()
	if count := c.writes.Add(1); limit > 0 && count > limit {
		return errKilled
	}
	return request()
}

// create makes the network of the quickstart, with changes.
func (c *cluster) create(changes ...func(*v1alpha1.ShardNetwork)) *v1alpha1.ShardNetwork {
	c.t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "quickstart.yaml"))
	if err != nil {
		c.t.Fatal(err)
	}
	network := &v1alpha1.ShardNetwork{}
	if err := yaml.UnmarshalStrict(content, network); err != nil {
		c.t.Fatal(err)
	}
	network.Namespace = c.namespace
	for _, change := range changes {
		change(network)
	}
	if err := c.client.Create(c.t.Context(), network); err != nil {
		c.t.Fatal(err)
	}
	return network
}

// reconcile runs the operator once, long enough after the last time.
func (c *cluster) reconcile(network *v1alpha1.ShardNetwork) error {
	c.clock = c.clock.Add(pollInterval)
	_, err := c.reconciler.Reconcile(c.t.Context(), ctrl.Request{NamespacedName: client.ObjectKeyFromObject(network)})
	return err
}

// mustReconcile runs the operator once and reads the network again.
func (c *cluster) mustReconcile(network *v1alpha1.ShardNetwork) {
	c.t.Helper()
	if err := c.reconcile(network); err != nil {
		c.t.Fatal(err)
	}
	c.read(network)
}

func (c *cluster) read(object client.Object) {
	c.t.Helper()
	if err := c.client.Get(c.t.Context(), client.ObjectKeyFromObject(object), object); err != nil {
		c.t.Fatal(err)
	}
}

// objects lists all objects of a network, as kind and name.
func (c *cluster) objects(network string) map[string]client.Object {
	c.t.Helper()
	found := map[string]client.Object{}
	for kind, list := range map[string]client.ObjectList{
		"ConfigMap":           &corev1.ConfigMapList{},
		"NetworkPolicy":       &networkingv1.NetworkPolicyList{},
		"PodDisruptionBudget": &policyv1.PodDisruptionBudgetList{},
		"Secret":              &corev1.SecretList{},
		"Service":             &corev1.ServiceList{},
		"StatefulSet":         &appsv1.StatefulSetList{},
	} {
		if err := c.client.List(c.t.Context(), list, client.InNamespace(c.namespace),
			client.MatchingLabels{resources.LabelNetwork: network}); err != nil {
			c.t.Fatal(err)
		}
		if err := meta.EachListItem(list, func(item runtime.Object) error {
			object := item.(client.Object)
			found[kind+"/"+object.GetName()] = object
			return nil
		}); err != nil {
			c.t.Fatal(err)
		}
	}
	return found
}

// check compares a condition's status and reason, and returns its message.
func check(t *testing.T, network *v1alpha1.ShardNetwork, kind string, status metav1.ConditionStatus, reason string) string {
	t.Helper()
	condition := meta.FindStatusCondition(network.Status.Conditions, kind)
	if condition == nil {
		t.Fatalf("there is no condition %s among %+v", kind, network.Status.Conditions)
	}
	if condition.Status != status || condition.Reason != reason {
		t.Fatalf("%s is %s, %s: %s; want %s, %s", kind, condition.Status, condition.Reason, condition.Message, status, reason)
	}
	if condition.ObservedGeneration != network.Generation {
		t.Errorf("%s is of generation %d, want %d", kind, condition.ObservedGeneration, network.Generation)
	}
	return condition.Message
}
