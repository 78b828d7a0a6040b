// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/test/apiserver"
)

// httpRouteCRD names the file of the kind HTTPRoute.
const httpRouteCRD = "HTTPROUTE_CRD"

// installHTTPRoutes has the operator's own API server serve the kind HTTPRoute, for
// good: tests of other kinds take no notice of it.
func installHTTPRoutes(t *testing.T) {
	t.Helper()
	file := os.Getenv(httpRouteCRD)
	if file == "" {
		t.Fatalf("%s is not set: it names the file of the CRD; \"make test-go\" sets it", httpRouteCRD)
	}
	if err := apiserver.InstallCRDs(apiServer, file); err != nil {
		t.Fatal(err)
	}
}

func ingressRoute() *v1alpha1.RPCRouteSpec {
	return &v1alpha1.RPCRouteSpec{
		Type:             v1alpha1.RPCRouteIngress,
		Hostnames:        []string{"rpc.example.com"},
		SourceNamespaces: []string{"ingress-nginx"},
		Ingress:          &v1alpha1.RPCIngress{ClassName: "nginx"},
	}
}

func gatewayRoute() *v1alpha1.RPCRouteSpec {
	return &v1alpha1.RPCRouteSpec{
		Type:             v1alpha1.RPCRouteHTTPRoute,
		Hostnames:        []string{"rpc.example.com"},
		SourceNamespaces: []string{"edge"},
		HTTPRoute:        &v1alpha1.RPCHTTPRoute{ParentRefs: []v1alpha1.RPCGateway{{Name: "public", Namespace: "edge"}}},
	}
}

// withRoute gives a network an rpc node and a route to it.
func withRoute(route *v1alpha1.RPCRouteSpec) func(*v1alpha1.ShardNetwork) {
	return func(network *v1alpha1.ShardNetwork) {
		network.Spec.RPCNodes, network.Spec.Regions = 1, nil
		network.Spec.RPCRoute = route
	}
}

// setRoute changes the route of a network, and runs the operator.
func (c *cluster) setRoute(network *v1alpha1.ShardNetwork, route *v1alpha1.RPCRouteSpec) {
	c.t.Helper()
	network.Spec.RPCRoute = route
	if err := c.client.Update(c.t.Context(), network); err != nil {
		c.t.Fatal(err)
	}
	c.mustReconcile(network)
}

// lookAgain runs the operator when it looks at routes again.
func (c *cluster) lookAgain(network *v1alpha1.ShardNetwork) {
	c.t.Helper()
	c.clock = c.clock.Add(routeInterval)
	c.mustReconcile(network)
}

func (c *cluster) ingress() *networkingv1.Ingress {
	c.t.Helper()
	ingress := &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Namespace: c.namespace, Name: "quickstart-rpc"}}
	c.read(ingress)
	return ingress
}

// hasNoIngress says whether there is no Ingress of the network.
func (c *cluster) hasNoIngress() bool {
	c.t.Helper()
	err := c.client.Get(c.t.Context(), client.ObjectKey{Namespace: c.namespace, Name: "quickstart-rpc"}, &networkingv1.Ingress{})
	if client.IgnoreNotFound(err) != nil {
		c.t.Fatal(err)
	}
	return apierrors.IsNotFound(err)
}

