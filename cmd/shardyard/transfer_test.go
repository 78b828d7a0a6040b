// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/manifest"
)

// serveOutcome serves what a node answers of which every transfer has one
// outcome. Its chain is two blocks further with each status.
func serveOutcome(t *testing.T, outcome string) (address string) {
	t.Helper()
	return serveRestarted(t, outcome, 1)
}

// serveRestarted is serveOutcome of a node that from its second status on says that
// it was started at another height.
func serveRestarted(t *testing.T, outcome string, started uint64) (address string) {
	t.Helper()
	return serve(t, outcome, started, func(string, uint64) string { return "" })
}

// serve is serveRestarted of a node that is asked first what it answers to a method, and at
// which height: the result or the error, or nothing for the usual.
func serve(t *testing.T, outcome string, started uint64, answer func(method string, height uint64) string) (address string) {
	t.Helper()
	return serveChain(t, "aa", outcome, started, answer)
}

// serveChain is serve of the chain with a genesis document of that hash.
func serveChain(
	t *testing.T, genesisHash, outcome string, started uint64, answer func(method string, height uint64) string,
) (address string) {
	t.Helper()
	var height atomic.Uint64
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		now := height.Add(2)
		since := uint64(1)
		if now > 2 {
			since = started
		}
		_, _ = fmt.Fprintf(w, `{"network": "net", "genesisHash": %q, "finalizedHeight": %d, "startedHeight": %d,
			"shards": [{"executedHeight": %d}]}`, genesisHash, now, since, now-1)
	})
	mux.HandleFunc("POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			Method string
			Params struct{ Transaction string }
		}
		if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
			t.Error(err)
		}
		if given := answer(call.Method, height.Load()); given != "" {
			_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": 1, %s}`, given)
			return
		}
		result := outcome
		switch call.Method {
		case "account_get":
			result = `{"id": "aa", "exists": true, "balance": 10, "nonce": 3, "height": 1}`
		case "transfer_submit":
			content, err := hex.DecodeString(call.Params.Transaction)
			if err != nil {
				t.Error(err)
			}
			result = fmt.Sprintf(`{"hash": %q, "shard": 0}`, account.Transaction(content).Hash())
		}
		_, _ = fmt.Fprintf(w, `{"jsonrpc": "2.0", "id": 1, "result": %s}`, result)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// silentShard is the error of a node that got no answer of those it handed a transfer.
const silentShard = `"error": {"code": -32003, "message": "no node of the signer's shard answered"}`

// cut is what a node answers that cuts the connection when a method is called.
func cut(method string) func(string, uint64) string {
	return func(called string, _ uint64) string {
		if called == method {
			panic(http.ErrAbortHandler)
		}
		return ""
	}
}

// instead is what a node answers that answers one method in another way.
func instead(method, answer string) func(string, uint64) string {
	return func(called string, _ uint64) string {
		if called == method {
			return answer
		}
		return ""
	}
}

// A transfer whose submission was not answered is looked for as any other: the node may
// have taken it.
func TestTransfersWithoutAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer                func(method string, height uint64) string
		outcome, expiresAfter string
		// want is what the error says; empty where there is none.
		want []string
	}{
		"executed": {cut("transfer_submit"), `{"status": "Executed", "height": 7, "reason": ""}`, "3", nil},
		"executed by a node that did not answer the one that was asked": {
			instead("transfer_submit", silentShard), `{"status": "Executed", "height": 7, "reason": ""}`, "3", nil,
		},
		"expired": {
			cut("transfer_submit"), `{"status": "Unknown", "height": 0, "reason": ""}`, "3",
			[]string{"error: transfer ", "expired at height 5: no chunk took it"},
		},
		"unknown": {
			cut("transfer_submit"), `{"status": "Unknown", "height": 0, "reason": ""}`, "1000000",
			[]string{"error: transfer ", "it is not known what became of the transfer after 5s: ", "EOF"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			node := serve(t, test.outcome, 1, test.answer)
			args := []string{
				"transfer", "--node", node, "--from", "genesis/0", "--to", "genesis/1", "--amount", "1",
				"--expires-after-blocks", test.expiresAfter, "--timeout", "5s",
			}
			if test.want == nil {
				if printed := shardyard(t, args...); !strings.Contains(printed, "was executed at height 7") {
					t.Errorf("it prints %q", printed)
				}
				return
			}
			lines := shardyardFails(t, args...)
			for _, want := range test.want {
				if !strings.Contains(strings.Join(lines, "\n"), want) {
					t.Errorf("it says %q, want %q", lines, want)
				}
			}
		})
	}
}

