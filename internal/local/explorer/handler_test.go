// SPDX-License-Identifier: Apache-2.0

package explorer_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/shardyard/shardyard/internal/account"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/local/explorer"
)

func request(t *testing.T, handler http.Handler, method, path string) *httptest.ResponseRecorder {
	t.Helper()
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody))
	return recorder
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	handler := newChain(t).Handler()
	genesis, err := account.Genesis(named(1), 199)
	if err != nil {
		t.Fatal(err)
	}
	last := hashOf(largeTransactions - 1)
	for path, test := range map[string]struct {
		code int
		want string
	}{
		"/blocks/7":  {200, `{"height":7,"hash":"` + named(7) + `","parent":"` + named(6) + `"`},
		"/blocks/31": {404, "block 31 is not finalised yet\n"},
		"/blocks/-1": {400, "invalid height \"-1\"\n"},

		"/blocks?from=10": {
			200, `[{"height":10,"hash":"` + named(10) + `","timestampMs":10000,"chunks":1,"missed":1,"transactions":10},{"height":9,`,
		},
		"/blocks?from=2":   {200, `[]`},
		"/blocks?from=ten": {400, "invalid from \"ten\"\n"},

		"/chunks/7/1?from=2099":                   {200, `"from":2099,"transactions":[{"hash":"` + last + `","kind":"Transfer"`},
		"/chunks/7/0":                             {404, "shard 0 has no chunk at height 7\n"},
		"/chunks/7/100000":                        {400, "invalid shard \"100000\"\n"},
		"/chunks/7/1?from=4294967296":             {400, "invalid from \"4294967296\"\n"},
		"/chunks/7/1?limit=1001":                  {400, "invalid limit \"1001\"\n"},
		"/outcomes/" + last:                       {400, "invalid signer \"\"\n"},
		"/outcomes/ab?signer=" + signer:           {400, "invalid hash \"ab\"\n"},
		"/accounts/" + receiver:                   {200, `"exists":true,"balance":18446744073709551615,"nonce":3,"height":30}`},
		"/accounts/ab":                            {400, "invalid account \"ab\"\n"},
		"/outcomes/" + last + "?signer=" + signer: {200, `{"status":"Failed","height":7,"reason":"the balance is too low"}`},

		"/find?text=7":                {200, `{"kind":"Block","height":7}`},
		"/find?text=31":               {404, "block 31 is not finalised yet\n"},
		"/find?text=" + receiver:      {200, `{"kind":"Account","account":"` + receiver + `"}`},
		"/find?text=+" + last + "%20": {200, `{"kind":"Transaction","height":7,"shard":1,"position":2099}`},
		"/find?text=" + named(77):     {404, "no account has the id " + named(77)},
		"/find?text=genesis/199":      {200, `{"kind":"Account","account":"` + account.Of(genesis).String() + `"}`},
		"/find?text=genesis/200":      {404, "genesis has 200 accounts, the last one is genesis/199\n"},
		"/find?text=genesis/x":        {400, "invalid index \"x\"\n"},
		"/find?text=":                 {400, `"" is no height, no hash of a transaction, no account, and not genesis/INDEX`},
	} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			answer := request(t, handler, http.MethodGet, path)
			if body := answer.Body.String(); answer.Code != test.code || !strings.Contains(body, test.want) {
				t.Errorf("it is answered with %d %.1000s, want %d %s", answer.Code, body, test.code, test.want)
			}
		})
	}
}

// What is listed is bounded, and ends where the node keeps no more.
func TestLists(t *testing.T) {
	t.Parallel()
	handler := newChain(t).Handler()
	for path, want := range map[string]int{
		"/blocks": 20, "/blocks?from=9": 6, "/blocks?from=999": 20,
	} {
		var listed []struct{ Height uint64 }
		if err := json.Unmarshal(request(t, handler, http.MethodGet, path).Body.Bytes(), &listed); err != nil {
			t.Fatal(err)
		}
		if len(listed) != want {
			t.Errorf("%s lists %d blocks, want %d", path, len(listed), want)
		}
	}
	for path, want := range map[string]int{
		"/chunks/7/1": 100, "/chunks/7/1?limit=3": 3, "/chunks/7/1?from=2000&limit=1000": 100, "/chunks/7/1?from=9999": 0,
	} {
		var chunk chain.Chunk
		if err := json.Unmarshal(request(t, handler, http.MethodGet, path).Body.Bytes(), &chunk); err != nil {
			t.Fatal(err)
		}
		if len(chunk.Transactions) != want {
			t.Errorf("%s lists %d transactions, want %d", path, len(chunk.Transactions), want)
		}
	}
}

// Nothing is changed there.
func TestOnlyGet(t *testing.T) {
	t.Parallel()
	handler := newChain(t).Handler()
	for _, method := range []string{http.MethodPost, http.MethodPut, http.MethodDelete} {
		if answer := request(t, handler, method, "/blocks/7"); answer.Code != http.StatusMethodNotAllowed {
			t.Errorf("%s is answered with %d", method, answer.Code)
		}
	}
}

// Who is at fault is told: nobody answers, or somebody does who is no node.
func TestFaults(t *testing.T) {
	t.Parallel()
	silent := explorer.Chain{Newest: func(context.Context) (*chain.Client, uint64) { return nil, 0 }}
	if answer := request(t, silent.Handler(), http.MethodGet, "/blocks"); answer.Code != http.StatusServiceUnavailable {
		t.Errorf("where no node answers, the answer is %d %s", answer.Code, answer.Body)
	}
	stranger := httptest.NewServer(http.NotFoundHandler())
	defer stranger.Close()
	client := chain.NewClient(stranger.Listener.Addr().String(), chain.Admin{})
	defer client.Close()
	strange := explorer.Chain{Newest: func(context.Context) (*chain.Client, uint64) { return client, 1 }}
	for _, path := range []string{"/blocks", "/blocks/1", "/chunks/1/0", "/accounts/" + receiver, "/find?text=1"} {
		if answer := request(t, strange.Handler(), http.MethodGet, path); answer.Code != http.StatusBadGateway {
			t.Errorf("a node that does not answer as it should has %s answered with %d %s", path, answer.Code, answer.Body)
		}
	}
}

// However many ask, a node is asked by four at a time, and one search. Others wait
// for their turn, but not for ever.
func TestTurns(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]int{"/blocks/7": 4, "/find?text=7": 1} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				const requests = 10
				var asking atomic.Int32
				proceed := make(chan struct{})
				handler := explorer.Chain{Newest: func(context.Context) (*chain.Client, uint64) {
					asking.Add(1)
					<-proceed
					return nil, 0
				}}.Handler()
				answers := make(chan string, requests)
				for range requests {
					go func() { answers <- request(t, handler, http.MethodGet, path).Body.String() }()
				}
				synctest.Wait()
				if asked := int(asking.Load()); asked != want {
					t.Errorf("a node is asked by %d at a time, want %d", asked, want)
				}
				// No turn ends, until those who wait have waited for too long.
				for range requests - want {
					if answer := <-answers; answer != "too many ask at the same time\n" {
						t.Errorf("who waits for too long is told %q", answer)
					}
				}
				close(proceed)
				for range want {
					if answer := <-answers; answer != "no validator answers\n" {
						t.Errorf("who has its turn is told %q", answer)
					}
				}
			})
		})
	}
}
