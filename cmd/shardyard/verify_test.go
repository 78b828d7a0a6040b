// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proving is a node that proves an account, and where the genesis document is, with its hash.
type proving struct {
	node, genesis, hash, account string
	balance                      uint64
}

// serveProof serves the golden proof of an account, from a node of the network
// with this genesis hash, that of the proof if it is empty. The node says that the
// account has so much more than it has.
func serveProof(t *testing.T, genesisHash string, more uint64) proving {
	t.Helper()
	const vectors = "../../node/crates/verifier/tests/verifier/"
	var golden struct {
		Genesis     json.RawMessage
		GenesisHash string
		Block       struct {
			Height uint64
			Hash   string
		}
		Cases []struct {
			Proof, Account         string
			Height, Balance, Nonce uint64
		}
	}
	var proofs map[string]string
	for name, into := range map[string]any{"cases.json": &golden, "vectors.json": &proofs} {
		content, err := os.ReadFile(vectors + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	if genesisHash == "" {
		genesisHash = golden.GenesisHash
	}
	shown := golden.Cases[0]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, `{"network": "verified", "genesisHash": %q, "finalizedHeight": %d}`, genesisHash, golden.Block.Height)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var call struct{ Method string }
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Error(err)
		}
		what := ""
		if call.Method == "account_prove" {
			what = fmt.Sprintf(`, "blockHeight": %d, "blockHash": %q, "proof": %q`, golden.Block.Height, golden.Block.Hash, proofs[shown.Proof])
		}
		result := fmt.Sprintf(`{"id": %q, "shard": 0, "exists": true, "balance": %d, "nonce": %d, "height": %d%s}`,
			shown.Account, shown.Balance+more, shown.Nonce, shown.Height, what)
		_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": 1, "result": %s}`, result)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	genesis := filepath.Join(t.TempDir(), "genesis.json")
	if err := os.WriteFile(genesis, golden.Genesis, 0o600); err != nil {
		t.Fatal(err)
	}
	return proving{node: server.URL, genesis: genesis, hash: genesisHash, account: shown.Account, balance: shown.Balance}
}

func TestAccountIsVerified(t *testing.T) {
	t.Parallel()
	honest := serveProof(t, "", 0)
	printed := shardyard(t, "account", honest.account, "--node", honest.node, "--genesis", honest.genesis, "--max-age", "0", "-o", "json")
	var found lookedUp
	if err := json.Unmarshal([]byte(printed), &found); err != nil {
		t.Fatal(err)
	}
	if found.Balance != honest.balance || found.Verified == nil || found.Verified.BlockHeight != 7 || found.Verified.Votes != 3 {
		t.Errorf("it prints %s", printed)
	}
	printed = shardyard(t, "account", honest.account, "--node", honest.node, "--genesis", honest.genesis, "--max-age", "0")
	if !strings.Contains(printed, "verified   by block 7 (") || !strings.Contains(printed, "final by 3 of 4 votes") {
		t.Errorf("it prints %s", printed)
	}
}

// Whoever is believed is said to be.
func TestAccountIsBelieved(t *testing.T) {
	t.Parallel()
	lying := serveProof(t, "", 1)
	for _, args := range [][]string{{}, {"--verify=false"}} {
		printed := shardyard(t, append([]string{"account", lying.account, "--node", lying.node}, args...)...)
		if !strings.Contains(printed, "verified   no: the node is believed") {
			t.Errorf("%v: it prints %s", args, printed)
		}
	}
}

func TestAccountIsNotVerified(t *testing.T) {
	t.Parallel()
	honest, lying, other := serveProof(t, "", 0), serveProof(t, "", 1), serveProof(t, "aa", 0)
	for name, test := range map[string]struct {
		of   proving
		args []string
		want string
	}{
		"a lie":                      {lying, []string{"--genesis", lying.genesis, "--max-age", "0"}, "and its proof proves balance"},
		"another chain":              {other, []string{"--genesis", other.genesis}, "its genesis document has the hash aa, this one has "},
		"old":                        {honest, []string{"--genesis", honest.genesis}, "old, more than --max-age: the chain stands still"},
		"no document":                {honest, []string{"--verify"}, "--verify needs the genesis document: name its file with --genesis"},
		"no such file":               {honest, []string{"--genesis", honest.genesis + "x"}, "--genesis: open "},
		"not asked for":              {honest, []string{"--genesis", honest.genesis, "--verify=false"}, "--genesis goes with --verify"},
		"an age of what is believed": {honest, []string{"--verify=false", "--max-age", "5s"}, "--max-age goes with --verify"},
		"an age without a document":  {honest, []string{"--max-age", "5s"}, "--max-age needs the genesis document: name its file"},
		"a negative age":             {honest, []string{"--genesis", honest.genesis, "--max-age", "-1s"}, "--max-age must be at least 0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := shardyardFails(t, append([]string{"account", test.of.account, "--node", test.of.node}, test.args...)...)
			if len(lines) != 1 || !strings.Contains(lines[0], test.want) {
				t.Errorf("it says %q, want %q", lines, test.want)
			}
		})
	}
}
