// SPDX-License-Identifier: Apache-2.0

package tracestore_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/shardyard/shardyard/internal/tracestore"
)

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// block is a span of a node at a height, and of the trace that a chain has of it.
func block(network string, chain byte, height int64) *tracepb.TracesData {
	number := &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: height}}
	return &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
			text("service.name", "shardnode"), text("network", network), text("node", "n0"),
		}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{{
			Name: "block", TraceId: append(make([]byte, 14), chain, byte(height)), Attributes: []*commonpb.KeyValue{{Key: "height", Value: number}},
			StartTimeUnixNano: 1_000_000_001, EndTimeUnixNano: 2_000_000_002,
		}}}},
	}}}
}

// asJSON is a part of Jaeger's answer.
func asJSON(t *testing.T, data *tracepb.TracesData) string {
	t.Helper()
	content, err := protojson.Marshal(data)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"result": %s}`, content)
}

// asked is what a store is asked for in these tests.
var asked = tracestore.Query{
	Network: "net", From: time.Unix(100, 5), Until: time.Unix(200, 0), Most: 7,
}

// serve answers as a store does, and keeps what was asked for.
func serve(t *testing.T, answer http.HandlerFunc) (base string, requests *[]*http.Request) {
	t.Helper()
	requests = new([]*http.Request)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r)
		answer(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/below", requests
}

func TestJaeger(t *testing.T) {
	t.Parallel()
	base, requests := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = fmt.Fprintf(w, "%s\n%s\n%s\n%s", asJSON(t, block("net", 1, 4)), asJSON(t, block("other", 2, 4)),
			asJSON(t, block("net", 1, 4)), asJSON(t, block("net", 3, 4)))
	})
	jaeger, err := tracestore.Jaeger(base)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := jaeger.Find(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Spans) != 4 || answer.Traces != 3 {
		t.Errorf("the answer is %+v, want four spans of three traces", answer)
	}
	if span := answer.Spans[0]; span.Height != 4 || span.Network != "net" || span.Node != "n0" || span.Begin.UnixNano() != 1_000_000_001 {
		t.Errorf("a span is %+v", span)
	}
	request := (*requests)[0]
	want := url.Values{
		"query.service_name": {"shardnode"}, "query.num_traces": {"7"},
		"query.start_time_min": {"1970-01-01T00:01:40.000000005Z"}, "query.start_time_max": {"1970-01-01T00:03:20Z"},
	}
	if request.URL.Path != "/below/api/v3/traces" || request.URL.Query().Encode() != want.Encode() {
		t.Errorf("was asked for %s", request.URL)
	}
}

func TestTempo(t *testing.T) {
	t.Parallel()
	base, requests := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/below/api/search":
			_, _ = fmt.Fprint(w, `{"traces": [{"traceID": "1f", "rootTraceName": "block"}, {"traceID": "2f"}], "metrics": {}}`)
		case "/below/api/traces/1f", "/below/api/traces/2f":
			if r.Header.Get("Accept") != "application/protobuf" {
				t.Errorf("is asked for %q", r.Header.Get("Accept"))
			}
			content, err := proto.Marshal(block("net", 1, int64(r.URL.Path[len("/below/api/traces/")]-'0')))
			if err != nil {
				t.Error(err)
			}
			_, _ = w.Write(content)
		default:
			http.NotFound(w, r)
		}
	})
	tempo, err := tracestore.Tempo(base)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := tempo.Find(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	if len(answer.Spans) != 2 || answer.Traces != 2 || answer.Spans[1].Height != 2 {
		t.Errorf("the answer is %+v, want a span of height 1 and one of 2", answer)
	}
	want := url.Values{
		"q":     {`{ resource.service.name = "shardnode" && resource.network = "net" }`},
		"start": {"100"}, "end": {"201"}, "limit": {"7"},
	}
	if got := (*requests)[0].URL.Query(); got.Encode() != want.Encode() {
		t.Errorf("was asked for %v", got)
	}
}

func TestWhatIsNoAnswer(t *testing.T) {
	t.Parallel()
	none := `{"error":{"httpCode":404,"message":"No traces found"}}`
	for name, test := range map[string]struct {
		store  func(string) (tracestore.Store, error)
		status int
		body   string
		want   string
	}{
		"jaeger has none":      {tracestore.Jaeger, http.StatusNotFound, none, ""},
		"tempo has none":       {tracestore.Tempo, http.StatusOK, `{"traces": []}`, ""},
		"no jaeger":            {tracestore.Jaeger, http.StatusNotFound, "404 page not found\n", "/api/v3/traces: Not Found: 404 page not found"},
		"no tempo":             {tracestore.Tempo, http.StatusNotFound, none, "/api/search: Not Found: " + none},
		"jaeger says no JSON":  {tracestore.Jaeger, http.StatusOK, "<html>", "read jaeger's answer: invalid character"},
		"jaeger says no spans": {tracestore.Jaeger, http.StatusOK, `{"result": {"resourceSpans": 3}}`, "read jaeger's answer: decode spans"},
		"tempo says no JSON":   {tracestore.Tempo, http.StatusOK, "<html>", "read tempo's answer: invalid character"},
		"a trace goes":         {tracestore.Tempo, http.StatusOK, `{"traces": [{"traceID": "1f"}]}`, "trace 1f from tempo: decode spans"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base, _ := serve(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = fmt.Fprint(w, test.body)
			})
			store, err := test.store(base)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := store.Find(t.Context(), asked)
			switch {
			case test.want == "" && (err != nil || len(answer.Spans) > 0):
				t.Errorf("the answer is %+v, %v", answer, err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, want it to say %q", err, test.want)
			}
		})
	}
}

func TestWhatIsNoAddress(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", "localhost:16686", "ftp://here", "http://"} {
		if _, err := tracestore.Jaeger(address); err == nil || !strings.Contains(err.Error(), "jaeger: ") {
			t.Errorf("%q: the error is %v", address, err)
		}
	}
}
