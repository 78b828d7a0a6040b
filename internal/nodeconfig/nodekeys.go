// SPDX-License-Identifier: Apache-2.0

package nodeconfig

import (
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// NodeKeys are the public keys of all nodes of a network, by name: of those that the
// genesis document names the keys there, which nobody can change, and of rpc nodes and
// archives the keys in documents of peers. What of these cannot be read, or is not the same
// in all of them, nobody relies on: it says nothing of the others.
func NodeKeys(genesis []byte, peers ...[]byte) (map[string]ed25519.PublicKey, error) {
	publicKeys, err := PublicKeys(genesis)
	if err != nil {
		return nil, fmt.Errorf("read genesis document: %w", err)
	}
	told := map[string]ed25519.PublicKey{}
	for _, document := range peers {
		var known Peers
		if json.Unmarshal(document, &known) != nil {
			continue
		}
		for i := range known.Peers {
			peer := &known.Peers[i]
			publicKey, err := hex.DecodeString(peer.PublicKey)
			if err != nil || len(publicKey) != ed25519.PublicKeySize {
				continue
			}
			if before, twice := told[peer.Name]; twice && !before.Equal(ed25519.PublicKey(publicKey)) {
				publicKey = nil
			}
			told[peer.Name] = publicKey
		}
	}
	for name, publicKey := range told {
		if publicKeys[name] == nil && publicKey != nil {
			publicKeys[name] = publicKey
		}
	}
	return publicKeys, nil
}
