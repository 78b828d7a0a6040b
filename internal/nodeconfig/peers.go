// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"crypto/ed25519"
	"fmt"
	"net"
	"strconv"

	"github.com/shardyard/shardyard/internal/topology"
)

// Peers are all nodes of a network with an address: one document for all of
// them, in which each finds itself as well.
type Peers struct {
	Peers []Peer `json:"peers"`
}

// Peer is a node as the others of its network know it.
type Peer struct {
	Name      string `json:"name"`
	PublicKey string `json:"publicKey"`
	// Address is HOST:PORT, where the host is a DNS name or an IP address.
	Address string `json:"address"`
	// Region is the node's, in a network that has links between regions.
	Region string `json:"region,omitempty"`
	// Archive says that the node keeps the states of all shards.
	Archive bool `json:"archive,omitempty"`
}

// NewPeers lists all nodes of a plan. It needs the public key and the p2p
// address of each, by name.
func NewPeers(
	plan *topology.Plan,
	publicKeys map[string]ed25519.PublicKey,
	addresses map[string]string,
) (*Peers, error) {
	peers := make([]Peer, 0, len(plan.Nodes))
	for _, validator := range plan.Nodes {
		publicKey, err := encodePublicKey(validator.Name, publicKeys)
		if err != nil {
			return nil, err
		}
		address, ok := addresses[validator.Name]
		if !ok {
			return nil, fmt.Errorf("validator %s has no p2p address", validator.Name)
		}
		if err := checkAddress(address); err != nil {
			return nil, fmt.Errorf("p2p address of validator %s: %w", validator.Name, err)
		}
		peer := Peer{Name: validator.Name, PublicKey: publicKey, Address: address, Archive: validator.Role == topology.RoleArchive}
		if len(plan.Links) > 0 {
			peer.Region = validator.Region
		}
		peers = append(peers, peer)
	}
	return &Peers{Peers: peers}, nil
}

func checkAddress(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if host == "" {
		return fmt.Errorf("address %s: missing host", address)
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return fmt.Errorf("address %s: port must be a number from 1 to 65535", address)
	}
	return nil
}
