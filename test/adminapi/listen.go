// SPDX-License-Identifier: Apache-2.0

// Package adminapi lets the nodes of tests serve their admin API as the node
// contract says: over TLS, with a certificate of the node's own key.
package adminapi

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"math/big"
	"net"

	"github.com/shardyard/shardyard/internal/keys"
)

// Listen listens on an address, HOST:PORT, as the node with a key.
func Listen(ctx context.Context, address string, key keys.Key) (net.Listener, error) {
	certificate, err := newCertificate(key)
	if err != nil {
		return nil, fmt.Errorf("make certificate: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(listener, &tls.Config{
		MinVersion:   tls.VersionTLS13,
		Certificates: []tls.Certificate{certificate},
	}), nil
}

// newCertificate signs the key with itself. No date says for how long it holds:
// nobody looks.
func newCertificate(key keys.Key) (tls.Certificate, error) {
	seed, err := hex.DecodeString(string(key.File()))
	if err != nil {
		return tls.Certificate{}, err
	}
	private := ed25519.NewKeyFromSeed(seed)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	content, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: private}, nil
}
