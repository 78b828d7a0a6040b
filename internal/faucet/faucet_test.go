// SPDX-License-Identifier: Apache-2.0

package faucet_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/faucet"
)

func id(digit string) string { return strings.Repeat(digit, 64) }

// bank pays, or says why not, and notes whom.
type bank struct {
	mutex sync.Mutex
	paid  []string
	err   error
	// takes is how long a payment takes.
	takes time.Duration
	// paying are the payments that are under way.
	paying int
}

func (b *bank) pay(_ context.Context, to account.ID) (*faucet.Payment, error) {
	b.mutex.Lock()
	b.paying++
	if b.paying > 1 {
		b.err = errors.New("two payments at a time")
	}
	b.mutex.Unlock()
	<-time.After(b.takes)
	b.mutex.Lock()
	defer b.mutex.Unlock()
	b.paying--
	if b.err != nil {
		return nil, b.err
	}
	b.paid = append(b.paid, to.String())
	return &faucet.Payment{Hash: "f", Account: to.String(), Amount: 5, Height: uint64(len(b.paid))}, nil
}

// ask asks a faucet to pay an account, from an address.
func ask(server http.Handler, from, body string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "/", strings.NewReader(body))
	request.RemoteAddr = from + ":4711"
	answer := httptest.NewRecorder()
	server.ServeHTTP(answer, request)
	return answer
}

func accountOf(digit string) string { return fmt.Sprintf(`{"account": %q}`, id(digit)) }

// An account, an address, and all together are paid as the limits say.
func TestLimits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bank := &bank{}
		server := faucet.New(bank.pay, faucet.Limits{Every: 10 * time.Minute, PerHour: 3}, slog.New(slog.DiscardHandler))
		for _, step := range []struct {
			after         time.Duration
			from, account string
			status        int
			retryAfter    string
		}{
			{0, "10.0.0.1", "a", http.StatusOK, ""},
			{time.Minute, "10.0.0.2", "a", http.StatusTooManyRequests, "540"},
			{0, "10.0.0.1", "b", http.StatusTooManyRequests, "540"},
			{0, "10.0.0.2", "b", http.StatusOK, ""},
			{9 * time.Minute, "10.0.0.1", "a", http.StatusOK, ""},
			{0, "10.0.0.3", "c", http.StatusTooManyRequests, "3000"},
			{50 * time.Minute, "10.0.0.3", "c", http.StatusOK, ""},
			{0, "10.0.0.4", "d", http.StatusTooManyRequests, "60"},
		} {
			<-time.After(step.after)
			answer := ask(server, step.from, accountOf(step.account))
			if answer.Code != step.status || answer.Header().Get("Retry-After") != step.retryAfter {
				t.Errorf("%+v: status %d, Retry-After %q: %s", step, answer.Code, answer.Header().Get("Retry-After"), answer.Body)
			}
		}
		if got := len(bank.paid); got != 4 {
			t.Errorf("paid %d times, want 4: %v", got, bank.paid)
		}
	})
}

// What is known not to be paid can be asked for again, and nothing else can.
func TestWhatIsNotPaid(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		then int
	}{
		{fmt.Errorf("%w: the account is empty", faucet.ErrNotPaid), http.StatusOK},
		{errors.New("it is not known what became of it"), http.StatusTooManyRequests},
	} {
		bank := &bank{err: test.err}
		server := faucet.New(bank.pay, faucet.Limits{Every: time.Hour, PerHour: 1}, slog.New(slog.DiscardHandler))
		first := ask(server, "10.0.0.1", accountOf("a"))
		if first.Code != http.StatusBadGateway || !strings.Contains(first.Body.String(), test.err.Error()) {
			t.Errorf("%v: status %d: %s", test.err, first.Code, first.Body)
		}
		bank.err = nil
		if second := ask(server, "10.0.0.1", accountOf("a")); second.Code != test.then {
			t.Errorf("%v: then status %d, want %d", test.err, second.Code, test.then)
		}
	}
}

// Payments are made one after the other, and not too many wait for it.
func TestTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		bank := &bank{takes: time.Second}
		server := faucet.New(bank.pay, faucet.Limits{PerHour: 1000}, slog.New(slog.DiscardHandler))
		statuses := map[int]int{}
		var mutex sync.Mutex
		var asking sync.WaitGroup
		for i := range 20 {
			asking.Go(func() {
				answer := ask(server, "10.0.0.1", accountOf(string("0123456789abcdef"[i%16])))
				mutex.Lock()
				defer mutex.Unlock()
				statuses[answer.Code]++
			})
		}
		asking.Wait()
		if statuses[http.StatusOK] != 17 || statuses[http.StatusServiceUnavailable] != 3 {
			t.Errorf("the answers are %v, want 17 payments and 3 refusals", statuses)
		}
	})
}

func TestRequests(t *testing.T) {
	t.Parallel()
	server := faucet.New((&bank{}).pay, faucet.Limits{PerHour: 1}, slog.New(slog.DiscardHandler))
	for name, test := range map[string]struct {
		method, path, body string
		status             int
		says               string
	}{
		"the page":        {http.MethodGet, "/", "", http.StatusOK, "<h1>Faucet</h1>"},
		"another page":    {http.MethodGet, "/favicon.ico", "", http.StatusNotFound, ""},
		"another method":  {http.MethodPut, "/", "", http.StatusMethodNotAllowed, "GET or POST"},
		"no JSON":         {http.MethodPost, "/", "account", http.StatusBadRequest, "want {"},
		"no account":      {http.MethodPost, "/", "{}", http.StatusBadRequest, "account: "},
		"a long request":  {http.MethodPost, "/", strings.Repeat(" ", 2000) + accountOf("a"), http.StatusBadRequest, "too large"},
		"a short account": {http.MethodPost, "/", `{"account": "ab"}`, http.StatusBadRequest, "account: "},
		"an account":      {http.MethodPost, "/", accountOf("a"), http.StatusOK, `"amount":5`},
	} {
		answer := httptest.NewRecorder()
		server.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), test.method, test.path, strings.NewReader(test.body)))
		if answer.Code != test.status || !strings.Contains(answer.Body.String(), test.says) {
			t.Errorf("%s: status %d: %s", name, answer.Code, answer.Body)
		}
	}
	var said map[string]string
	if err := json.Unmarshal(ask(server, "10.0.0.1", accountOf("b")).Body.Bytes(), &said); err != nil || said["error"] == "" {
		t.Errorf("a refusal says %v: %v", said, err)
	}
}