// What became of a transfer decides how the command ends; a real network is in
// test/local.
func TestTransferOutcomes(t *testing.T) {
	t.Parallel()
	send := func(node string) []string {
		return []string{
			"transfer", "--node", node, "--from", "genesis/0", "--to", "genesis/1", "--amount", "1",
			"--expires-after-blocks", "3", "-o", "json",
		}
	}
	t.Run("executed", func(t *testing.T) {
		t.Parallel()
		printed := shardyard(t, send(serveOutcome(t, `{"status": "Executed", "height": 7, "reason": ""}`))...)
		var sent receipt
		if err := json.Unmarshal([]byte(printed), &sent); err != nil {
			t.Fatal(err)
		}
		if sent.Height != 7 || sent.Nonce != 4 || sent.Amount != 1 || sent.Status != "Executed" {
			t.Errorf("it prints %+v", sent)
		}
	})
	for name, test := range map[string]struct{ outcome, want string }{
		"failed":  {`{"status": "Failed", "height": 7, "reason": "congested"}`, "failed at height 7: congested"},
		"expired": {`{"status": "Unknown", "height": 0, "reason": ""}`, "expired at height 5: no chunk took it"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := shardyardFails(t, send(serveOutcome(t, test.outcome))...)
			if len(lines) != 1 || !strings.HasPrefix(lines[0], "error: transfer ") || !strings.HasSuffix(lines[0], test.want) {
				t.Errorf("it says %q, want %q", lines, test.want)
			}
		})
	}
}

// What became of a transfer that the node does not prove is said with its hash, and nobody is
// told to send another one. A node that is late with a proof is asked again.
func TestTransfersThatAreNotProven(t *testing.T) {
	t.Parallel()
	const (
		executed = `{"status": "Executed", "height": 7, "reason": ""}`
		failed   = `{"status": "Failed", "height": 7, "reason": "congested"}`
	)
	verified := serveProof(t, "", 0)
	for name, test := range map[string]struct{ outcome, proof, came, want string }{
		"proves nothing": {executed, `"error": {"code": -32601, "message": "method not found"}`, "was executed at height 7", "method not found"},
		"late for ever":  {executed, silentShard, "was executed at height 7", "no node of the signer's shard answered"},
		"failed":         {failed, silentShard, "failed at height 7: congested", "no node of the signer's shard answered"},
		"proves no block": {
			executed, `"result": {"status": "Executed", "height": 7, "proof": "00"}`, "was executed at height 7",
			"is not true, or not of this network",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			node := serveChain(t, verified.hash, test.outcome, 1, func(method string, _ uint64) string {
				if method != "transfer_prove" {
					return ""
				}
				asked.Add(1)
				return test.proof
			})
			lines := shardyardFails(t, "transfer", "--node", node, "--genesis", verified.genesis,
				"--from", "genesis/0", "--to", "genesis/1", "--amount", "1", "--timeout", "5s")
			said := strings.Join(lines, " ")
			before := ": the node says that it " + test.came + ", and did not prove it, so that another one may pay twice: "
			if !strings.HasPrefix(said, "error: transfer ") || !strings.Contains(said, before) || !strings.Contains(said, test.want) {
				t.Errorf("it says %q, want %q", said, before+test.want)
			}
			if strings.Contains(said, "--verify=false") {
				t.Errorf("it says %q, by which another one is sent", said)
			}
			if again := asked.Load() > 1; again != (test.proof == silentShard) {
				t.Errorf("the node was asked for the proof %d times", asked.Load())
			}
		})
	}
}

