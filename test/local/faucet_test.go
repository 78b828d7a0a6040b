// SPDX-License-Identifier: Apache-2.0

package local_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/shardyard/shardyard/test/output"
	"github.com/shardyard/shardyard/test/waiting"
)

// paysFromAFaucet runs a faucet that pays from an account of genesis, and asks it for an
// account twice.
func (c *command) paysFromAFaucet(t *testing.T, of []string) {
	t.Helper()
	programs, err := findPrograms()
	if err != nil {
		t.Fatal(err)
	}
	arguments := append([]string{"faucet", "--from", "genesis/3", "--amount", "70", "--listen", "127.0.0.1:0"}, of...)
	faucet := exec.CommandContext(t.Context(), programs.shardyard, arguments...)
	var stdout, stderr output.Buffer
	faucet.Stdout, faucet.Stderr = &stdout, &stderr
	if err := faucet.Start(); err != nil {
		t.Fatal(err)
	}
	waiting.Until(t, "the faucet says its address", func() bool { return strings.HasSuffix(stdout.String(), "\n") })
	address := strings.TrimSpace(stdout.String())

	_, own := newAccount(t)
	var paid struct {
		Account, Error string
		Amount, Height uint64
	}
	if status := askFaucet(t, address, own, &paid); status != http.StatusOK || paid.Account != own || paid.Amount != 70 || paid.Height == 0 {
		t.Errorf("the faucet answers %d with %+v\n%s", status, paid, &stderr)
	}
	waiting.Until(t, "the account is paid", func() bool { return c.account(t, of, own).Balance == 70 })
	if status := askFaucet(t, address, own, &paid); status != http.StatusTooManyRequests || !strings.Contains(paid.Error, "come again in") {
		t.Errorf("the second time, the faucet answers %d with %+v", status, paid)
	}

	if err := faucet.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := faucet.Wait(); err != nil {
		t.Errorf("the faucet ends with %v\n%s", err, &stderr)
	}
}

// askFaucet asks a faucet to pay an account.
func askFaucet(t *testing.T, address, account string, answer any) (status int) {
	t.Helper()
	asked, err := json.Marshal(map[string]string{"account": account})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, bytes.NewReader(asked))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, answer); err != nil {
		t.Fatalf("the faucet says %q: %v", content, err)
	}
	return response.StatusCode
}
