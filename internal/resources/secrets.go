// SPDX-License-Identifier: Apache-2.0

package resources

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
)

// NewKey is the Secret of a validator's key. It is made once and never
// changed: the genesis document names its public part.
func NewKey(network *v1alpha1.ShardNetwork, validator topology.Validator, keyFile []byte) *corev1.Secret {
	secret := newSecret(network, KeyName(validator.Name), nodeconfig.DefaultFiles.Key, keyFile)
	secret.Labels = ValidatorLabels(network.Name, validator)
	return secret
}

// KeyFile is the content of the key file in a validator's Secret.
func KeyFile(secret *corev1.Secret) []byte {
	return secret.Data[nodeconfig.DefaultFiles.Key]
}

// NewAdminToken is the Secret of the bearer token of the nodes' admin API.
func NewAdminToken(network *v1alpha1.ShardNetwork, token string) *corev1.Secret {
	return newSecret(network, AdminTokenName(network.Name), nodeconfig.DefaultFiles.AdminToken, []byte(token))
}

// AdminToken is the token in a network's Secret.
func AdminToken(secret *corev1.Secret) string {
	return string(secret.Data[nodeconfig.DefaultFiles.AdminToken])
}

// GenesisFile is the genesis document in its ConfigMap.
func GenesisFile(config *corev1.ConfigMap) string {
	return config.Data[nodeconfig.DefaultFiles.Genesis]
}

// PeersFiles are the documents in the ConfigMap of the addresses of all nodes: one, and that
// of before while nodes are replaced, by names that only those know who make them.
func PeersFiles(config *corev1.ConfigMap) [][]byte {
	documents := make([][]byte, 0, len(config.Data))
	for _, content := range config.Data {
		documents = append(documents, []byte(content))
	}
	return documents
}

func newSecret(network *v1alpha1.ShardNetwork, name, file string, content []byte) *corev1.Secret {
	return &corev1.Secret{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
		ObjectMeta: retained(network, name),
		Immutable:  ptr.To(true),
		Type:       corev1.SecretTypeOpaque,
		Data:       map[string][]byte{file: content},
	}
}
