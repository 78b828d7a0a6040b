// SPDX-License-Identifier: Apache-2.0

package proof_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/proof"
)

// golden are the proofs of the node's tests, and what each comes to.
type golden struct {
	Genesis     json.RawMessage `json:"genesis"`
	GenesisHash string          `json:"genesisHash"`
	Block       struct {
		Height uint64 `json:"height"`
		Hash   string `json:"hash"`
		TimeMs uint64 `json:"timestampMs"`
	} `json:"block"`
	Cases []goldenCase `json:"cases"`
}

type goldenCase struct {
	Proof string `json:"proof"`
	// Account is asked about in a block of at least a height, or else Transfer of
	// Signer.
	Account  string `json:"account"`
	Least    uint64 `json:"least"`
	Signer   string `json:"signer"`
	Transfer string `json:"transfer"`

	Refused proof.Reason `json:"refused"`
	Height  uint64       `json:"height"`
	Exists  bool         `json:"exists"`
	Balance uint64       `json:"balance"`
	Nonce   uint64       `json:"nonce"`
	Outcome uint8        `json:"outcome"`
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	content, err := os.ReadFile("../../node/crates/verifier/tests/verifier/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, into); err != nil {
		t.Fatal(err)
	}
}

func readGolden(t *testing.T) (*golden, *proof.Verifier, map[string][]byte) {
	t.Helper()
	var read golden
	readJSON(t, "cases.json", &read)
	var texts map[string]string
	readJSON(t, "vectors.json", &texts)
	proofs := map[string][]byte{}
	for name, text := range texts {
		proofs[name] = decodeHex(t, text)
	}
	verifier, err := proof.New(read.Genesis)
	if err != nil {
		t.Fatal(err)
	}
	return &read, verifier, proofs
}

func decodeHex(t *testing.T, text string) []byte {
	t.Helper()
	content, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parseID(t *testing.T, text string) account.ID {
	t.Helper()
	id, err := account.ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// judge is what a case comes to: where it is proven, or why it is not.
func judge(t *testing.T, verifier *proof.Verifier, test goldenCase, content []byte) (got goldenCase, at proof.At, err error) {
	t.Helper()
	got = goldenCase{
		Proof: test.Proof, Account: test.Account, Least: test.Least, Signer: test.Signer, Transfer: test.Transfer,
	}
	if test.Account != "" {
		proven, err := verifier.Account(parseID(t, test.Account), content, test.Least)
		if err != nil {
			return got, at, err
		}
		got.Height, got.Exists, got.Balance, got.Nonce = proven.Height, proven.Exists, proven.Balance, proven.Nonce
		return got, proven.At, nil
	}
	proven, err := verifier.Outcome(parseID(t, test.Signer), [32]byte(decodeHex(t, test.Transfer)), content)
	if err != nil {
		return got, at, err
	}
	got.Height, got.Outcome = proven.Height, proven.Code
	return got, proven.At, nil
}

// What a node's verifier takes and refuses, this one does, for the same reasons.
func TestGoldenProofs(t *testing.T) {
	t.Parallel()
	read, verifier, proofs := readGolden(t)
	if got := verifier.GenesisHash(); got != read.GenesisHash {
		t.Fatalf("the genesis hash is %s, the node's is %s", got, read.GenesisHash)
	}
	refused := map[proof.Reason]bool{}
	for _, test := range read.Cases {
		refused[test.Refused] = true
		t.Run(test.Proof, func(t *testing.T) {
			t.Parallel()
			content, ok := proofs[test.Proof]
			if !ok {
				t.Fatal("there is no such proof")
			}
			got, at, err := judge(t, verifier, test, content)
			if refusal, ok := errors.AsType[*proof.Error](err); ok {
				got.Refused = refusal.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if got != test {
				t.Fatalf("it comes to %+v (%v), want %+v", got, err, test)
			}
			if err != nil {
				return
			}
			if at.BlockHeight != read.Block.Height || at.BlockHash != read.Block.Hash || at.BlockTimeMs != read.Block.TimeMs {
				t.Errorf("it is proven at %+v, want %+v", at, read.Block)
			}
			if at.Voters != 4 || at.Votes < 3 {
				t.Errorf("it is final by %d of %d votes", at.Votes, at.Voters)
			}
		})
	}
	for _, reason := range []proof.Reason{
		proof.Malformed, proof.Voters, proof.Quorum, proof.Vote, proof.Block, proof.Old, proof.Uncommitted, proof.Shard,
		proof.Index, proof.Path, proof.Root, proof.Unrelated, proof.Outcomes,
	} {
		if !refused[reason] {
			t.Errorf("no proof is refused for %s", reason)
		}
	}
}

// No byte of a proof can be another one, and none can be missing.
func TestEveryByteOfAProofCounts(t *testing.T) {
	t.Parallel()
	read, verifier, proofs := readGolden(t)
	for _, name := range []string{"account.byNext", "outcome"} {
		var test goldenCase
		for _, one := range read.Cases {
			if one.Proof == name {
				test = one
			}
		}
		honest := proofs[name]
		for index := range honest {
			changed := append([]byte{}, honest...)
			changed[index] ^= 1
			if _, _, err := judge(t, verifier, test, changed); err == nil {
				t.Errorf("%s: byte %d can be another one", name, index)
			}
			if _, _, err := judge(t, verifier, test, honest[:index]); err == nil {
				t.Errorf("%s: %d bytes of it are enough", name, index)
			}
		}
	}
}

func FuzzAccount(f *testing.F) {
	var read golden
	content, err := os.ReadFile("../../node/crates/verifier/tests/verifier/cases.json")
	if err != nil {
		f.Fatal(err)
	}
	if err := json.Unmarshal(content, &read); err != nil {
		f.Fatal(err)
	}
	verifier, err := proof.New(read.Genesis)
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, content []byte) {
		id := parseID(t, read.Cases[0].Account)
		if _, err := verifier.Account(id, content, 0); err != nil {
			if _, ok := errors.AsType[*proof.Error](err); !ok {
				t.Errorf("it is refused with %v", err)
			}
		}
	})
}

func TestNewRefusesDocuments(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"no JSON":     `{`,
		"empty":       `{}`,
		"no producer": `{"seed": "` + seed + `", "shards": 1}`,
		"no key":      `{"seed": "` + seed + `", "shards": 1, "validators": [{"role": "producer", "shard": 0, "slot": 0, "publicKey": "00"}]}`,
		"no seat":     `{"seed": "` + seed + `", "shards": 1, "validators": [{"role": "producer", "publicKey": "` + seed + `"}]}`,
	} {
		if _, err := proof.New([]byte(document)); err == nil {
			t.Errorf("%s: it is taken", name)
		}
	}
}

const seed = "5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e5e"
