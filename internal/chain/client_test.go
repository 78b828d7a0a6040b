// SPDX-License-Identifier: Apache-2.0

package chain_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/keys"
	"github.com/shardyard/shardyard/test/adminapi"
)

const adminToken = "0123456789abcdef"

// newNode serves one path of a node, where the contract says, and returns a
// client of it.
func newNode(t *testing.T, pattern string, handler http.HandlerFunc) *chain.Client {
	t.Helper()
	plain, admin := http.NewServeMux(), http.NewServeMux()
	mux := plain
	if strings.Contains(pattern, " /admin/") {
		mux = admin
	}
	mux.HandleFunc(pattern, handler)
	server := httptest.NewServer(plain)
	t.Cleanup(server.Close)

	key := newKey(t)
	listener, err := adminapi.Listen(t.Context(), "127.0.0.1:0", key)
	if err != nil {
		t.Fatal(err)
	}
	client := chain.NewClient(server.Listener.Addr().String(), chain.Admin{
		Address: serve(t, listener, admin), PublicKey: key.Public(), Token: adminToken,
	})
	t.Cleanup(client.Close)
	return client
}

// serve serves HTTP over a listener and returns its address.
func serve(t *testing.T, listener net.Listener, handler http.Handler) string {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	_ = server.Listener.Close()
	server.Listener = listener
	// Handshakes that fail are what some tests are about.
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return listener.Addr().String()
}

func newKey(t *testing.T) keys.Key {
	t.Helper()
	key, err := keys.Generate()
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func answer(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = io.WriteString(w, body)
	}
}

func TestReadiness(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		code int
		body string
		want chain.Readiness
	}{
		"ready": {http.StatusOK, `{"ready": true, "reasons": []}`, chain.Readiness{Ready: true}},
		"not ready": {
			http.StatusServiceUnavailable,
			`{"ready": false, "reasons": ["connected to 1 peer, quorum needs 2"]}`,
			chain.Readiness{Reasons: []string{"connected to 1 peer, quorum needs 2"}},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := newNode(t, "GET /readyz", answer(test.code, test.body))
			got, err := client.Readiness(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Ready != test.want.Ready || strings.Join(got.Reasons, "\n") != strings.Join(test.want.Reasons, "\n") {
				t.Errorf("got %+v, want %+v", *got, test.want)
			}
		})
	}
}

// The admin API gets the token and the rate as the contract writes them; plain
// requests never carry the token.
func TestSetLoad(t *testing.T) {
	t.Parallel()
	client := newNode(t, "PUT /admin/load", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"transfersPerSecond":1000}` {
			t.Errorf("the body is %s (%v)", body, err)
		}
		if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
			t.Errorf("authorization is %q, want %q", got, want)
		}
		if got, want := r.Header.Get("Content-Type"), "application/json"; got != want {
			t.Errorf("content type is %q, want %q", got, want)
		}
		answer(http.StatusOK, `{"transfersPerSecond": 1000, "workload": {"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot"},
			"signed": 50000, "rejected": 3, "heldBack": 4, "overdue": 5}`)(w, r)
	})
	got, err := client.SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if want := (chain.Load{
		TransfersPerSecond: 1000, Workload: chain.Workload{Senders: "ZipfMandelbrot", Receivers: "ZipfMandelbrot"},
		Signed: 50_000, Rejected: 3, HeldBack: 4, Overdue: 5,
	}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestSetWorkload(t *testing.T) {
	t.Parallel()
	client := newNode(t, "PUT /admin/load", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"transfersPerSecond":1,"workload":{"senders":"Uniform","withinShardPercent":0}}` {
			t.Errorf("the body is %s (%v)", body, err)
		}
		answer(http.StatusOK, `{"transfersPerSecond": 1}`)(w, r)
	})
	if _, err := client.SetLoad(t.Context(), chain.LoadTarget{
		TransfersPerSecond: 1, Workload: chain.Workload{Senders: "Uniform", WithinShardPercent: new(int32)},
	}); err != nil {
		t.Fatal(err)
	}
}

// Transfers are signed before as the contract writes it.
func TestSignBefore(t *testing.T) {
	t.Parallel()
	client := newNode(t, "PUT /admin/load", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || string(body) != `{"transfersPerSecond":0,"signing":"Before","stock":500}` {
			t.Errorf("the body is %s (%v)", body, err)
		}
		answer(http.StatusOK, `{"transfersPerSecond": 0, "workload": {"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot"},
			"signing": "Before", "signed": 0, "rejected": 0, "heldBack": 0, "overdue": 0, "exhausted": 7,
			"stock": {"transfers": 500, "workload": {"senders": "ZipfMandelbrot", "receivers": "ZipfMandelbrot"},
				"signed": 20, "left": 19, "failure": null}}`)(w, r)
	})
	got, err := client.SetLoad(t.Context(), chain.LoadTarget{Signing: chain.SigningBefore, Stock: 500})
	if err != nil {
		t.Fatal(err)
	}
	if got.Stock == nil || *got.Stock != (chain.Stock{Transfers: 500, Signed: 20, Left: 19}) ||
		got.Signing != chain.SigningBefore || got.Exhausted != 7 {
		t.Errorf("got %+v with %+v", *got, got.Stock)
	}
}

