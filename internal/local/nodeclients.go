// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// NodeClient is a client of a node that runs on this machine, of its admin API as
// well.
type NodeClient struct {
	*chain.Client

	// Name is that of the node.
	Name string
}

// FindNodes finds nodes of a network that runs on this machine by their names, or all
// that run without any. The network is found as FindRunning finds it.
func FindNodes(stateDir, network string, names []string) (string, []NodeClient, error) {
	running, err := FindRunning(stateDir, network)
	if err != nil {
		return "", nil, err
	}
	dir := statedir.NetworkDir(filepath.Join(stateDir, running.Network))
	current, err := dir.Processes()
	if err != nil {
		return "", nil, err
	}
	found, err := current.Named(names)
	if err != nil {
		return "", nil, fmt.Errorf("network %s: %w", running.Network, err)
	}
	clients := make([]NodeClient, 0, len(found))
	for _, process := range found {
		client, err := newNodeClient(dir, process)
		if err != nil {
			return "", nil, err
		}
		clients = append(clients, client)
	}
	return running.Network, clients, nil
}

// newNodeClient is one of a node, which knows the node by its key and has its token.
func newNodeClient(d statedir.NetworkDir, process statedir.Process) (NodeClient, error) {
	secrets, err := d.Node(process.Name).Secrets()
	if err != nil {
		return NodeClient{}, err
	}
	admin := chain.Admin{Address: process.Admin, PublicKey: secrets.Key.Public(), Token: secrets.AdminToken}
	return NodeClient{chain.NewClient(process.HTTP, admin), process.Name}, nil
}

// NodeNames are the names of the nodes of a network that runs on this machine, which
// is found as FindRunning finds it.
func NodeNames(stateDir, network string) ([]string, error) {
	running, err := FindRunning(stateDir, network)
	if err != nil {
		return nil, err
	}
	current, err := statedir.NetworkDir(filepath.Join(stateDir, running.Network)).Processes()
	if err != nil {
		return nil, err
	}
	return current.Names(), nil
}
