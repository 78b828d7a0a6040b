// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/proof"
)

// golden is what a node of the golden proofs answers.
type golden struct {
	verifier *proof.Verifier
	proofs   map[string]string
	Genesis  json.RawMessage
	Block    struct {
		Height uint64
		Hash   string
	}
	Cases []goldenCase
}

type goldenCase struct {
	Proof, Account, Signer, Transfer string
	Height, Balance, Nonce           uint64
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	var read golden
	for name, into := range map[string]any{"cases.json": &read, "vectors.json": &read.proofs} {
		content, err := os.ReadFile("../../node/crates/verifier/tests/verifier/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if read.verifier, err = proof.New(read.Genesis); err != nil {
		t.Fatal(err)
	}
	return &read
}

// answer is a golden proof as a node would answer it, beside what it says.
func (g *golden) answer(t *testing.T, name string) (proven goldenCase, answer map[string]any) {
	t.Helper()
	for _, one := range g.Cases {
		if one.Proof == name {
			return one, map[string]any{
				"height": one.Height, "blockHeight": g.Block.Height, "blockHash": g.Block.Hash, "proof": g.proofs[name],
			}
		}
	}
	t.Fatalf("there is no golden proof %s", name)
	return proven, nil
}

// goldenProof is an account with its proof.
func goldenProof(t *testing.T) (verifier *proof.Verifier, id account.ID, answer map[string]any) {
	t.Helper()
	read := readGolden(t)
	proven, answer := read.answer(t, "account")
	id, err := account.ParseID(proven.Account)
	if err != nil {
		t.Fatal(err)
	}
	answer["id"], answer["shard"], answer["exists"] = proven.Account, 0, true
	answer["balance"], answer["nonce"] = proven.Balance, proven.Nonce
	return read.verifier, id, answer
}

func serveAnswer(t *testing.T, result any) *chain.Client {
	t.Helper()
	content, err := json.Marshal(result)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": 1, "result": %s}`, content)
	}))
	t.Cleanup(server.Close)
	client := chain.NewClient(strings.TrimPrefix(server.URL, "http://"), chain.Admin{})
	t.Cleanup(client.Close)
	return client
}

func TestVerifyAccount(t *testing.T) {
	t.Parallel()
	verifier, id, honest := goldenProof(t)
	verified, err := serveAnswer(t, honest).VerifyAccount(t.Context(), verifier, id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if verified.ID != id.String() || verified.Balance != honest["balance"] || verified.Verified.BlockHeight != honest["blockHeight"] {
		t.Errorf("it is %+v, the node says %v", verified, honest)
	}
}

// A node lies beside its proof, or in it.
func TestVerifyAccountFindsLies(t *testing.T) {
	t.Parallel()
	verifier, id, honest := goldenProof(t)
	digits := honest["proof"].(string)
	for field, test := range map[string]struct {
		lie  any
		want string
	}{
		"id":          {strings.Repeat("ab", 32), "and its proof proves balance"},
		"shard":       {1, "of shard 1"},
		"exists":      {false, "it says no such account"},
		"balance":     {1, "it says balance 1"},
		"nonce":       {0, "and nonce 0"},
		"height":      {6, "at height 6"},
		"blockHeight": {6, "by block 6"},
		"blockHash":   {strings.Repeat("00", 32), "with hash 00"},
		"proof":       {digits[:len(digits)-2], "not a proof"},
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			lying := maps.Clone(honest)
			lying[field] = test.lie
			_, err := serveAnswer(t, lying).VerifyAccount(t.Context(), verifier, id, 0)
			unproven, ok := errors.AsType[*chain.UnprovenError](err)
			if !ok || !strings.Contains(unproven.Error(), test.want) {
				t.Errorf("the answer comes to %v, want %q", err, test.want)
			}
		})
	}
	_, err := serveAnswer(t, honest).VerifyAccount(t.Context(), verifier, id, 1_000)
	if refused, ok := errors.AsType[*proof.Error](err); !ok || refused.Reason != proof.Old {
		t.Errorf("an old block comes to %v", err)
	}
}

func TestVerifyOutcome(t *testing.T) {
	t.Parallel()
	read := readGolden(t)
	for name, test := range map[string]struct {
		proof  string
		status chain.OutcomeStatus
		// said is what the node says, unless that is the status, and want what comes of it.
		said chain.OutcomeStatus
		want string
	}{
		"executed":             {"outcome", chain.OutcomeExecuted, "", ""},
		"failed":               {"outcome.failed", chain.OutcomeFailed, "", "amount is above the signer's balance"},
		"said to be executed":  {"outcome.failed", chain.OutcomeFailed, chain.OutcomeExecuted, "it says Executed at height 5"},
		"said to have failed":  {"outcome", chain.OutcomeExecuted, chain.OutcomeFailed, "and its proof proves Executed"},
		"of another transfer":  {"outcome.lie.another", "", chain.OutcomeExecuted, "do not have this one of the transfer"},
		"with another outcome": {"outcome.lie.failed", "", chain.OutcomeFailed, "do not have this one of the transfer"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proven, answer := read.answer(t, test.proof)
			answer["reason"] = "as the node has it"
			if answer["status"] = test.said; test.said == "" {
				answer["status"] = test.status
			}
			signer, err := account.ParseID(proven.Signer)
			if err != nil {
				t.Fatal(err)
			}
			got, err := serveAnswer(t, answer).VerifyOutcome(t.Context(), read.verifier, proven.Transfer, signer)
			if test.said == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got.Status != test.status || got.Reason != test.want || got.Height != proven.Height {
					t.Errorf("it comes to %+v", got)
				}
				return
			}
			unproven, ok := errors.AsType[*chain.UnprovenError](err)
			if !ok || !strings.Contains(unproven.Error(), test.want) {
				t.Errorf("it comes to %+v, %v, want %q", got, err, test.want)
			}
		})
	}
}
