// SPDX-License-Identifier: Apache-2.0

package running

import (
	"fmt"
	"path/filepath"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// Node is a client of a node that runs on this machine, of its admin API as
// well.
type Node struct {
	*chain.Client

	// Name is that of the node.
	Name string
}

// FindNodes finds nodes of a network that runs on this machine by their names, or all
// that run without any. The network is found as Find finds it.
func FindNodes(stateDir, network string, names []string) (string, []Node, error) {
	running, err := Find(stateDir, network)
	if err != nil {
		return "", nil, err
	}
	dir := statedir.NetworkDir(filepath.Join(stateDir, running.Name))
	current, err := dir.Processes()
	if err != nil {
		return "", nil, err
	}
	found, err := current.Named(names)
	if err != nil {
		return "", nil, fmt.Errorf("network %s: %w", running.Name, err)
	}
	clients := make([]Node, 0, len(found))
	for _, process := range found {
		client, err := newNodeClient(dir, process)
		if err != nil {
			return "", nil, err
		}
		clients = append(clients, client)
	}
	return running.Name, clients, nil
}

// newNodeClient is one of a node, which knows the node by its key and has its token.
func newNodeClient(d statedir.NetworkDir, process statedir.Process) (Node, error) {
	secrets, err := d.Node(process.Name).Secrets()
	if err != nil {
		return Node{}, err
	}
	admin := chain.Admin{Address: process.Admin, PublicKey: secrets.Key.Public(), Token: secrets.AdminToken}
	return Node{chain.NewClient(process.HTTP, admin), process.Name}, nil
}

// NodeNames are the names of the nodes of a network that runs on this machine, which
// is found as Find finds it.
func NodeNames(stateDir, network string) ([]string, error) {
	running, err := Find(stateDir, network)
	if err != nil {
		return nil, err
	}
	current, err := statedir.NetworkDir(filepath.Join(stateDir, running.Name)).Processes()
	if err != nil {
		return nil, err
	}
	return current.Names(), nil
}
