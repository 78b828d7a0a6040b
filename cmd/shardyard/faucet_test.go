// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/faucet"
)

// A faucet whose every payment would be refused does not begin.
func TestFaucetThatPaysTooLittle(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	address := strings.TrimPrefix(serveOutcome(t, `{}`), "http://")
	keep(t, filepath.Join(stateDir, "net", "runtime.json"),
		fmt.Appendf(nil, `{"network": "net", "validators": [{"name": "a", "pid": 1, "http": %q}]}`, address))
	keep(t, filepath.Join(stateDir, "net", "genesis.json"), fmt.Appendf(nil, `{"seed": "%064d", "protocol": {"leastBalance": 10}}`, 7))
	args := []string{"faucet", "--from", "genesis/0", "--state-dir", stateDir, "--listen", "127.0.0.1:0", "--amount"}
	lines := shardyardFails(t, append(args, "9")...)
	want := "error: --amount must be at least 10, the least that a transfer of this network moves, is 9"
	if len(lines) != 1 || lines[0] != want {
		t.Errorf("it says %q, want %q", lines, want)
	}
	options := faucetOptions{payment: transferOptions{node: nodeFlags{stateDir: stateDir}, from: "genesis/0", amount: 10}}
	if err := options.check(t.Context()); err != nil {
		t.Errorf("the least that a transfer moves is refused: %v", err)
	}
}

// accountOf is what a node says of the account that pays: first that it has used the nonce 3,
// and from some height on, at that height, what is given.
func accountOf(later uint64, then string) func(method string, height uint64) string {
	return func(method string, height uint64) string {
		if method != "account_get" || height < later {
			return ""
		}
		return fmt.Sprintf(`"result": {"id": "aa", %s, "balance": 10, "height": %d}`, then, height)
	}
}

// What is known not to be paid can be asked for again at once, and what may have been paid
// cannot.
func TestFaucetThatDoesNotPay(t *testing.T) {
	t.Parallel()
	const (
		unknown = `{"status": "Unknown", "height": 0, "reason": ""}`
		used    = `{"status": "Unknown", "height": 0, "reason": "nonce"}`
		failed  = `{"status": "Failed", "height": 7, "reason": "congested"}`
		refusal = `"error": {"code": -32002, "message": "amount is below the least balance"}`
		missing = "no such file"
	)
	usual := func(string, uint64) string { return "" }
	for name, test := range map[string]struct {
		outcome string
		answer  func(method string, height uint64) string
		keyFile string
		says    string
		notPaid bool
	}{
		"no account is told":           {unknown, cut("account_get"), "", "EOF", true},
		"no such account":              {unknown, accountOf(0, `"exists": false`), "", "the chain has no account", true},
		"no key":                       {unknown, usual, missing, "--key: ", true},
		"refused":                      {unknown, instead("transfer_submit", refusal), "", "below the least balance", true},
		"failed":                       {failed, usual, "", "failed at height 7", true},
		"expired":                      {unknown, accountOf(5, `"exists": true, "nonce": 3`), "", "no chunk took it", true},
		"perhaps taken in":             {unknown, instead("transfer_submit", silentShard), "", "no chunk took it", false},
		"expired in a state of before": {unknown, usual, "", "no chunk took it", false},
		"expired or executed":          {unknown, accountOf(5, `"exists": true, "nonce": 4`), "", "no chunk took it", false},
		"expired or the last":          {unknown, accountOf(5, `"exists": false`), "", "no chunk took it", false},
		"nonce used":                   {used, accountOf(5, `"exists": true, "nonce": 4`), "", "has used its nonce", false},
		"nonce used, not long ago":     {used, usual, "", "has used its nonce", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			options := faucetOptions{payment: transferOptions{
				node: nodeFlags{node: serve(t, test.outcome, 1, test.answer)},
				from: "genesis/0", keyFile: test.keyFile, amount: 1, expiresAfter: 3,
			}}
			_, err := options.pay(t.Context(), account.ID{1})
			if err == nil || !strings.Contains(err.Error(), test.says) || errors.Is(err, faucet.ErrNotPaid) != test.notPaid {
				t.Errorf("the error is %v, want %q, and that it is known is %t", err, test.says, test.notPaid)
			}
		})
	}
}

// A faucet that cannot serve any more ends, and says why.
func TestFaucetWithoutItsAddress(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ended <- serveFaucet(t.Context(), &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: time.Minute}, listener)
	}()
	select {
	case err := <-ended:
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("the error is %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("it still serves")
	}
}