// Whoever does not know what became of a transfer learns what the node knows: that it
// was started again, and may have lost it, or that it is about to hand it on.
func TestTransfersOfUnknownFate(t *testing.T) {
	t.Parallel()
	const (
		unknown = `{"status": "Unknown", "height": 0, "reason": ""}`
		pending = `{"status": "Unknown", "height": 0, "reason": "pending"}`
		over    = `{"status": "Unknown", "height": 0, "reason": "expired"}`
		letGo   = `{"status": "Unknown", "height": 0, "reason": "funds"}`
		used    = `{"status": "Unknown", "height": 0, "reason": "nonce"}`
		again   = "; the node was started again since it took it, and may have lost it"
		waited  = "it is not known what became of the transfer after 5s"
	)
	for name, test := range map[string]struct {
		outcome               string
		started               uint64
		expiresAfter, timeout string
		want                  string
	}{
		"expired":               {unknown, 1, "3", "1m", "no chunk took it"},
		"expired after restart": {unknown, 3, "3", "1m", "no chunk took it" + again},
		"no block since":        {unknown, 0, "3", "1m", "no chunk took it" + again},
		"waited":                {unknown, 1, "1000000", "5s", waited},
		"waited after restart":  {unknown, 3, "1000000", "5s", waited + again},
		"expired on the way":    {over, 1, "3", "1m", "no chunk took it"},
		"nonce used":            {used, 1, "1000000", "1m", "no chunk can execute it: its signer has used its nonce, or a higher one"},
		"let go of":             {letGo, 1, "3", "1m", "no chunk took it; a pool that had it let go of it: funds"},
		"waited, let go of":     {letGo, 1, "1000000", "5s", waited + "; a pool that had it let go of it: funds"},
		"pending":               {pending, 1, "1000000", "5s", waited + "; the node still hands it to producers"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := shardyardFails(t, "transfer", "--node", serveRestarted(t, test.outcome, test.started), "-o", "json",
				"--from", "genesis/0", "--to", "genesis/1", "--amount", "1", "--expires-after-blocks", test.expiresAfter, "--timeout", test.timeout)
			if len(lines) != 1 || !strings.HasSuffix(lines[0], test.want) {
				t.Errorf("it says %q, want %q", lines, test.want)
			}
		})
	}
}

func TestNodeRefusals(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	badKey := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(badKey, []byte("s3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	node := serveOutcome(t, `{}`)
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"none runs": {
			[]string{"account", "genesis/0", "--state-dir", stateDir},
			"error: no network of " + stateDir + " runs: name a node with --node, or run shardyard up",
		},
		"other scheme": {
			[]string{"account", "genesis/0", "--node", "https://localhost:1"}, `error: --node: "https://localhost:1" is not http://HOST:PORT`,
		},
		"seed of another": {
			[]string{"account", "genesis/0", "--state-dir", stateDir, "--seed", "x"},
			"error: --seed goes with --node: a network of this machine says its seed itself",
		},
		"index": {
			[]string{"account", "genesis/4294967296", "--node", node}, `error: "genesis/4294967296" is no genesis account: want genesis/INDEX`,
		},
		"key": {
			[]string{"transfer", "--node", node, "--key", badKey, "--to", "genesis/0", "--amount", "1"},
			"error: --key: " + badKey + ": a key is 64 hex digits",
		},
		"timeout": {
			[]string{"transfer", "--node", node, "--key", badKey, "--to", "genesis/0", "--amount", "1", "--timeout", "0s"},
			"error: --timeout must be positive, is 0s",
		},
		"expiry": {
			[]string{"transfer", "--node", node, "--key", badKey, "--to", "genesis/0", "--amount", "1", "--expires-after-blocks", "0"},
			"error: --expires-after-blocks must be at least 1",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lines := shardyardFails(t, test.args...); len(lines) != 1 || lines[0] != test.want {
				t.Errorf("it says %q, want %q", lines, test.want)
			}
		})
	}
}

// What help and documents show as an example is a transfer that a network with defaults
// takes.
func TestExamplesOfTransfers(t *testing.T) {
	t.Parallel()
	network, err := manifest.Read(quickstart)
	if err != nil {
		t.Fatal(err)
	}
	document, err := os.ReadFile("../../docs/local.md")
	if err != nil {
		t.Fatal(err)
	}
	amounts := regexp.MustCompile(`shardyard (?:transfer|faucet) .*--amount (\d+)`)
	for place, text := range map[string]string{
		"transfer": newTransferCommand().Example, "faucet": newFaucetCommand().Example, "docs/local.md": string(document),
	} {
		found := amounts.FindAllStringSubmatch(text, -1)
		if len(found) == 0 {
			t.Errorf("%s has no example", place)
		}
		for _, example := range found {
			if amount, err := strconv.ParseInt(example[1], 10, 64); err != nil || amount < *network.Spec.Protocol.LeastBalance {
				t.Errorf("%s: %q moves less than %d, which no transfer does (%v)", place, example[0], *network.Spec.Protocol.LeastBalance, err)
			}
		}
	}
}
