// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/nodeconfig"
)

// files are what a node reads at its start, by name.
type files map[string][]byte

// node is one validator.
type node struct {
	config      nodeconfig.Config
	genesis     nodeconfig.Genesis
	genesisHash string
	key         keys.Key
	publicKey   string
	adminToken  string
	tcp         chain.TCP
}

// newNode reads a node's files as the node itself would, and refuses what it
// would refuse.
func newNode(files files, sysctls []corev1.Sysctl) (*node, error) {
	n := &node{}
	if err := files.decode(nodeconfig.ConfigFile, &n.config); err != nil {
		return nil, err
	}
	if err := files.decode(n.config.GenesisFile, &n.genesis); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(files[n.config.GenesisFile])
	n.genesisHash = hex.EncodeToString(sum[:])

	key, err := keys.Parse(files[n.config.KeyFile])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.config.KeyFile, err)
	}
	n.key, n.publicKey = key, hex.EncodeToString(key.Public())
	if n.config.Admin == nil {
		return nil, fmt.Errorf("%s: there is no admin API", nodeconfig.ConfigFile)
	}
	n.adminToken = string(files[n.config.Admin.TokenFile])
	if n.tcp, err = readBack(sysctls); err != nil {
		return nil, err
	}
	return n, n.check()
}

// check refuses a key that is not the one of the genesis document.
func (n *node) check() error {
	if n.genesis.Network != n.config.Network {
		return fmt.Errorf("%s is of network %s, not of %s", n.config.GenesisFile, n.genesis.Network, n.config.Network)
	}
	for i := range n.genesis.Validators {
		validator := &n.genesis.Validators[i]
		if validator.Name != n.config.Node {
			continue
		}
		if validator.PublicKey != n.publicKey {
			return fmt.Errorf("%s has public key %s in %s, but %s is of %s",
				n.config.Node, validator.PublicKey, n.config.GenesisFile, n.config.KeyFile, n.publicKey)
		}
		return nil
	}
	return fmt.Errorf("%s is not in %s", n.config.Node, n.config.GenesisFile)
}

// ports are those of the HTTP API and of the admin API.
func (n *node) ports() (plain, admin string, err error) {
	if _, plain, err = net.SplitHostPort(n.config.HTTP.Listen); err != nil {
		return "", "", fmt.Errorf("%s: http.listen: %w", nodeconfig.ConfigFile, err)
	}
	if _, admin, err = net.SplitHostPort(n.config.Admin.Listen); err != nil {
		return "", "", fmt.Errorf("%s: admin.listen: %w", nodeconfig.ConfigFile, err)
	}
	return plain, admin, nil
}

// place is the node in its genesis document.
func (n *node) place() nodeconfig.GenesisValidator {
	for i := range n.genesis.Validators {
		if n.genesis.Validators[i].Name == n.config.Node {
			return n.genesis.Validators[i]
		}
	}
	return nodeconfig.GenesisValidator{}
}

func (f files) decode(name string, document any) error {
	content, ok := f[name]
	if !ok {
		return fmt.Errorf("there is no file %s", name)
	}
	if err := json.Unmarshal(content, document); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
