// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"net/netip"
	"net/url"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	dnsPort  = 53
	httpPort = 80
)

// newNetworkPolicy closes everything but what a network needs: p2p among its
// validators, name resolution, sending spans, the HTTP API for the network's own namespace, the
// operator, namespaces that are labelled for it, the addresses that a load
// balancer lets in, and whoever hands on the requests of a route, and the admin API
// for the operator alone.
func newNetworkPolicy(network *v1alpha1.ShardNetwork, plan *topology.Plan, inputs Inputs) *networkingv1.NetworkPolicy {
	ports, validators := plan.Ports, validatorPeers(network, plan)
	clients := []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{}},
		namespacePeer(LabelNodeAccess, NodeAccessAllowed),
	}
	if service := network.Spec.RPCService; service != nil {
		clients = append(clients, addressPeers(service.SourceRanges)...)
	}
	if route := network.Spec.RPCRoute; route != nil {
		for _, namespace := range route.SourceNamespaces {
			clients = append(clients, namespacePeer(corev1.LabelMetadataName, namespace))
		}
		clients = append(clients, addressPeers(route.SourceRanges)...)
	}
	operator := operatorPeers(inputs)
	clients = append(clients, operator...)
	ingress := []networkingv1.NetworkPolicyIngressRule{
		{From: validators, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.P2P)}},
		{From: clients, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.HTTP)}},
	}
	// A rule from nobody would be one from everybody.
	if len(operator) > 0 {
		ingress = append(ingress, networkingv1.NetworkPolicyIngressRule{
			From: operator, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.Admin)},
		})
	}

	egress := []networkingv1.NetworkPolicyEgressRule{
		{To: validators, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.P2P)}},
		nameResolution(),
	}
	egress = append(egress, spanExport(network)...)

	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: owned(network, network.Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: networkSelector(network.Name)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress:     ingress,
			Egress:      egress,
		},
	}
}

// spanExport lets spans be sent. The endpoint is a name, which policies do not
// know, so its port is open to everybody.
func spanExport(network *v1alpha1.ShardNetwork) []networkingv1.NetworkPolicyEgressRule {
	if network.Spec.Tracing == nil {
		return nil
	}
	endpoint, err := url.Parse(network.Spec.Tracing.Endpoint)
	if err != nil {
		return nil
	}
	port, err := strconv.ParseUint(endpoint.Port(), 10, 16)
	if err != nil {
		port = httpPort
	}
	return []networkingv1.NetworkPolicyEgressRule{{
		Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, int(port))},
	}}
}

// nameResolution lets names be resolved by anybody.
func nameResolution() networkingv1.NetworkPolicyEgressRule {
	return networkingv1.NetworkPolicyEgressRule{Ports: []networkingv1.NetworkPolicyPort{
		policyPort(corev1.ProtocolUDP, dnsPort),
		policyPort(corev1.ProtocolTCP, dnsPort),
	}}
}

// validatorPeers are the validators of a network; none, which means everybody,
// when some are in other clusters: selectors find only the pods of their own.
// Nodes talk p2p with nobody but the holders of the genesis document's keys.
func validatorPeers(network *v1alpha1.ShardNetwork, plan *topology.Plan) []networkingv1.NetworkPolicyPeer {
	if len(plan.Members()) > 0 {
		return nil
	}
	return []networkingv1.NetworkPolicyPeer{{
		PodSelector: &metav1.LabelSelector{MatchLabels: networkSelector(network.Name)},
	}}
}

// operatorPeers are the operator as a cluster knows it: by its namespace in its
// own, by its address in another.
func operatorPeers(inputs Inputs) []networkingv1.NetworkPolicyPeer {
	switch address, err := netip.ParseAddr(inputs.OperatorAddress); {
	case inputs.Cluster == "" && inputs.OperatorNamespace != "":
		return []networkingv1.NetworkPolicyPeer{namespacePeer(corev1.LabelMetadataName, inputs.OperatorNamespace)}
	case inputs.Cluster != "" && err == nil:
		return []networkingv1.NetworkPolicyPeer{{
			IPBlock: &networkingv1.IPBlock{CIDR: netip.PrefixFrom(address, address.BitLen()).String()},
		}}
	default:
		return nil
	}
}

func addressPeers(ranges []string) []networkingv1.NetworkPolicyPeer {
	var peers []networkingv1.NetworkPolicyPeer
	for _, addresses := range ranges {
		peers = append(peers, networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: addresses}})
	}
	return peers
}

func namespacePeer(label, value string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}},
	}
}

func policyPort(protocol corev1.Protocol, port int) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptr.To(intstr.FromInt(port))}
}