// A fault of links begins and ends as the contract writes it.
func TestLinkFault(t *testing.T) {
	t.Parallel()
	serving := func(method, want string) *chain.Client {
		return newNode(t, method+" /admin/links", func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != want {
				t.Errorf("the body of %s is %s (%v)", method, body, err)
			}
			if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
				t.Errorf("authorization is %q, want %q", got, want)
			}
			answer(http.StatusOK, `{"fault": {"peers": ["a", "b"], "condition": "Worse", "delayMilliseconds": 40,
				"lossBasisPoints": 0, "remainingMilliseconds": 15000}}`)(w, r)
		})
	}
	begin := serving(http.MethodPut, `{"peers":["a","b"],"condition":"Worse","delayMilliseconds":40,"durationMilliseconds":15000}`)
	if err := begin.BeginLinkFault(t.Context(), &chain.LinkFault{
		Peers: []string{"a", "b"}, Condition: chain.LinkWorse, DelayMilliseconds: 40, DurationMilliseconds: 15_000,
	}); err != nil {
		t.Error(err)
	}
	if err := serving(http.MethodDelete, "").EndLinkFault(t.Context()); err != nil {
		t.Error(err)
	}
	refusing := newNode(t, "PUT /admin/links", answer(http.StatusBadRequest, `{"error": "peers: \"c\" is no peer of this node"}`))
	if err := refusing.BeginLinkFault(t.Context(), &chain.LinkFault{}); err == nil ||
		!strings.Contains(err.Error(), `peers: "c" is no peer of this node`) {
		t.Errorf("the error is %v", err)
	}
}

// A fault of the clock begins and ends as the contract writes it.
// A fault of the process is begun, and nobody ends it.
func TestProcessFault(t *testing.T) {
	t.Parallel()
	const want = `{"condition":"Replaced","program":"shardnode-other","arguments":["--loud"],"durationMilliseconds":15000}`
	fault := &chain.ProcessFault{
		Condition: chain.ProcessReplaced, Program: "shardnode-other", Arguments: []string{"--loud"}, DurationMilliseconds: 15_000,
	}
	begin := newNode(t, "PUT /admin/process", func(w http.ResponseWriter, r *http.Request) {
		if body, err := io.ReadAll(r.Body); err != nil || string(body) != want {
			t.Errorf("the body is %s (%v)", body, err)
		}
		if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
			t.Errorf("authorization is %q, want %q", got, want)
		}
		answer(http.StatusOK, `{"fault": `+want+`}`)(w, r)
	})
	if err := begin.BeginProcessFault(t.Context(), fault); err != nil {
		t.Error(err)
	}
	refusing := newNode(t, "PUT /admin/process", answer(http.StatusServiceUnavailable, `{"error": "there is no program /bin/other"}`))
	if err := refusing.BeginProcessFault(t.Context(), fault); err == nil || !strings.Contains(err.Error(), "there is no program /bin/other") {
		t.Errorf("the error is %v", err)
	}
}

func TestClockFault(t *testing.T) {
	t.Parallel()
	serving := func(method, want string) *chain.Client {
		return newNode(t, method+" /admin/clock", func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != want {
				t.Errorf("the body of %s is %s (%v)", method, body, err)
			}
			if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
				t.Errorf("authorization is %q, want %q", got, want)
			}
			answer(http.StatusOK, `{"fault": {"offsetMilliseconds": -2500, "remainingMilliseconds": 15000}}`)(w, r)
		})
	}
	begin := serving(http.MethodPut, `{"offsetMilliseconds":-2500,"durationMilliseconds":15000}`)
	if err := begin.BeginClockFault(t.Context(), &chain.ClockFault{OffsetMilliseconds: -2500, DurationMilliseconds: 15_000}); err != nil {
		t.Error(err)
	}
	if err := serving(http.MethodDelete, "").EndClockFault(t.Context()); err != nil {
		t.Error(err)
	}
	refusing := newNode(t, "PUT /admin/clock", answer(http.StatusBadRequest, `{"error": "offsetMilliseconds: must not be 0"}`))
	if err := refusing.BeginClockFault(t.Context(), &chain.ClockFault{}); err == nil ||
		!strings.Contains(err.Error(), "offsetMilliseconds: must not be 0") {
		t.Errorf("the error is %v", err)
	}
}

