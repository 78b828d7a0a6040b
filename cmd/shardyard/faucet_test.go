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
