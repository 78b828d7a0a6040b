// SPDX-License-Identifier: Apache-2.0

package account

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"

	"lukechampine.com/blake3"

	"github.com/shardyard/shardyard/internal/keys"
)

// Chain is what the signature of a transaction is bound to.
type Chain struct {
	// Network is the name of the network.
	Network string
	// GenesisHash is the hash of its genesis document, in hexadecimal.
	GenesisHash string
}

// Transfer is a transfer of native value, of which the signer is whoever signs
// it.
type Transfer struct {
	Receiver ID
	// Amount is in base units.
	Amount uint64
	// Nonce is greater than every one that the signer has used.
	Nonce uint64
	// ExpiresAt is the first height at which it is not executed any more; 0 for
	// none.
	ExpiresAt uint64
}

// kindTransfer is the first byte of a transfer.
const kindTransfer = 1

// Transaction is a signed transaction as nodes take it.
type Transaction []byte

// Sign signs a transfer for one chain.
func (t Transfer) Sign(key keys.Key, on Chain) Transaction {
	signer := Of(key)
	content := append([]byte{kindTransfer}, signer[:]...)
	content = append(content, t.Receiver[:]...)
	for _, number := range []uint64{t.Amount, t.Nonce, t.ExpiresAt} {
		content = binary.BigEndian.AppendUint64(content, number)
	}
	namespace := fmt.Sprintf("%s/%s/transaction", on.Network, on.GenesisHash)
	message := binary.AppendUvarint(nil, uint64(len(namespace)))
	message = append(append(message, namespace...), content...)
	return append(content, key.Sign(message)...)
}

// Hash is the hash that the chain knows a transaction by, in hexadecimal.
func (t Transaction) Hash() string {
	hash := blake3.Sum256(t)
	return hex.EncodeToString(hash[:])
}

// String is the transaction in hexadecimal.
func (t Transaction) String() string {
	return hex.EncodeToString(t)
}
