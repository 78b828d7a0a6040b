// SPDX-License-Identifier: Apache-2.0

// Package keys makes the secrets of a network: the key of each validator and
// the token of the admin API. Accounts have keys of the same kind.
package keys

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"fmt"
)

// Key is an ed25519 key. That of a validator identifies it to its peers, in
// consensus and on its chunks; that of an account signs its transfers.
type Key struct {
	private ed25519.PrivateKey
}

// Generate makes a new key from the system's cryptographic random source.
func Generate() (Key, error) {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return Key{}, fmt.Errorf("generate ed25519 key: %w", err)
	}
	return Key{private: private}, nil
}

// Parse reads the content of a key file.
func Parse(content []byte) (Key, error) {
	seed, err := hex.DecodeString(string(bytes.TrimSpace(content)))
	if err != nil || len(seed) != ed25519.SeedSize {
		// The content is a secret: the error must not repeat it.
		return Key{}, fmt.Errorf("a key is %d hex digits", 2*ed25519.SeedSize)
	}
	return Key{private: ed25519.NewKeyFromSeed(seed)}, nil
}

// FromSeed is the key with this seed; every 32 bytes are one.
func FromSeed(seed [ed25519.SeedSize]byte) Key {
	return Key{private: ed25519.NewKeyFromSeed(seed[:])}
}

// Sign signs a message.
func (k Key) Sign(message []byte) []byte {
	return ed25519.Sign(k.private, message)
}

// Public is the public part of the key.
func (k Key) Public() ed25519.PublicKey {
	return k.private.Public().(ed25519.PublicKey)
}

// File is the content of the key file that a node reads: the seed as hex
// digits.
func (k Key) File() []byte {
	return hex.AppendEncode(nil, k.private.Seed())
}

// String keeps the secret out of logs and error messages.
func (k Key) String() string {
	return "key of " + hex.EncodeToString(k.Public())
}

// GoString keeps the secret out of logs and error messages.
func (k Key) GoString() string {
	return k.String()
}