// A fault of the disk begins and ends as the contract writes it.
func TestDiskFault(t *testing.T) {
	t.Parallel()
	serving := func(method, want string) *chain.Client {
		return newNode(t, method+" /admin/disk", func(w http.ResponseWriter, r *http.Request) {
			if body, err := io.ReadAll(r.Body); err != nil || string(body) != want {
				t.Errorf("the body of %s is %s (%v)", method, body, err)
			}
			if got, want := r.Header.Get("Authorization"), "Bearer "+adminToken; got != want {
				t.Errorf("authorization is %q, want %q", got, want)
			}
			answer(http.StatusOK, `{"fault": {"condition": "Slow", "delayMilliseconds": 40, "remainingMilliseconds": 15000}}`)(w, r)
		})
	}
	begin := serving(http.MethodPut, `{"condition":"Slow","delayMilliseconds":40,"durationMilliseconds":15000}`)
	if err := begin.BeginDiskFault(t.Context(), &chain.DiskFault{
		Condition: chain.DiskSlow, DelayMilliseconds: 40, DurationMilliseconds: 15_000,
	}); err != nil {
		t.Error(err)
	}
	if err := serving(http.MethodDelete, "").EndDiskFault(t.Context()); err != nil {
		t.Error(err)
	}
	refusing := newNode(t, "PUT /admin/disk", answer(http.StatusBadRequest, `{"error": "delayMilliseconds: must be 1 to 1000"}`))
	if err := refusing.BeginDiskFault(t.Context(), &chain.DiskFault{}); err == nil ||
		!strings.Contains(err.Error(), "delayMilliseconds: must be 1 to 1000") {
		t.Errorf("the error is %v", err)
	}
}

// What is not said is as it is by default, also of nodes that do not say it.
func TestSameWorkload(t *testing.T) {
	t.Parallel()
	usual := chain.Workload{Senders: "ZipfMandelbrot", Receivers: "ZipfMandelbrot"}
	if !usual.Same(chain.Workload{}) || !(chain.Workload{}).Same(usual) {
		t.Error("the default is not the same as what is not said")
	}
	for _, other := range []chain.Workload{
		{Senders: "Uniform"}, {Receivers: "Uniform"}, {WithinShardPercent: new(int32)},
	} {
		if other.Same(usual) || usual.Same(other) || !other.Same(other) {
			t.Errorf("%+v and the default are the same, or it is not itself", other)
		}
	}
	ten, eleven := int32(10), int32(11)
	if (chain.Workload{WithinShardPercent: &ten}).Same(chain.Workload{WithinShardPercent: &eleven}) {
		t.Error("two shares are the same")
	}
}

