// SPDX-License-Identifier: Apache-2.0

package statedir

import (
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/manifest"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/internal/topology"
)

// Kept is a network as a folder keeps it, its own or that of a backup.
type Kept struct {
	Plan        *topology.Plan
	GenesisHash string
}

// OpenKept reads what a folder keeps.
func OpenKept(dir NetworkDir) (*Kept, error) {
	network, err := manifest.Read(dir.Manifest())
	if err != nil {
		return nil, fmt.Errorf("read the manifest it runs with: %w", err)
	}
	plan, err := topology.New(network)
	if err != nil {
		return nil, err
	}
	document, err := os.ReadFile(dir.Genesis())
	if err != nil {
		return nil, err
	}
	verifier, err := proof.New(document)
	if err != nil {
		return nil, err
	}
	return &Kept{Plan: plan, GenesisHash: verifier.GenesisHash()}, nil
}

// Names are the names of all nodes.
func (k *Kept) Names() []string {
	names := make([]string, 0, len(k.Plan.Nodes))
	for _, validator := range k.Plan.Nodes {
		names = append(names, validator.Name)
	}
	return names
}
