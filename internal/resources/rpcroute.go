// SPDX-License-Identifier: Apache-2.0

package resources

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Kinds of what leads requests from outside to the rpc nodes.
var (
	KindIngress   = networkingv1.SchemeGroupVersion.WithKind("Ingress")
	KindHTTPRoute = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}
)

// clientPaths are what clients need of a node's HTTP API. What it says of itself to
// probes and to Prometheus is nobody's outside.
var clientPaths = []string{"/rpc", "/status"}

// RPCRouteKind is the kind of what leads requests to the rpc nodes of a network.
func RPCRouteKind(route *v1alpha1.RPCRouteSpec) schema.GroupVersionKind {
	if route.Type == v1alpha1.RPCRouteHTTPRoute {
		return KindHTTPRoute
	}
	return KindIngress
}

// NewRPCRoute leads requests from outside to the Service of the rpc nodes; nil when
// nothing does.
func NewRPCRoute(network *v1alpha1.ShardNetwork, ports topology.Ports) Object {
	switch wanted := network.Spec.RPCRoute; {
	case wanted == nil:
		return nil
	case wanted.Type == v1alpha1.RPCRouteHTTPRoute:
		return newHTTPRoute(network, wanted, ports)
	default:
		return newIngress(network, wanted)
	}
}

func newIngress(network *v1alpha1.ShardNetwork, wanted *v1alpha1.RPCRouteSpec) *networkingv1.Ingress {
	var paths []networkingv1.HTTPIngressPath
	for _, path := range clientPaths {
		paths = append(paths, networkingv1.HTTPIngressPath{
			Path: path, PathType: ptr.To(networkingv1.PathTypeExact),
			Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
				Name: RPCServiceName(network.Name), Port: networkingv1.ServiceBackendPort{Name: PortHTTP},
			}},
		})
	}
	ingress := &networkingv1.Ingress{
		TypeMeta:   metav1.TypeMeta{APIVersion: KindIngress.GroupVersion().String(), Kind: KindIngress.Kind},
		ObjectMeta: routeMeta(network, wanted),
	}
	for _, hostname := range wanted.Hostnames {
		ingress.Spec.Rules = append(ingress.Spec.Rules, networkingv1.IngressRule{
			Host:             hostname,
			IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{Paths: paths}},
		})
	}
	if wanted.Ingress == nil {
		return ingress
	}
	if wanted.Ingress.ClassName != "" {
		ingress.Spec.IngressClassName = ptr.To(wanted.Ingress.ClassName)
	}
	if wanted.Ingress.TLSSecretName != "" {
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: wanted.Hostnames, SecretName: wanted.Ingress.TLSSecretName}}
	}
	return ingress
}

func newHTTPRoute(
	network *v1alpha1.ShardNetwork, wanted *v1alpha1.RPCRouteSpec, ports topology.Ports,
) *unstructured.Unstructured {
	var hostnames, parents, matches []any
	for _, hostname := range wanted.Hostnames {
		hostnames = append(hostnames, hostname)
	}
	for _, gateway := range wanted.HTTPRoute.ParentRefs {
		parent := map[string]any{"name": gateway.Name}
		if gateway.Namespace != "" {
			parent["namespace"] = gateway.Namespace
		}
		if gateway.SectionName != "" {
			parent["sectionName"] = gateway.SectionName
		}
		parents = append(parents, parent)
	}
	for _, path := range clientPaths {
		matches = append(matches, map[string]any{"path": map[string]any{"type": "Exact", "value": path}})
	}

	route := &unstructured.Unstructured{}
	route.SetGroupVersionKind(KindHTTPRoute)
	meta := routeMeta(network, wanted)
	route.SetNamespace(meta.Namespace)
	route.SetName(meta.Name)
	route.SetLabels(meta.Labels)
	route.SetAnnotations(meta.Annotations)
	route.SetOwnerReferences(meta.OwnerReferences)
	route.Object["spec"] = map[string]any{
		"parentRefs": parents,
		"hostnames":  hostnames,
		"rules": []any{map[string]any{
			"matches": matches,
			"backendRefs": []any{map[string]any{
				"name": RPCServiceName(network.Name), "port": int64(ports.HTTP),
			}},
		}},
	}
	return route
}

func routeMeta(network *v1alpha1.ShardNetwork, wanted *v1alpha1.RPCRouteSpec) metav1.ObjectMeta {
	meta := owned(network, RPCServiceName(network.Name))
	if len(wanted.Annotations) > 0 {
		meta.Annotations = under(wanted.Annotations, nil)
	}
	return meta
}
