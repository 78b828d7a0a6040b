// SPDX-License-Identifier: Apache-2.0

package account_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/keys"
)

// seed is that of the genesis document which the vectors are of.
var seed = strings.Repeat("5e", 32)

// readVectors reads the node's golden vectors.
func readVectors(t *testing.T) map[string]string {
	t.Helper()
	content, err := os.ReadFile("../../node/crates/primitives/tests/primitives/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors map[string]string
	if err := json.Unmarshal(content, &vectors); err != nil {
		t.Fatal(err)
	}
	return vectors
}

// numbered is the key whose seed is all of one number.
func numbered(number byte) keys.Key {
	return keys.FromSeed([32]byte(bytes.Repeat([]byte{number}, 32)))
}

// What a node derives, encodes, hashes and signs is the same here, byte for byte.
func TestVectors(t *testing.T) {
	vectors := readVectors(t)
	chain := account.Chain{Network: "quickstart", GenesisHash: vectors["genesis.hash"]}
	transaction := account.Transfer{
		Receiver: account.Of(numbered(2)), Amount: 0x0102_0304_0506_0708, Nonce: 1, ExpiresAt: 0x0a0b_0c0d,
	}.Sign(numbered(1), chain)
	first, err := account.Genesis(seed, 0)
	if err != nil {
		t.Fatal(err)
	}
	eighth, err := account.Genesis(seed, 7)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"account.0.id":          account.Of(first).String(),
		"account.7.id":          account.Of(eighth).String(),
		"accountId":             account.Of(numbered(1)).String(),
		"transaction":           transaction.String(),
		"transaction.hash":      transaction.Hash(),
		"transaction.signature": transaction[len(transaction)-64:].String(),
	} {
		if want := vectors[name]; got != want {
			t.Errorf("%s is %s, the node's is %s", name, got, want)
		}
	}
}

func TestParseID(t *testing.T) {
	id := account.Of(numbered(1))
	if got, err := account.ParseID(id.String()); err != nil || got != id {
		t.Errorf("%s is parsed to %s (%v)", id, got, err)
	}
	for _, text := range []string{"", "00", id.String() + "00", strings.Repeat("x", 64)} {
		if _, err := account.ParseID(text); err == nil || !strings.Contains(err.Error(), "an account is 64 hex digits") {
			t.Errorf("%q is refused with %v", text, err)
		}
	}
}

// A seed is a secret where it is one of value: errors do not repeat it.
func TestGenesisRefusesSeeds(t *testing.T) {
	for _, text := range []string{"", "2a", seed + "2a", strings.Repeat("x", 64)} {
		_, err := account.Genesis(text, 0)
		if err == nil || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the seed %q is refused with %v", text, err)
		}
	}
}
