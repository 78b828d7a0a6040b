// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/shardyard/shardyard/internal/chain"
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
	dir := networkDir(filepath.Join(stateDir, running.Network))
	current, err := dir.processes()
	if err != nil {
		return "", nil, err
	}
	found, err := current.named(names)
	if err != nil {
		return "", nil, fmt.Errorf("network %s: %w", running.Network, err)
	}
	clients := make([]NodeClient, 0, len(found))
	for _, process := range found {
		client, err := dir.client(process)
		if err != nil {
			return "", nil, err
		}
		clients = append(clients, client)
	}
	return running.Network, clients, nil
}

// named are the processes of nodes with these names, or of all that run.
func (p *processes) named(names []string) ([]validatorProcess, error) {
	var found []validatorProcess
	for _, process := range p.Validators {
		if len(names) > 0 && !slices.Contains(names, process.Name) {
			continue
		}
		if process.PID != 0 {
			found = append(found, process)
		} else if len(names) > 0 {
			return nil, fmt.Errorf("node %s does not run", process.Name)
		}
	}
	for _, name := range names {
		known := func(process validatorProcess) bool { return process.Name == name }
		if !slices.ContainsFunc(p.Validators, known) {
			return nil, fmt.Errorf("there is no node %s, but %s", name, strings.Join(p.names(), ", "))
		}
	}
	return found, nil
}

func (p *processes) names() []string {
	names := make([]string, 0, len(p.Validators))
	for _, process := range p.Validators {
		names = append(names, process.Name)
	}
	return names
}

// client is one of a node, which knows the node by its key and has its token.
func (d networkDir) client(process validatorProcess) (NodeClient, error) {
	secrets, err := d.node(process.Name).secrets()
	if err != nil {
		return NodeClient{}, err
	}
	admin := chain.Admin{Address: process.Admin, PublicKey: secrets.key.Public(), Token: secrets.adminToken}
	return NodeClient{chain.NewClient(process.HTTP, admin), process.Name}, nil
}

// NodeNames are the names of the nodes of a network that runs on this machine, which
// is found as FindRunning finds it.
func NodeNames(stateDir, network string) ([]string, error) {
	running, err := FindRunning(stateDir, network)
	if err != nil {
		return nil, err
	}
	current, err := networkDir(filepath.Join(stateDir, running.Network)).processes()
	if err != nil {
		return nil, err
	}
	return current.names(), nil
}
