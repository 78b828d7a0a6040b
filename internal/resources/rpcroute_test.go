// SPDX-License-Identifier: Apache-2.0

package resources_test

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/resources"
)

// routed is the quickstart with an rpc node and a route to it.
func routed(t *testing.T, route *v1alpha1.RPCRouteSpec) *fixture {
	t.Helper()
	network := quickstart(t).network
	network.Spec.RPCNodes, network.Spec.Regions = 1, nil
	network.Spec.RPCRoute = route
	return planned(t, network)
}

func ingress() *v1alpha1.RPCRouteSpec {
	return &v1alpha1.RPCRouteSpec{
		Type:             v1alpha1.RPCRouteIngress,
		Hostnames:        []string{"rpc.example.com", "chain.example.com"},
		Annotations:      map[string]v1alpha1.AnnotationValue{"cert-manager.io/cluster-issuer": "public"},
		SourceNamespaces: []string{"ingress-nginx"},
		Ingress:          &v1alpha1.RPCIngress{ClassName: "nginx", TLSSecretName: "rpc-tls"},
	}
}

func httpRoute() *v1alpha1.RPCRouteSpec {
	return &v1alpha1.RPCRouteSpec{
		Type:         v1alpha1.RPCRouteHTTPRoute,
		Hostnames:    []string{"rpc.example.com"},
		SourceRanges: []string{"130.211.0.0/22"},
		HTTPRoute: &v1alpha1.RPCHTTPRoute{ParentRefs: []v1alpha1.RPCGateway{
			{Name: "public", Namespace: "edge", SectionName: "https"}, {Name: "own"},
		}},
	}
}

func TestRPCRoutes(t *testing.T) {
	t.Parallel()
	for file, route := range map[string]*v1alpha1.RPCRouteSpec{
		"ingress.yaml":   ingress(),
		"httproute.yaml": httpRoute(),
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			fixture := routed(t, route)
			checkGolden(t, file, []resources.Object{resources.NewRPCRoute(fixture.network, fixture.plan.Ports)})
		})
	}
}

func TestNoRPCRoute(t *testing.T) {
	t.Parallel()
	fixture := quickstart(t)
	if route := resources.NewRPCRoute(fixture.network, fixture.plan.Ports); route != nil {
		t.Errorf("a network that asks for no route has %v", route)
	}
}

// An Ingress that says no more than its host names is of the default class and has no
// certificate.
func TestPlainIngress(t *testing.T) {
	t.Parallel()
	wanted := ingress()
	wanted.Ingress, wanted.Annotations = nil, nil
	fixture := routed(t, wanted)
	route := resources.NewRPCRoute(fixture.network, fixture.plan.Ports).(*networkingv1.Ingress)
	if route.Spec.IngressClassName != nil || route.Spec.TLS != nil || route.Annotations != nil {
		t.Errorf("the Ingress has %+v, %v", route.Spec, route.Annotations)
	}
}

// The routes lead to the port of the HTTP API, which the Service has, and to no other:
// the admin API has its own.
func TestRPCRoutesLeadToTheService(t *testing.T) {
	t.Parallel()
	fixture := routed(t, ingress())
	var service *corev1.Service
	for _, found := range only[*corev1.Service](fixture.build(t)) {
		if found.Name == resources.RPCServiceName(fixture.network.Name) {
			service = found
		}
	}
	if service == nil || len(service.Spec.Ports) != 1 || service.Spec.Selector[resources.LabelRole] != "rpc" {
		t.Fatalf("the Service of the rpc nodes is %+v, want one of theirs with one port", service)
	}
	port := service.Spec.Ports[0]
	if int(port.Port) == fixture.plan.Ports.Admin {
		t.Errorf("the Service has the port %d of the admin API", port.Port)
	}
	route := resources.NewRPCRoute(fixture.network, fixture.plan.Ports).(*networkingv1.Ingress)
	for _, rule := range route.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			if backend := path.Backend.Service; backend.Name != service.Name || backend.Port.Name != port.Name {
				t.Errorf("%s%s leads to %+v, want port %s of the Service %s", rule.Host, path.Path, backend, port.Name, service.Name)
			}
		}
	}
}

// Who hands the requests of a route on reaches the HTTP API, and nothing else.
func TestPolicyLetsTheRouteIn(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		route *v1alpha1.RPCRouteSpec
		want  networkingv1.NetworkPolicyPeer
	}{
		"a namespace": {ingress(), networkingv1.NetworkPolicyPeer{NamespaceSelector: &metav1.LabelSelector{
			MatchLabels: map[string]string{corev1.LabelMetadataName: "ingress-nginx"},
		}}},
		"addresses": {httpRoute(), networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "130.211.0.0/22"}}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixture := routed(t, test.route)
			for _, rule := range only[*networkingv1.NetworkPolicy](fixture.build(t))[0].Spec.Ingress {
				let := false
				for _, peer := range rule.From {
					let = let || reflect.DeepEqual(peer, test.want)
				}
				if port := int(rule.Ports[0].Port.IntVal); let != (port == fixture.plan.Ports.HTTP) {
					t.Errorf("port %d is open to whoever hands requests on: %v", port, let)
				}
			}
		})
	}
}
