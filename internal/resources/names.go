// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// P2PServiceName is the headless Service that gives validators their DNS names.
func P2PServiceName(network string) string { return network + "-p2p" }

// RPCServiceName is the Service through which clients reach the nodes that serve
// them.
func RPCServiceName(network string) string { return network + "-rpc" }

// GenesisName is the ConfigMap of the genesis document.
func GenesisName(network string) string { return network + "-genesis" }

// PeersName is the ConfigMap of the addresses of all nodes.
func PeersName(network string) string { return network + "-peers" }

// AdminTokenName is the Secret of the admin API's token.
func AdminTokenName(network string) string { return network + "-admin" }

// ConfigName is the ConfigMap of a validator's configuration.
func ConfigName(validator string) string { return validator + "-config" }

// KeyName is the Secret of a validator's key.
func KeyName(validator string) string { return validator + "-key" }

// PodName is the only pod of a validator's StatefulSet.
func PodName(validator string) string { return validator + "-0" }

// ClaimName is the volume claim of a validator's disk.
func ClaimName(validator string) string { return volumeData + "-" + PodName(validator) }

// StorageClassName is the class of validators' disks whose performance the
// network states. Classes have no namespace, so the name holds it.
func StorageClassName(network *v1alpha1.ShardNetwork) string {
	return fmt.Sprintf("shardyard.%s.%s", network.Namespace, network.Name)
}

// roleClassName is the class of the disks of the nodes of a role that has its own.
func roleClassName(network *v1alpha1.ShardNetwork, role topology.Role) string {
	return StorageClassName(network) + "." + strings.ToLower(string(role))
}

// IsStorageClass says whether a class has the name of one that is made for a network.
func IsStorageClass(class, namespace, network string) bool {
	made := StorageClassName(&v1alpha1.ShardNetwork{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: network}})
	return class == made || strings.HasPrefix(class, made+".")
}

// P2PAddress is where the others of its network reach a validator.
func P2PAddress(network *v1alpha1.ShardNetwork, clusterDomain, validator string, ports topology.Ports) string {
	return net.JoinHostPort(podHost(network, clusterDomain, validator), strconv.Itoa(ports.P2P))
}

// AdminAddress is where whoever has its token reaches the admin API of a validator.
func AdminAddress(network *v1alpha1.ShardNetwork, clusterDomain, validator string, ports topology.Ports) string {
	return net.JoinHostPort(podHost(network, clusterDomain, validator), strconv.Itoa(ports.Admin))
}

// podHost is the DNS name of a validator's pod.
func podHost(network *v1alpha1.ShardNetwork, clusterDomain, validator string) string {
	return fmt.Sprintf("%s.%s.%s.svc.%s", PodName(validator), P2PServiceName(network.Name), network.Namespace, clusterDomain)
}