// An Ingress comes with the spec, follows it, leaves to others what is theirs, counts
// as taken once it has an address, and goes with the spec.
func TestIngressComesAndGoes(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(withRoute(ingressRoute()))
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending)
	ingress := cluster.ingress()
	if !metav1.IsControlledBy(ingress, network) {
		t.Errorf("the Ingress does not go with the network: %v", ingress.OwnerReferences)
	}

	// What others say of it stays, and it is not written again because of them.
	ingress.Annotations["example.com/seen"] = "yes"
	if err := cluster.client.Update(t.Context(), ingress, client.FieldOwner("controller")); err != nil {
		t.Fatal(err)
	}
	ingress.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "203.0.113.9"}}
	if err := cluster.client.Status().Update(t.Context(), ingress, client.FieldOwner("controller")); err != nil {
		t.Fatal(err)
	}
	cluster.lookAgain(network)
	message := check(t, network, v1alpha1.ConditionRouted, metav1.ConditionTrue, v1alpha1.ReasonRouteTaken)
	if !strings.Contains(message, "203.0.113.9") {
		t.Errorf("the message does not say where clients come in: %s", message)
	}
	if version := cluster.ingress().ResourceVersion; version != ingress.ResourceVersion {
		t.Error("the Ingress is written although nothing changed")
	}

	// Another spec is applied at once, and what is said of the Ingress is still known.
	route := ingressRoute()
	route.Hostnames = []string{"chain.example.com"}
	route.Ingress = &v1alpha1.RPCIngress{TLSSecretName: "rpc-tls"}
	cluster.setRoute(network, route)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionTrue, v1alpha1.ReasonRouteTaken)
	ingress = cluster.ingress()
	if len(ingress.Spec.Rules) != 1 || ingress.Spec.Rules[0].Host != "chain.example.com" || ingress.Spec.IngressClassName != nil ||
		len(ingress.Spec.TLS) != 1 {
		t.Errorf("the Ingress has %+v, want what the spec says now", ingress.Spec)
	}
	if ingress.Annotations["example.com/seen"] != "yes" {
		t.Errorf("what others wrote is gone: %v", ingress.Annotations)
	}

	// What others change of it is put right.
	ingress.Spec.Rules[0].Host = "other.example.com"
	if err := cluster.client.Update(t.Context(), ingress, client.FieldOwner("somebody")); err != nil {
		t.Fatal(err)
	}
	cluster.lookAgain(network)
	if host := cluster.ingress().Spec.Rules[0].Host; host != "chain.example.com" {
		t.Errorf("the Ingress stays as somebody made it: it is for %s", host)
	}

	cluster.setRoute(network, nil)
	if !cluster.hasNoIngress() {
		t.Error("the Ingress stays although the spec asks for none")
	}
	if found := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionRouted); found != nil {
		t.Errorf("there is a condition about no route: %+v", found)
	}
}

// An operator that starts anew removes the route that the one before made.
func TestIngressGoesAfterARestart(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(withRoute(ingressRoute()))
	cluster.mustReconcile(network)
	cluster.restart()
	cluster.setRoute(network, nil)
	if !cluster.hasNoIngress() {
		t.Error("the Ingress of the operator before stays")
	}
}

// Wherever an operator ends while it makes a route, the next one knows that there may
// be one to remove.
func TestIngressGoesAfterADeath(t *testing.T) {
	t.Parallel()
	for writes := int64(1); ; writes++ {
		cluster := newCluster(t)
		network := cluster.create(withRoute(nil))
		cluster.mustReconcile(network)
		network.Spec.RPCRoute = ingressRoute()
		if err := cluster.client.Update(t.Context(), network); err != nil {
			t.Fatal(err)
		}
		cluster.killAfter.Store(cluster.writes.Load() + writes)
		_ = cluster.reconcile(network)
		survived := cluster.writes.Load() <= cluster.killAfter.Load()
		made := !cluster.hasNoIngress()
		cluster.restart()
		cluster.read(network)
		cluster.setRoute(network, nil)
		if !cluster.hasNoIngress() {
			t.Errorf("the Ingress of an operator that died after %d writes stays", writes)
		}
		if survived {
			if !made || writes < 3 {
				t.Errorf("%d writes make no route: %v", writes, made)
			}
			return
		}
	}
}

// What became of a route, and could not be written, is looked at again at once.
func TestRouteWhoseEndIsNotWritten(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(withRoute(ingressRoute()))
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending)

	network.Spec.RPCRoute = nil
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	working := cluster.reconciler.client
	refused := errors.New("refused")
	cluster.reconciler.client = interceptor.NewClient(working.(client.WithWatch), interceptor.Funcs{
		SubResourceApply: func(
			context.Context, client.Client, string, runtime.ApplyConfiguration, ...client.SubResourceApplyOption,
		) error {
			return refused
		},
	})
	if err := cluster.reconcile(network); !errors.Is(err, refused) {
		t.Fatalf("the reconciliation ends with %v, want %v", err, refused)
	}
	cluster.reconciler.client = working
	cluster.mustReconcile(network)
	if routed := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionRouted); routed != nil {
		t.Errorf("a route that is gone is still told of: %+v", routed)
	}
}

// An Ingress of somebody else is left alone, whether the spec asks for one or not.
func TestIngressOfSomebodyElse(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	theirs := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Namespace: cluster.namespace, Name: "quickstart-rpc"},
		Spec: networkingv1.IngressSpec{DefaultBackend: &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
			Name: "theirs", Port: networkingv1.ServiceBackendPort{Number: 80},
		}}},
	}
	if err := cluster.client.Create(t.Context(), theirs); err != nil {
		t.Fatal(err)
	}
	network := cluster.create(withRoute(ingressRoute()))
	cluster.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionRouted, metav1.ConditionFalse, v1alpha1.ReasonRouteFailed)
	if !strings.Contains(message, "Ingress quickstart-rpc belongs to somebody else") {
		t.Errorf("the message is %q", message)
	}
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
	cluster.setRoute(network, nil)
	if found := cluster.ingress(); found.UID != theirs.UID || found.ResourceVersion != theirs.ResourceVersion {
		t.Error("the Ingress of somebody else is not as it was")
	}
}

