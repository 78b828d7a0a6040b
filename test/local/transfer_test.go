// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/internal/proof"
	"github.com/shardyard/shardyard/test/waiting"
)

// fee is what every transfer costs, unless spec.protocol says something else.
const fee = 1

// Single transfers are executed, and say so only when they were: from genesis
// accounts and from one that a key file holds, to a network by its name and to
// its rpc node by the address, which tracks none of the shards that it hands them
// to. A faucet pays who asks.
func TestTransfer(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	network := up(t, stateDir, "-f", withoutLoad(t))
	network.says(t, "genesis hash ")
	here := []string{"--state-dir", stateDir, "--network", "small"}
	there := []string{"--node", "http://" + network.rpcNode(t).HTTP}

	before := network.account(t, here, "genesis/0")
	if before.Verified == nil || before.Verified.BlockHeight <= before.Height {
		t.Errorf("the account at height %d is verified by %+v", before.Height, before.Verified)
	}
	if !before.Exists || before.Balance != 1_000_000_000 || before.Nonce != 0 {
		t.Fatalf("the account is %+v", before)
	}
	keyFile, own := newAccount(t)
	if none := network.account(t, there, own); none.Exists || none.ID != own {
		t.Fatalf("the account is %+v, want none", none)
	}

	network.transfer(t, here, "--from", "genesis/0", "--to", own, "--amount", "1000")
	sent := network.transfer(t, there, "--from", "genesis/0", "--to", own, "--amount", "500")
	if sent.Nonce != 2 || sent.To != own || sent.From != before.ID || len(sent.Hash) != 64 {
		t.Errorf("the transfer is %+v", sent)
	}
	after := network.account(t, here, before.ID)
	if after.Balance != before.Balance-1500-2*fee || after.Nonce != 2 || after.Height < sent.Height {
		t.Errorf("the account that paid is %+v, after %+v", after, sent)
	}
	waiting.Until(t, "the account is credited", func() bool { return network.account(t, there, own).Balance == 1500 })
	network.transfer(t, here, "--key", keyFile, "--to", "genesis/1", "--amount", "100")

	network.paysFromAFaucet(t, here)
	network.refusesTransfers(t, here, keyFile, own)
}

// rpcNode is the network's only one, its last node.
func (c *command) rpcNode(t *testing.T) validatorProcess {
	t.Helper()
	nodes := c.validators(t)
	rpc := nodes[len(nodes)-1]
	if rpc.Name != "small-r0" {
		t.Fatalf("the last of %+v is no rpc node", nodes)
	}
	return rpc
}

// refusesTransfers sends what is wrong.
func (c *command) refusesTransfers(t *testing.T, of []string, keyFile, own string) {
	t.Helper()
	for want, args := range map[string][]string{
		"error -32002":                   {"--from", "genesis/0", "--to", own, "--amount", "18446744073709551615"},
		"the chain has no account":       {"--from", "genesis/4294967295", "--to", own, "--amount", "1"},
		`--from: "genesis/x" is no`:      {"--from", "genesis/x", "--to", own, "--amount", "1"},
		`--to: "nobody" is no account`:   {"--from", "genesis/0", "--to", "nobody", "--amount", "1"},
		"--key: open " + keyFile + ".no": {"--key", keyFile + ".no", "--to", own, "--amount", "1"},
		"at least one of the flags in":   {"--to", own, "--amount", "1"},
	} {
		if _, stderr, err := c.beside(t, append(append([]string{"transfer"}, of...), args...)); err == nil ||
			!strings.Contains(stderr, want) {
			t.Errorf("transfer %v says %q (%v), want %q", args, stderr, err, want)
		}
	}
}

// withoutLoad writes the test's network without its load, which would pay from
// the same accounts.
func withoutLoad(t *testing.T) string {
	t.Helper()
	return edited(t, func(spec map[string]any) { delete(spec, "load") })
}

// edited writes the test's network with another spec.
func edited(t *testing.T, edit func(spec map[string]any)) string {
	t.Helper()
	content, err := os.ReadFile("testdata/network.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var network map[string]any
	if err := yaml.Unmarshal(content, &network); err != nil {
		t.Fatal(err)
	}
	edit(network["spec"].(map[string]any))
	if content, err = yaml.Marshal(network); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "network.yaml")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// newAccount makes a key file, and the account that is of it.
func newAccount(t *testing.T) (keyFile, id string) {
	t.Helper()
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	keyFile = filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(keyFile, key.File(), 0o600); err != nil {
		t.Fatal(err)
	}
	return keyFile, account.Of(key).String()
}

// accountAnswer is what shardyard account prints.
type accountAnswer struct {
	ID      string `json:"id"`
	Exists  bool   `json:"exists"`
	Balance uint64 `json:"balance"`
	Nonce   uint64 `json:"nonce"`
	Height  uint64 `json:"height"`
	// Verified is the block that it is proven by; nil if the node is believed.
	Verified *proof.At `json:"verified"`
}

func (c *command) account(t *testing.T, of []string, name string) accountAnswer {
	t.Helper()
	var answer accountAnswer
	c.decode(t, &answer, append([]string{"account", name, "-o", "json"}, of...))
	return answer
}

// transferAnswer is what shardyard transfer prints.
type transferAnswer struct {
	Hash, From, To, Status string
	Nonce, Height          uint64
}

func (c *command) transfer(t *testing.T, of []string, args ...string) transferAnswer {
	t.Helper()
	var answer transferAnswer
	c.decode(t, &answer, append(append([]string{"transfer", "-o", "json"}, of...), args...))
	if answer.Status != "Executed" || answer.Height == 0 {
		t.Fatalf("the transfer is %+v", answer)
	}
	if _, err := hex.DecodeString(answer.Hash); err != nil {
		t.Errorf("the hash of the transfer is %q", answer.Hash)
	}
	return answer
}

// decode runs a command line that must succeed and decodes what it prints.
func (c *command) decode(t *testing.T, answer any, args []string) {
	t.Helper()
	stdout, stderr, err := c.beside(t, args)
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, stderr)
	}
	if err := json.Unmarshal([]byte(stdout), answer); err != nil {
		t.Fatalf("%v prints %q: %v", args, stdout, err)
	}
}

// beside runs another command line beside the one that runs.
func (c *command) beside(t *testing.T, args []string) (stdout, stderr string, err error) {
	t.Helper()
	var out, errs bytes.Buffer
	other := exec.CommandContext(t.Context(), c.cmd.Args[0], args...)
	other.Stdout, other.Stderr = &out, &errs
	err = other.Run()
	return out.String(), errs.String(), err
}
