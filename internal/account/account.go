// SPDX-License-Identifier: Apache-2.0

// Package account makes the transactions that clients send to a chain: it knows
// how accounts are named, which ones a genesis document derives, and how a
// transfer is encoded and signed. The node contract says all of it.
package account

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"lukechampine.com/blake3"

	"github.com/shardyard/shardyard/internal/keys"
)

// idBytes is the length of an account's id.
const idBytes = 32

// ID is the id of an account: the public key that its transfers are signed for.
type ID [idBytes]byte

// ParseID reads an id.
func ParseID(text string) (ID, error) {
	content, err := hex.DecodeString(text)
	if err != nil || len(content) != idBytes {
		return ID{}, fmt.Errorf("%q is no account: an account is %d hex digits", text, hex.EncodedLen(idBytes))
	}
	return ID(content), nil
}

// Of is the account of a key.
func Of(key keys.Key) ID {
	return ID(key.Public())
}

// String is the id in hexadecimal, as nodes take it.
func (id ID) String() string {
	return hex.EncodeToString(id[:])
}

// domainAccountKey begins what the key of a genesis account is a hash of.
const domainAccountKey = 0x24

// seedBytes is the length of the seed of a genesis document.
const seedBytes = 32

// Genesis is the key of the genesis account with this index, of the seed that a
// genesis document has, in hexadecimal.
func Genesis(seed string, index uint32) (keys.Key, error) {
	content, err := hex.DecodeString(seed)
	if err != nil || len(content) != seedBytes {
		return keys.Key{}, fmt.Errorf("the seed of the genesis document is not %d hex digits", hex.EncodedLen(seedBytes))
	}
	hashed := append([]byte{domainAccountKey}, content...)
	return keys.FromSeed(blake3.Sum256(binary.BigEndian.AppendUint32(hashed, index))), nil
}