// A cluster without the Gateway API says so, gets the route once it has it, and what
// the Gateway says is what the condition says.
func TestHTTPRoute(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(withRoute(gatewayRoute()))
	cluster.mustReconcile(network)
	message := check(t, network, v1alpha1.ConditionRouted, metav1.ConditionFalse, v1alpha1.ReasonRouteUnavailable)
	if !strings.Contains(message, "gateway.networking.k8s.io/v1") {
		t.Errorf("the message does not say which kind is missing: %s", message)
	}
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	installHTTPRoutes(t)
	cluster.clock = cluster.clock.Add(routeInterval)
	cluster.eventually(network, func() error {
		return cluster.has(network, v1alpha1.ConditionRouted, metav1.ConditionUnknown)
	})
	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(resources.KindHTTPRoute)
	route.SetNamespace(cluster.namespace)
	route.SetName("quickstart-rpc")
	cluster.read(route)
	if !metav1.IsControlledBy(route, network) {
		t.Errorf("the HTTPRoute does not go with the network: %v", route.GetOwnerReferences())
	}

	cluster.judgeRoute(route, metav1.ConditionTrue)
	version := route.GetResourceVersion()
	cluster.lookAgain(network)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionTrue, v1alpha1.ReasonRouteTaken)
	cluster.read(route)
	if route.GetResourceVersion() != version {
		t.Error("the HTTPRoute is written although nothing changed")
	}

	// What the Gateway said of the route before says nothing of it now.
	wanted := gatewayRoute()
	wanted.Hostnames = []string{"chain.example.com"}
	cluster.setRoute(network, wanted)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending)
	cluster.read(route)
	if names, _, _ := unstructured.NestedStringSlice(route.Object, "spec", "hostnames"); !reflect.DeepEqual(names, wanted.Hostnames) {
		t.Errorf("the HTTPRoute is for %v, want %v", names, wanted.Hostnames)
	}
	cluster.judgeRoute(route, metav1.ConditionFalse)
	cluster.lookAgain(network)
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionFalse, v1alpha1.ReasonRouteRefused)

	// One type of route goes when the other comes.
	cluster.setRoute(network, ingressRoute())
	check(t, network, v1alpha1.ConditionRouted, metav1.ConditionUnknown, v1alpha1.ReasonRoutePending)
	if err := cluster.client.Get(t.Context(), client.ObjectKeyFromObject(route), route); !apierrors.IsNotFound(err) {
		t.Errorf("the HTTPRoute stays beside the Ingress: %v", err)
	}
	if cluster.hasNoIngress() {
		t.Error("there is no Ingress in its place")
	}
}

// judgeRoute says of a route what its Gateway's controller would.
func (c *cluster) judgeRoute(route *unstructured.Unstructured, accepted metav1.ConditionStatus) {
	c.t.Helper()
	judged := func(kind string, status metav1.ConditionStatus) any {
		return map[string]any{
			"type": kind, "status": string(status), "reason": "Judged", "message": "judged",
			"observedGeneration": route.GetGeneration(), "lastTransitionTime": "2026-11-21T12:00:00Z",
		}
	}
	parent := map[string]any{
		"parentRef":      map[string]any{"name": "public", "namespace": "edge", "group": "gateway.networking.k8s.io", "kind": "Gateway"},
		"controllerName": "example.com/gateway",
		"conditions":     []any{judged("Accepted", accepted), judged("ResolvedRefs", metav1.ConditionTrue)},
	}
	if err := unstructured.SetNestedSlice(route.Object, []any{parent}, "status", "parents"); err != nil {
		c.t.Fatal(err)
	}
	if err := c.client.Status().Update(c.t.Context(), route, client.FieldOwner("gateway")); err != nil {
		c.t.Fatal(err)
	}
}

// A network that may not be made has no route.
func TestNoRouteOfARefusedNetwork(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(withRoute(ingressRoute()), budget(1))
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, v1alpha1.ReasonCostUnknown)
	if !cluster.hasNoIngress() {
		t.Error("a refused network has an Ingress")
	}
}
