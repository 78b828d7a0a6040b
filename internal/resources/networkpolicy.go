// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

const dnsPort = 53

// newNetworkPolicy closes everything but what a network needs: p2p among its
// validators, name resolution, and the HTTP API for the network's own
// namespace, the operator's, and those that are labelled for it.
func newNetworkPolicy(
	network *v1alpha1.ShardNetwork,
	ports topology.Ports,
	operatorNamespace string,
) *networkingv1.NetworkPolicy {
	validators := []networkingv1.NetworkPolicyPeer{{
		PodSelector: &metav1.LabelSelector{MatchLabels: networkSelector(network.Name)},
	}}
	clients := []networkingv1.NetworkPolicyPeer{
		{PodSelector: &metav1.LabelSelector{}},
		namespacePeer(LabelNodeAccess, NodeAccessAllowed),
	}
	if operatorNamespace != "" {
		clients = append(clients, namespacePeer(corev1.LabelMetadataName, operatorNamespace))
	}

	return &networkingv1.NetworkPolicy{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
		ObjectMeta: owned(network, network.Name),
		Spec: networkingv1.NetworkPolicySpec{
			PodSelector: metav1.LabelSelector{MatchLabels: networkSelector(network.Name)},
			PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress},
			Ingress: []networkingv1.NetworkPolicyIngressRule{
				{From: validators, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.P2P)}},
				{From: clients, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.HTTP)}},
			},
			Egress: []networkingv1.NetworkPolicyEgressRule{
				{To: validators, Ports: []networkingv1.NetworkPolicyPort{policyPort(corev1.ProtocolTCP, ports.P2P)}},
				{Ports: []networkingv1.NetworkPolicyPort{
					policyPort(corev1.ProtocolUDP, dnsPort),
					policyPort(corev1.ProtocolTCP, dnsPort),
				}},
			},
		},
	}
}

func namespacePeer(label, value string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{
		NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{label: value}},
	}
}

func policyPort(protocol corev1.Protocol, port int) networkingv1.NetworkPolicyPort {
	return networkingv1.NetworkPolicyPort{Protocol: &protocol, Port: ptr.To(intstr.FromInt(port))}
}
