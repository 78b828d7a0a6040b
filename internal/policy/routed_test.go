// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

// part is a part of an object.
type part = map[string]any

// routedBy is a network whose clients come by a route.
func routedBy(route v1alpha1.RPCRouteSpec) *v1alpha1.ShardNetwork {
	route.Hostnames = []string{"rpc.example.com"}
	network := &v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "quickstart"}}
	network.Spec.RPCRoute = &route
	return network
}

func byIngress() *v1alpha1.ShardNetwork {
	return routedBy(v1alpha1.RPCRouteSpec{Type: v1alpha1.RPCRouteIngress, Ingress: &v1alpha1.RPCIngress{ClassName: "nginx"}})
}

func byGateways(parents ...v1alpha1.RPCGateway) *v1alpha1.ShardNetwork {
	return routedBy(v1alpha1.RPCRouteSpec{Type: v1alpha1.RPCRouteHTTPRoute, HTTPRoute: &v1alpha1.RPCHTTPRoute{ParentRefs: parents}})
}

// public is the Gateway of most tests.
var public = v1alpha1.RPCGateway{Name: "public", Namespace: "edge"}

// routeWith is a route of generation 2 of which this is said.
func routeWith(status part) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: part{"metadata": part{"generation": int64(2)}, "status": status}}
}

// said is what a Gateway says of a route, in the order of its arguments.
func said(gateway part, accepted, resolved string, generation int64) part {
	judged := func(kind, status string) part {
		reason := kind
		if status != "True" {
			reason = "Not" + kind
		}
		return part{
			"type": kind, "status": status, "reason": reason, "message": "as it says.",
			"observedGeneration": generation, "lastTransitionTime": "2026-11-21T12:00:00Z",
		}
	}
	return part{
		"parentRef": gateway, "controllerName": "example.com/gateway",
		"conditions": []any{judged("Accepted", accepted), judged("ResolvedRefs", resolved)},
	}
}

func parents(all ...any) part { return part{"parents": all} }

// A route counts as taken when whoever takes it says so of the route as it is, and not
// because it is there.
func TestRouted(t *testing.T) {
	t.Parallel()
	edge := part{"name": "public", "namespace": "edge"}
	own := v1alpha1.RPCGateway{Name: "public"}
	https := v1alpha1.RPCGateway{Name: "public", Namespace: "edge", SectionName: "https"}
	says := func(accepted, resolved string, generation int64) part {
		return parents(said(edge, accepted, resolved, generation))
	}
	cases := map[string]struct {
		network *v1alpha1.ShardNetwork
		status  part
		want    metav1.ConditionStatus
		words   string
	}{
		"an Ingress without a controller": {byIngress(), part{}, metav1.ConditionUnknown, "an ingress controller of the class nginx"},
		"an Ingress of the default class": {
			routedBy(v1alpha1.RPCRouteSpec{Type: v1alpha1.RPCRouteIngress}), part{}, metav1.ConditionUnknown, "of the cluster's default class",
		},
		"an Ingress with an address": {
			byIngress(),
			part{"loadBalancer": part{"ingress": []any{part{"ip": "203.0.113.9"}}}},
			metav1.ConditionTrue, "leads requests for rpc.example.com, at 203.0.113.9,",
		},
		"an Ingress with a name": {
			byIngress(),
			part{"loadBalancer": part{"ingress": []any{part{"hostname": "lb.example.com"}}}},
			metav1.ConditionTrue, "at lb.example.com,",
		},
		"an Ingress with ports alone": {
			byIngress(), part{"loadBalancer": part{"ingress": []any{part{"ports": []any{}}}}}, metav1.ConditionUnknown, "has no address yet",
		},
		"a Gateway that says nothing":    {byGateways(public), part{}, metav1.ConditionUnknown, "by the Gateway edge/public"},
		"a Gateway that takes it":        {byGateways(public), says("True", "True", 2), metav1.ConditionTrue, "by the Gateway edge/public"},
		"a Gateway that took another":    {byGateways(public), says("True", "True", 1), metav1.ConditionUnknown, "nothing is said yet"},
		"a Gateway that does not know":   {byGateways(public), says("Unknown", "True", 2), metav1.ConditionUnknown, "nothing is said yet"},
		"a Gateway that refuses it":      {byGateways(public), says("False", "True", 2), metav1.ConditionFalse, "NotAccepted, as it says"},
		"a Gateway without the Service":  {byGateways(public), says("True", "False", 2), metav1.ConditionFalse, "NotResolvedRefs"},
		"another Gateway that takes it":  {byGateways(own), says("True", "True", 2), metav1.ConditionUnknown, "default/public"},
		"another listener that takes it": {byGateways(https), says("True", "True", 2), metav1.ConditionUnknown, "edge/public (https)"},
		"a Gateway of its namespace": {
			byGateways(own), parents(said(part{"name": "public"}, "True", "True", 2)), metav1.ConditionTrue, "by the Gateway default/public",
		},
		"one of two Gateways": {
			byGateways(public, own), says("True", "True", 2), metav1.ConditionUnknown, "by the Gateway default/public",
		},
		"one of two Gateways that refuses": {
			byGateways(own, public), says("False", "True", 2), metav1.ConditionFalse, "the Gateway edge/public says",
		},
		"a status that is none": {byGateways(public), part{"parents": "none"}, metav1.ConditionFalse, "read its status"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			found := policy.Routed(test.network, routeWith(test.status))
			if found.Type != v1alpha1.ConditionRouted || found.Status != test.want || !strings.Contains(found.Message, test.words) {
				t.Errorf("it is %s %s, %s: %s; want %s with %q", found.Type, found.Status, found.Reason, found.Message, test.want, test.words)
			}
		})
	}
}

// troublesOfRoutes are those of clients that come from outside.
func troublesOfRoutes() []trouble {
	refused := said(part{"name": "public", "namespace": "edge"}, "False", "True", 2)
	refusal := refused["conditions"].([]any)[0].(part)
	refusal["reason"], refusal["message"] = "NotAllowedByListeners", "Route is not allowed by any listener of the Gateway."
	return []trouble{
		{v1alpha1.ReasonRoutePending, policy.RoutePending(byIngress())},
		{v1alpha1.ReasonRoutePending, policy.RoutePending(byGateways(public))},
		{v1alpha1.ReasonRouteRefused, policy.Routed(byGateways(public), routeWith(parents(refused)))},
		{v1alpha1.ReasonRouteUnavailable, policy.RouteUnavailable(byGateways(public))},
		{v1alpha1.ReasonRouteFailed, policy.RouteFailed(errors.New(
			`admission webhook "validate.nginx.ingress.kubernetes.io" denied the request: host "rpc.example.com" and path "/rpc" ` +
				`is already defined in ingress other/rpc`))},
	}
}
