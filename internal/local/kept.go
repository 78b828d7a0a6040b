// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/internal/topology"
)

// kept is a network as a folder keeps it, its own or that of a backup.
type kept struct {
	plan        *topology.Plan
	genesisHash string
}

func openKept(dir networkDir) (*kept, error) {
	network, err := manifest.Read(dir.manifest())
	if err != nil {
		return nil, fmt.Errorf("read the manifest it runs with: %w", err)
	}
	plan, err := topology.New(network)
	if err != nil {
		return nil, err
	}
	document, err := os.ReadFile(dir.genesis())
	if err != nil {
		return nil, err
	}
	verifier, err := proof.New(document)
	if err != nil {
		return nil, err
	}
	return &kept{plan: plan, genesisHash: verifier.GenesisHash()}, nil
}

// names are the names of all nodes.
func (k *kept) names() []string {
	names := make([]string, 0, len(k.plan.Nodes))
	for _, validator := range k.plan.Nodes {
		names = append(names, validator.Name)
	}
	return names
}
