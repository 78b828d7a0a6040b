// SPDX-License-Identifier: Apache-2.0

package resources

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net"
	"path"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

// Where a node's container finds its files.
const (
	configDir = "/etc/shardnode"
	volumeDir = "/var/lib/shardnode"
)

// files are named relative to configDir. Data is a folder of its own below the
// disk's root, which may hold the file system's own files.
var files = nodeconfig.Files{
	Genesis:    nodeconfig.DefaultFiles.Genesis,
	Peers:      nodeconfig.DefaultFiles.Peers,
	Key:        nodeconfig.DefaultFiles.Key,
	AdminToken: nodeconfig.DefaultFiles.AdminToken,
	Data:       path.Join(volumeDir, nodeconfig.DefaultFiles.Data),
}

// NewGenesis is the ConfigMap of the genesis document. It is made once: a
// second one would be another chain.
func NewGenesis(network *v1alpha1.ShardNetwork, genesis *nodeconfig.Genesis) (*corev1.ConfigMap, error) {
	content, err := nodeconfig.Encode(genesis)
	if err != nil {
		return nil, fmt.Errorf("genesis document: %w", err)
	}
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: retained(network, GenesisName(network.Name)),
		Immutable:  ptr.To(true),
		Data:       map[string]string{nodeconfig.DefaultFiles.Genesis: string(content)},
	}, nil
}

// CopyGenesis is the ConfigMap of the genesis document for a further cluster,
// byte for byte.
func CopyGenesis(network *v1alpha1.ShardNetwork, document *corev1.ConfigMap) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: retained(network, document.Name),
		Immutable:  ptr.To(true),
		Data:       maps.Clone(document.Data),
	}
}

// document is what a pod reads: a key of a ConfigMap, which holds the one of before as
// well while nodes are replaced.
type document struct {
	object *corev1.ConfigMap
	key    string
}

// keep has the ConfigMap hold another document as well.
func (d *document) keep(other document) { maps.Copy(d.object.Data, other.object.Data) }

// newDocuments are the addresses of all nodes and the configurations of some.
func newDocuments(
	network *v1alpha1.ShardNetwork,
	plan *topology.Plan,
	validators []topology.Validator,
	inputs Inputs,
) (peers document, configs []document, err error) {
	if peers, err = newPeers(network, plan, inputs); err != nil {
		return document{}, nil, err
	}
	if configs, err = newConfigs(network, plan, validators); err != nil {
		return document{}, nil, err
	}
	if inputs.Before == nil {
		return peers, configs, nil
	}
	// Links are of the plan, and of the addresses as well.
	planned, err := topology.New(inputs.Before)
	if err != nil {
		return document{}, nil, fmt.Errorf("plan the network as it was: %w", err)
	}
	planned.Ports = plan.Ports
	keptPeers, err := newPeers(inputs.Before, planned, inputs)
	if err != nil {
		return document{}, nil, err
	}
	peers.keep(keptPeers)
	keptConfigs, err := newConfigs(inputs.Before, planned, validators)
	if err != nil {
		return document{}, nil, err
	}
	for i := range configs {
		configs[i].keep(keptConfigs[i])
	}
	return peers, configs, nil
}

// newPeers is the ConfigMap of the addresses of all nodes of the plan, one for
// all that are in a cluster.
func newPeers(network *v1alpha1.ShardNetwork, plan *topology.Plan, inputs Inputs) (document, error) {
	addresses := make(map[string]string, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		domain, ok := inputs.ClusterDomains[validator.Cluster]
		if !ok {
			return document{}, fmt.Errorf("validator %s: the DNS domain of its cluster %q is not known", validator.Name, validator.Cluster)
		}
		addresses[validator.Name] = P2PAddress(network, domain, validator.Name, plan.Ports)
	}
	peers, err := nodeconfig.NewPeers(plan, inputs.PublicKeys, addresses)
	if err != nil {
		return document{}, err
	}
	content, err := nodeconfig.Encode(peers)
	if err != nil {
		return document{}, fmt.Errorf("addresses of all nodes: %w", err)
	}
	return newDocument(owned(network, PeersName(network.Name)), "peers", content), nil
}

// newConfigs are the configurations of some validators.
func newConfigs(network *v1alpha1.ShardNetwork, plan *topology.Plan, validators []topology.Validator) ([]document, error) {
	configs := make([]document, 0, len(validators))
	for _, validator := range validators {
		config, err := newConfig(network, plan, validator)
		if err != nil {
			return nil, err
		}
		configs = append(configs, config)
	}
	return configs, nil
}

func newConfig(network *v1alpha1.ShardNetwork, plan *topology.Plan, validator topology.Validator) (document, error) {
	amounts, _ := validator.Role.Resources(&network.Spec.Node)
	described, err := nodeconfig.NewConfig(network, plan, validator, nodeconfig.Host{
		Files:         files,
		P2PListen:     listenAddress(plan.Ports.P2P),
		HTTPListen:    listenAddress(plan.Ports.HTTP),
		AdminListen:   listenAddress(plan.Ports.Admin),
		WorkerThreads: nodeconfig.WorkerThreads(amounts),
		LogFormat:     nodeconfig.LogFormatJSON,
	})
	if err != nil {
		return document{}, err
	}
	content, err := nodeconfig.Encode(described)
	if err != nil {
		return document{}, fmt.Errorf("configuration of validator %s: %w", validator.Name, err)
	}
	meta := owned(network, ConfigName(validator.Name))
	meta.Labels = ValidatorLabels(network.Name, validator)
	return newDocument(meta, "config", content), nil
}

// newDocument names a document after its content: a pod goes on with the one that
// it was made with, however often its node starts.
func newDocument(meta metav1.ObjectMeta, kind string, content []byte) document {
	key := kind + "-" + hash(string(content)) + ".json"
	return document{key: key, object: &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: meta,
		Data:       map[string]string{key: string(content)},
	}}
}

// listenAddress is every address of the pod.
func listenAddress(port int) string {
	return net.JoinHostPort("0.0.0.0", strconv.Itoa(port))
}

// hash tells one content from another. It is too short to say more, which
// matters for secrets.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:8])
}
