// SPDX-License-Identifier: Apache-2.0

package machinenodes

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

// Node is one validator as this machine runs it.
type Node struct {
	Validator topology.Validator
	// Dir has its files.
	Dir     statedir.NodeDir
	Secrets statedir.Secrets
	// P2P, HTTP and Admin are held for what it listens with: to peers, to clients, and
	// to whoever runs it.
	P2P, HTTP, Admin Port
}

// listenPorts is how many ports a node listens on.
const listenPorts = 3

// Prepare gives every validator its ports, and writes its configuration and the file of
// peers; the log of the last run stays beside the one that begins. The nodes are in the
// order of the plan. They send spans as tracing says, or where the manifest says if it is
// nil. No other network takes the ports as long as the guards are held. With an error, no
// port is held, and some of the files may be written.
func Prepare(ctx context.Context, network *statedir.Network, tracing *nodeconfig.Tracing) (nodes []Node, guards []Port, err error) {
	ports, guards, err := HoldPorts(ctx, listenPorts*len(network.Plan.Nodes))
	if err != nil {
		return nil, nil, err
	}
	nodes = make([]Node, 0, len(network.Plan.Nodes))
	addresses := make(map[string]string, len(network.Plan.Nodes))
	for i, validator := range network.Plan.Nodes {
		node := Node{
			Validator: validator,
			Dir:       network.Dir.Node(validator.Name),
			Secrets:   network.Secrets[validator.Name],
			P2P:       ports[listenPorts*i],
			HTTP:      ports[listenPorts*i+1],
			Admin:     ports[listenPorts*i+2],
		}
		nodes = append(nodes, node)
		addresses[validator.Name] = node.P2P.Address()
	}
	if err := writeFiles(network, nodes, addresses, tracing); err != nil {
		return nil, nil, errors.Join(err, ReleasePorts(ports), ReleasePorts(guards))
	}
	return nodes, guards, nil
}

func writeFiles(network *statedir.Network, nodes []Node, addresses map[string]string, tracing *nodeconfig.Tracing) error {
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
		config, err := nodeconfig.NewConfig(network.Manifest, network.Plan, node.Validator, nodeconfig.Host{
			Files:         statedir.NodeFiles,
			P2PListen:     node.P2P.Address(),
			HTTPListen:    node.HTTP.Address(),
			AdminListen:   node.Admin.Address(),
			WorkerThreads: threads,
			LogFormat:     nodeconfig.LogFormatText,
			Tracing:       tracing,
		})
		if err != nil {
			return err
		}
		content, err := nodeconfig.Encode(config)
		if err != nil {
			return err
		}
		if err := wholefile.Write(node.Dir.Config(), content, statedir.FileMode); err != nil {
			return err
		}
		if err := startLog(node.Dir); err != nil {
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
