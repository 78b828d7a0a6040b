// SPDX-License-Identifier: Apache-2.0

package local

import (
	"errors"

	"github.com/shardyard/shardyard/internal/local/machinenodes"
	"github.com/shardyard/shardyard/internal/local/page"
	"github.com/shardyard/shardyard/internal/local/statedir"
)

// network is a network of this machine that runs: what is kept of it, and what is
// beside it meanwhile.
type network struct {
	*statedir.Network

	// guards keep other networks from the ports of this one.
	guards []machinenodes.Port
	// page is nil when the network is not to be seen.
	page *page.Page
	// spans is nil when spans go where the manifest says, if anywhere.
	spans *collector
}

// openNetwork takes the network of a manifest from the state directory, or makes it.
func openNetwork(manifestPath, stateDir string, fresh bool) (*network, error) {
	opened, err := statedir.Open(manifestPath, stateDir, fresh)
	if err != nil {
		return nil, err
	}
	return &network{Network: opened}, nil
}

// Close lets other processes have the network, and its ports.
func (n *network) Close() error {
	return errors.Join(machinenodes.ReleasePorts(n.guards), n.Network.Close())
}
