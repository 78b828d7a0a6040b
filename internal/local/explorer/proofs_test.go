// SPDX-License-Identifier: Apache-2.0

package explorer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/explorer"
	"github.com/shardyard/shardyard/internal/proof"
)

// golden is a network, and what its nodes prove.
type golden struct {
	Genesis json.RawMessage
	Block   struct {
		Height uint64
		Hash   string
	}
	Cases []struct {
		Proof, Account, Signer, Transfer string
		Height, Balance, Nonce           uint64
	}
	proofs map[string]string
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	read := &golden{}
	for name, into := range map[string]any{"cases.json": read, "vectors.json": &read.proofs} {
		content, err := os.ReadFile("../../../node/crates/verifier/tests/verifier/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(content, into); err != nil {
			t.Fatal(err)
		}
	}
	return read
}

// answer is what a node says beside a proof; with richer, it makes more of an
// account than there is.
func (g *golden) answer(t *testing.T, name string, richer uint64) (path string, answer map[string]any) {
	t.Helper()
	for _, one := range g.Cases {
		if one.Proof != name {
			continue
		}
		answer = map[string]any{
			"height": one.Height, "blockHeight": g.Block.Height, "blockHash": g.Block.Hash, "proof": g.proofs[name],
			"id": one.Account, "shard": 0, "exists": true, "balance": one.Balance + richer, "nonce": one.Nonce, "status": "Executed",
		}
		if one.Account != "" {
			return "/accounts/" + one.Account + "/proof", answer
		}
		return "/outcomes/" + one.Transfer + "/proof?signer=" + one.Signer, answer
	}
	t.Fatalf("there is no golden proof %s", name)
	return "", nil
}

// What is shown as proven is what the network's genesis document vouches for,
// and a node that says anything else is told from one that does not answer.
func TestProofs(t *testing.T) {
	t.Parallel()
	read := readGolden(t)
	verifier, err := proof.New(read.Genesis)
	if err != nil {
		t.Fatal(err)
	}
	verified := fmt.Sprintf(`"verified":{"blockHeight":%d,"blockHash":%q`, read.Block.Height, read.Block.Hash)
	for name, test := range map[string]struct {
		proof  string
		richer uint64
		code   int
		want   string
	}{
		"an account":              {"account", 0, http.StatusOK, verified},
		"an account with more":    {"account", 1, http.StatusBadGateway, "is not true, or not of this network: it says balance"},
		"a vote of another chain": {"account.lie.anotherChain", 0, http.StatusBadGateway, "is not true, or not of this network"},
		"an outcome":              {"outcome", 0, http.StatusOK, verified},
		"another outcome":         {"outcome.lie.another", 0, http.StatusBadGateway, "is not true, or not of this network"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, answer := read.answer(t, test.proof, test.richer)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_ = json.NewEncoder(w).Encode(map[string]any{"result": answer})
			}))
			t.Cleanup(server.Close)
			client := chain.NewClient(server.Listener.Addr().String(), chain.Admin{})
			t.Cleanup(client.Close)
			handler := explorer.Chain{
				Shards: 2, Verifier: verifier,
				Newest: func(context.Context) (*chain.Client, uint64) { return client, read.Block.Height },
			}.Handler()
			answered := request(t, handler, http.MethodGet, path)
			if body := answered.Body.String(); answered.Code != test.code || !strings.Contains(body, test.want) {
				t.Errorf("it is answered with %d %s, want %d %s", answered.Code, body, test.code, test.want)
			}
		})
	}
}
