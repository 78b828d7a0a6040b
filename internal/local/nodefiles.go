// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/topology"
	"github.com/shardyard/shardyard/internal/wholefile"
)

// node is one validator as this machine runs it.
type node struct {
	validator        topology.Validator
	dir              statedir.NodeDir
	secrets          statedir.Secrets
	p2p, http, admin port
}

// listenPorts is how many ports a node listens on.
const listenPorts = 3

// prepareNodes gives every validator its ports and writes its configuration.
func prepareNodes(ctx context.Context, network *network) ([]node, error) {
	ports, guards, err := holdPorts(ctx, listenPorts*len(network.Plan.Nodes))
	if err != nil {
		return nil, err
	}
	network.guards = append(network.guards, guards...)
	nodes := make([]node, 0, len(network.Plan.Nodes))
	addresses := make(map[string]string, len(network.Plan.Nodes))
	for i, validator := range network.Plan.Nodes {
		node := node{
			validator: validator,
			dir:       network.Dir.Node(validator.Name),
			secrets:   network.Secrets[validator.Name],
			p2p:       ports[listenPorts*i],
			http:      ports[listenPorts*i+1],
			admin:     ports[listenPorts*i+2],
		}
		nodes = append(nodes, node)
		addresses[validator.Name] = node.p2p.address()
	}
	if err := writeNodeFiles(network, nodes, addresses); err != nil {
		return nil, errors.Join(err, releasePorts(ports))
	}
	return nodes, nil
}

func writeNodeFiles(network *network, nodes []node, addresses map[string]string) error {
	peers, err := nodeconfig.NewPeers(network.Plan, network.PublicKeys(), addresses)
	if err != nil {
		return err
	}
	content, err := nodeconfig.Encode(peers)
	if err != nil {
		return err
	}
	if err := wholefile.Write(network.Dir.Peers(), content, statedir.FileMode); err != nil {
		return err
	}
	threads := workerThreads(runtime.NumCPU(), len(nodes))
	for _, node := range nodes {
		config, err := nodeconfig.NewConfig(network.Manifest, network.Plan, node.validator, nodeconfig.Host{
			Files:         statedir.NodeFiles,
			P2PListen:     node.p2p.address(),
			HTTPListen:    node.http.address(),
			AdminListen:   node.admin.address(),
			WorkerThreads: threads,
			LogFormat:     nodeconfig.LogFormatText,
			Tracing:       network.spans.tracing(),
		})
		if err != nil {
			return err
		}
		content, err := nodeconfig.Encode(config)
		if err != nil {
			return err
		}
		if err := wholefile.Write(node.dir.Config(), content, statedir.FileMode); err != nil {
			return err
		}
		if err := startLog(node.dir); err != nil {
			return err
		}
	}
	return nil
}

// startLog keeps the log of the last run beside the one that begins.
func startLog(dir statedir.NodeDir) error {
	if err := os.Rename(dir.Log(), dir.PreviousLog()); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("keep the last log: %w", err)
	}
	return nil
}

// workerThreads divides the cores among the validators. Two threads let a
// validator talk to its peers while it executes, even where cores are few.
func workerThreads(cores, validators int) int32 {
	return int32(max(cores/validators, min(cores, 2)))
}
