// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Names of the ports of a node's container.
const (
	PortP2P   = "p2p"
	PortHTTP  = "http"
	PortAdmin = "admin"
)

// newP2PService gives every validator a DNS name, ready or not: validators
// become ready by reaching each other.
func newP2PService(network *v1alpha1.ShardNetwork, ports topology.Ports) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: owned(network, P2PServiceName(network.Name)),
		Spec: corev1.ServiceSpec{
			ClusterIP:                corev1.ClusterIPNone,
			PublishNotReadyAddresses: true,
			Selector:                 networkSelector(network.Name),
			Ports:                    []corev1.ServicePort{servicePort(PortP2P, ports.P2P)},
		},
	}
}

// newRPCService leads clients to the rpc nodes that follow the chain; where there
// are none, to any node that takes part in it.
func newRPCService(network *v1alpha1.ShardNetwork, ports topology.Ports) *corev1.Service {
	selector := networkSelector(network.Name)
	if network.Spec.RPCNodes > 0 {
		selector = roleSelector(network.Name, topology.RoleRPC)
	}
	service := &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: owned(network, RPCServiceName(network.Name)),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: selector,
			Ports:    []corev1.ServicePort{servicePort(PortHTTP, ports.HTTP)},
		},
	}
	wanted := network.Spec.RPCService
	if wanted == nil {
		return service
	}
	if len(wanted.Annotations) > 0 {
		service.Annotations = under(wanted.Annotations, nil)
	}
	if wanted.Type == v1alpha1.RPCServiceLoadBalancer {
		service.Spec.Type = corev1.ServiceTypeLoadBalancer
		service.Spec.LoadBalancerSourceRanges = wanted.SourceRanges
		// The network policy has to see where clients come from.
		service.Spec.ExternalTrafficPolicy = corev1.ServiceExternalTrafficPolicyLocal
	}
	return service
}

func servicePort(name string, port int) corev1.ServicePort {
	return corev1.ServicePort{
		Name:       name,
		Protocol:   corev1.ProtocolTCP,
		Port:       int32(port),
		TargetPort: intstr.FromString(name),
	}
}
