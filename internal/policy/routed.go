// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"slices"
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/resources"
)

// Conditions that a gateway gives a route.
const (
	routeAccepted = "Accepted"
	routeResolved = "ResolvedRefs"
)

// RoutePending is a route that nobody is known to have taken.
func RoutePending(network *v1alpha1.ShardNetwork) metav1.Condition {
	route := network.Spec.RPCRoute
	name := string(route.Type) + " " + resources.RPCServiceName(network.Name)
	if route.Type == v1alpha1.RPCRouteHTTPRoute {
		return routed(metav1.ConditionUnknown, v1alpha1.ReasonRoutePending,
			"nothing is said yet about the "+name+" by "+gateways(network, route.HTTPRoute.ParentRefs))
	}
	class := "the cluster's default class"
	if route.Ingress != nil && route.Ingress.ClassName != "" {
		class = "the class " + route.Ingress.ClassName
	}
	return routed(metav1.ConditionUnknown, v1alpha1.ReasonRoutePending,
		"the "+name+" has no address yet, which an ingress controller of "+class+" gives it")
}

// RouteUnavailable is a cluster without the kind of the route.
func RouteUnavailable(network *v1alpha1.ShardNetwork) metav1.Condition {
	kind := resources.RPCRouteKind(network.Spec.RPCRoute)
	return routed(metav1.ConditionFalse, v1alpha1.ReasonRouteUnavailable, fmt.Sprintf(
		"there is no kind %s (%s) in the operator's own cluster: install the Gateway API there, or take the type Ingress; "+
			"nothing leads requests from outside to the rpc nodes", kind.Kind, kind.GroupVersion()))
}

// RouteFailed is a route that cannot be made, or not be removed; cause says why.
func RouteFailed(cause error) metav1.Condition {
	return routed(metav1.ConditionFalse, v1alpha1.ReasonRouteFailed,
		"the route to the rpc nodes cannot be made as the spec says: "+wording.Quote(cause.Error())+"; the network runs all the same")
}

// Routed says what became of a route that is made.
func Routed(network *v1alpha1.ShardNetwork, live *unstructured.Unstructured) metav1.Condition {
	said, err := saidOf(network, live)
	if err != nil {
		return RouteFailed(err)
	}
	return said
}

func saidOf(network *v1alpha1.ShardNetwork, live *unstructured.Unstructured) (metav1.Condition, error) {
	if network.Spec.RPCRoute.Type == v1alpha1.RPCRouteHTTPRoute {
		route := &routeStatus{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, route); err != nil {
			return metav1.Condition{}, fmt.Errorf("read its status: %w", err)
		}
		return httpRouteTaken(network, route, live.GetGeneration()), nil
	}
	ingress := &networkingv1.Ingress{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(live.Object, ingress); err != nil {
		return metav1.Condition{}, fmt.Errorf("read its status: %w", err)
	}
	return ingressTaken(network, ingress), nil
}

// ingressTaken says by which addresses requests come. An Ingress says nothing else of
// its controller.
func ingressTaken(network *v1alpha1.ShardNetwork, ingress *networkingv1.Ingress) metav1.Condition {
	var addresses []string
	for _, at := range ingress.Status.LoadBalancer.Ingress {
		if address := at.IP + at.Hostname; address != "" {
			addresses = append(addresses, address)
		}
	}
	if len(addresses) == 0 {
		return RoutePending(network)
	}
	return routed(metav1.ConditionTrue, v1alpha1.ReasonRouteTaken, fmt.Sprintf("the Ingress %s leads requests for %s, at %s, to the rpc nodes",
		resources.RPCServiceName(network.Name), wording.List(network.Spec.RPCRoute.Hostnames), wording.List(addresses)))
}

// routeStatus is what gateways say of a route.
type routeStatus struct {
	Status struct {
		Parents []parentStatus `json:"parents"`
	} `json:"status"`
}

type parentStatus struct {
	ParentRef struct {
		Name        string `json:"name"`
		Namespace   string `json:"namespace"`
		SectionName string `json:"sectionName"`
	} `json:"parentRef"`
	Conditions []metav1.Condition `json:"conditions"`
}

// httpRouteTaken says whether all gateways have taken the route as it is now.
func httpRouteTaken(network *v1alpha1.ShardNetwork, route *routeStatus, generation int64) metav1.Condition {
	wanted := network.Spec.RPCRoute
	var silent []v1alpha1.RPCGateway
	for _, gateway := range wanted.HTTPRoute.ParentRefs {
		at := slices.IndexFunc(route.Status.Parents, func(said parentStatus) bool { return said.isOf(network, gateway) })
		if at < 0 {
			silent = append(silent, gateway)
			continue
		}
		conditions := route.Status.Parents[at].Conditions
		for _, kind := range []string{routeAccepted, routeResolved} {
			found := meta.FindStatusCondition(conditions, kind)
			switch {
			case found == nil, found.ObservedGeneration < generation, found.Status == metav1.ConditionUnknown:
				silent = append(silent, gateway)
			case found.Status == metav1.ConditionFalse:
				return routed(metav1.ConditionFalse, v1alpha1.ReasonRouteRefused, fmt.Sprintf("%s says of the HTTPRoute %s: %s, %s",
					gateways(network, []v1alpha1.RPCGateway{gateway}), resources.RPCServiceName(network.Name), found.Reason, wording.Quote(found.Message)))
			}
		}
	}
	if len(silent) > 0 {
		pending := network.DeepCopy()
		pending.Spec.RPCRoute.HTTPRoute.ParentRefs = slices.Compact(silent)
		return RoutePending(pending)
	}
	return routed(metav1.ConditionTrue, v1alpha1.ReasonRouteTaken, fmt.Sprintf(
		"the HTTPRoute %s leads requests for %s, by %s, to the rpc nodes",
		resources.RPCServiceName(network.Name), wording.List(wanted.Hostnames), gateways(network, wanted.HTTPRoute.ParentRefs)))
}

// isOf says whether this is said by a gateway of the spec.
func (s *parentStatus) isOf(network *v1alpha1.ShardNetwork, gateway v1alpha1.RPCGateway) bool {
	inNamespace := func(namespace string) string {
		if namespace == "" {
			return network.Namespace
		}
		return namespace
	}
	return s.ParentRef.Name == gateway.Name && s.ParentRef.SectionName == gateway.SectionName &&
		inNamespace(s.ParentRef.Namespace) == inNamespace(gateway.Namespace)
}

// gateways names some.
func gateways(network *v1alpha1.ShardNetwork, parents []v1alpha1.RPCGateway) string {
	names := make([]string, 0, len(parents))
	for _, gateway := range parents {
		namespace := gateway.Namespace
		if namespace == "" {
			namespace = network.Namespace
		}
		name := strings.Trim(namespace+"/"+gateway.Name, "/")
		if gateway.SectionName != "" {
			name += " (" + gateway.SectionName + ")"
		}
		names = append(names, name)
	}
	if len(names) == 1 {
		return "the Gateway " + names[0]
	}
	return "the Gateways " + wording.List(names)
}

func routed(status metav1.ConditionStatus, reason, message string) metav1.Condition {
	return condition.New(v1alpha1.ConditionRouted, status, reason, message)
}