func TestTokenOnlyForAdmin(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /status", func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != "" {
			t.Errorf("authorization is %q, want none", got)
		}
		answer(http.StatusOK, `{}`)(w, r)
	})
	if _, err := client.Status(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()
	client := newNode(t, "GET /admin/load", answer(http.StatusOK, `{"transfersPerSecond": 7, "signed": 8, "rejected": 9}`))
	got, err := client.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if want := (chain.Load{TransfersPerSecond: 7, Signed: 8, Rejected: 9}); *got != want {
		t.Errorf("got %+v, want %+v", *got, want)
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	client := newNode(t, "POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var got, want any
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_ = json.Unmarshal([]byte(`{"jsonrpc": "2.0", "id": 1, "method": "block_get", "params": {"height": 12}}`), &want)
		if gotText, wantText := text(got), text(want); gotText != wantText {
			t.Errorf("the request is %s, want %s", gotText, wantText)
		}
		answer(http.StatusOK, `{"jsonrpc": "2.0", "id": 1,
			"result": {"height": 12, "hash": "aa", "parent": "bb", "timestampMs": 1790000000000, "chunks": [
				{"shard": 1, "height": 11, "sequence": 9, "transactions": 4,
					"results": [{"height": 10, "stateRoot": "cc", "transfers": 3, "credits": 5}]},
				{"shard": 2, "height": 12, "results": [{"height": 11, "stateRoot": "dd"}]}]}}`)(w, r)
	})
	got, err := client.Block(t.Context(), 12)
	if err != nil {
		t.Fatal(err)
	}
	want := &chain.Block{Height: 12, Hash: "aa", Parent: "bb", TimestampMs: 1_790_000_000_000, Chunks: []chain.ChunkHeader{
		{Shard: 1, Height: 11, Sequence: 9, Transactions: ptr.To[uint64](4), Results: []chain.ExecutionResult{
			{Height: 10, StateRoot: "cc", Transfers: ptr.To[uint64](3), Credits: ptr.To[uint64](5)},
		}},
		{Shard: 2, Height: 12, Results: []chain.ExecutionResult{{Height: 11, StateRoot: "dd"}}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestChunk(t *testing.T) {
	t.Parallel()
	const result = `{
		"header": {"shard": 1, "height": 12, "sequence": 11, "hash": "aa", "previous": "bb", "anchor": "cc", "bodyHash": "dd",
			"partsRoot": "ee", "bodyBytes": 153, "transactions": 1,
			"results": [{"height": 11, "stateRoot": "ff", "outcomesRoot": "00", "receiptsRoot": "11", "transfers": 0, "credits": 0}],
			"uncommitted": [12],
			"totals": {"height": 11, "stateRoot": "ff", "transfers": 7, "crossShard": 3, "credits": 4, "balance": 18446744073709551615,
				"burnt": 5, "sent": 340282366920938463463374607431768211455, "received": 6},
			"signature": "22"},
		"from": 3,
		"transactions": [{"hash": "33", "kind": "Transfer", "signer": "44", "receiver": "55", "amount": 18446744073709551615,
			"nonce": 8, "expiresAt": 13, "signature": "66"}]}`
	client := newNode(t, "POST /rpc", func(w http.ResponseWriter, r *http.Request) {
		var got, want any
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
		_ = json.Unmarshal([]byte(`{"jsonrpc": "2.0", "id": 1, "method": "chunk_get", "params": {"height": 12, "shard": 1, "from": 3}}`), &want)
		if gotText, wantText := text(got), text(want); gotText != wantText {
			t.Errorf("the request is %s, want %s", gotText, wantText)
		}
		answer(http.StatusOK, `{"jsonrpc": "2.0", "id": 1, "result": `+result+`}`)(w, r)
	})
	chunk, err := client.Chunk(t.Context(), 12, 1, 3)
	if err != nil {
		t.Fatal(err)
	}
	// Nothing is lost of what a node tells, however large.
	var want bytes.Buffer
	if err := json.Compact(&want, []byte(result)); err != nil {
		t.Fatal(err)
	}
	if got := text(chunk); got != want.String() {
		t.Errorf("got %s, want %s", got, &want)
	}
}

func text(value any) string {
	content, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(content)
}

func TestRPCErrors(t *testing.T) {
	t.Parallel()
	client := newNode(t, "POST /rpc", answer(http.StatusOK,
		`{"jsonrpc": "2.0", "id": 1, "error": {"code": -32003, "message": "past the retention"}}`))
	_, err := client.Block(t.Context(), 1)
	rpcError, ok := errors.AsType[*chain.RPCError](err)
	if !ok || *rpcError != (chain.RPCError{Code: -32003, Message: "past the retention"}) {
		t.Errorf("the error is %v", err)
	}

	client = newNode(t, "POST /rpc", answer(http.StatusOK, `{"jsonrpc": "2.0", "id": 1}`))
	if _, err := client.Block(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "neither a result nor an error") {
		t.Errorf("the error is %v", err)
	}
}

// Errors say which request failed and what the node says about it, and keep the
// token to themselves.
func TestErrors(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"refused": {answer(http.StatusUnauthorized, `{"error": "wrong token"}`), "/admin/load: 401 Unauthorized: wrong token"},
		"no json": {answer(http.StatusBadGateway, `<html>`), "/admin/load: 502 Bad Gateway"},
		"redirect": {
			func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) },
			"/admin/load: 302 Found",
		},
		"garbage": {answer(http.StatusOK, `{"transfersPerSecond": "many"}`), "/admin/load: decode answer: "},
		"endless": {
			func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 5<<20)) },
			"/admin/load: answer is larger than 4194304 bytes",
		},
		"cut off": {
			func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", "100")
				_, _ = w.Write([]byte("{"))
			},
			"/admin/load: read answer: unexpected EOF",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newNode(t, "PUT /admin/load", test.handler).SetLoad(t.Context(), chain.LoadTarget{TransfersPerSecond: 1})
			if err == nil || !strings.HasPrefix(err.Error(), "PUT https://127.0.0.1:") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
			if err != nil && strings.Contains(err.Error(), adminToken) {
				t.Errorf("the error has the token in it: %v", err)
			}
		})
	}
}

// A canceled request ends at once, and its error tells that it was canceled.
func TestCanceledRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	client := newNode(t, "GET /status", func(_ http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := client.Status(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want %v", err, context.Canceled)
	}
}
