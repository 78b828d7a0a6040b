// SPDX-License-Identifier: Apache-2.0

package otlp_test

import (
	"bytes"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/shardyard/shardyard/internal/otlp"
	"github.com/shardyard/shardyard/internal/trace"
)

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

func number(key string, value int64) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: value}}}
}

// traceID is that of the spans of request, 5b8efff798038103d269b633813fc60c.
var traceID = trace.ID{0x5b, 0x8e, 0xff, 0xf7, 0x98, 0x03, 0x81, 0x03, 0xd2, 0x69, 0xb6, 0x33, 0x81, 0x3f, 0xc6, 0x0c}

// request has a span of a node at a height, and what is no node's.
func request(t *testing.T, height int64) []byte {
	t.Helper()
	of := func(service string, spans ...*tracepb.Span) *tracepb.ResourceSpans {
		return &tracepb.ResourceSpans{
			Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{
				text("service.name", service), text("network", "net"), text("region", "north"), text("node", "n0"),
			}},
			ScopeSpans: []*tracepb.ScopeSpans{{Spans: spans}},
		}
	}
	id := traceID[:]
	content, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{
		of("shardnode",
			&tracepb.Span{
				Name: "validate", TraceId: id, StartTimeUnixNano: 1_000, EndTimeUnixNano: 2_000,
				Attributes: []*commonpb.KeyValue{number("height", height), number("shard", 0)},
			},
			&tracepb.Span{
				Name: "verify", TraceId: id, StartTimeUnixNano: 3_000, EndTimeUnixNano: 4_000,
				Attributes: []*commonpb.KeyValue{number("height", height), number("view", 9)},
			},
			&tracepb.Span{
				Name: "gather", TraceId: id, StartTimeUnixNano: 5_000, EndTimeUnixNano: 6_000,
				Attributes: []*commonpb.KeyValue{number("height", height), number("executed_height", height+20)},
			},
			&tracepb.Span{Name: "without a height"}),
		of("somebody else", &tracepb.Span{Name: "take", Attributes: []*commonpb.KeyValue{number("height", height)}}),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// spans are those of request.
func spans(height uint64) []trace.Span {
	span := func(name string, begin, end int64) trace.Span {
		return trace.Span{
			Name: name, Trace: traceID, Height: height, Shard: trace.NoShard, Node: "n0", Region: "north", Network: "net",
			Begin: time.Unix(0, begin), End: time.Unix(0, end),
		}
	}
	validate, verify, gather := span("validate", 1_000, 2_000), span("verify", 3_000, 4_000), span("gather", 5_000, 6_000)
	validate.Shard, verify.View, gather.Executed = 0, 9, height+20
	return []trace.Span{validate, verify, gather}
}

func TestFilesKeepTheNewestSpans(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.otlp")
	size := int64(len(request(t, 1)) + 4)
	file, err := otlp.Create(path, 2*size)
	if err != nil {
		t.Fatal(err)
	}
	var want []trace.Span
	for height := range int64(5) {
		if err := file.Append(request(t, height)); err != nil {
			t.Fatal(err)
		}
		if height >= 2 {
			want = append(want, spans(uint64(height))...)
		}
	}
	got, err := otlp.ReadKept(path)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := otlp.Create(path, size); err != nil {
		t.Fatal(err)
	}
	if got, err := otlp.ReadKept(path); err != nil || len(got) > 0 {
		t.Errorf("of the run before there is %v, %v", got, err)
	}
}

// limit sets a limit of the process until the function that it returns is called.
func limit(t *testing.T, resource int, most uint64) (lift func()) {
	t.Helper()
	var before syscall.Rlimit
	if err := syscall.Getrlimit(resource, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: most, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := syscall.Setrlimit(resource, &before); err != nil {
			t.Fatal(err)
		}
	}
}

// What could not be kept costs that request, and no other one. Limits are of the whole
// process, so these run beside no other test.
func TestFilesGoOnAfterAFailure(t *testing.T) {
	framed := len(request(t, 1)) + 4
	for name, test := range map[string]struct {
		// most is how many requests a file has.
		most int
		// hinder has the second request fail.
		hinder func(t *testing.T, path string) (lift func())
		want   []uint64
	}{
		"a part of the request is written": {
			5, func(t *testing.T, _ string) func() {
				t.Helper()
				signal.Ignore(syscall.SIGXFSZ)
				lift := limit(t, syscall.RLIMIT_FSIZE, uint64(framed+20))
				return func() { lift(); signal.Reset(syscall.SIGXFSZ) }
			}, []uint64{1, 3, 4},
		},
		"the file cannot be renamed": {
			1, func(t *testing.T, path string) func() {
				t.Helper()
				if err := os.MkdirAll(filepath.Join(otlp.Previous(path), "in the way"), 0o700); err != nil {
					t.Fatal(err)
				}
				return func() { _ = os.RemoveAll(otlp.Previous(path)) }
			}, []uint64{3, 4},
		},
		"the next file cannot be opened": {
			1, func(t *testing.T, _ string) func() {
				t.Helper()
				return limit(t, syscall.RLIMIT_NOFILE, 0)
			}, []uint64{3, 4},
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spans.otlp")
			file, err := otlp.Create(path, int64(test.most*framed))
			if err != nil {
				t.Fatal(err)
			}
			if err := file.Append(request(t, 1)); err != nil {
				t.Fatal(err)
			}
			lift := test.hinder(t, path)
			err = file.Append(request(t, 2))
			lift()
			if err == nil {
				t.Fatal("nothing failed")
			}
			for _, height := range []int64{3, 4} {
				if err := file.Append(request(t, height)); err != nil {
					t.Error(err)
				}
			}
			var want []trace.Span
			for _, height := range test.want {
				want = append(want, spans(height)...)
			}
			if got, err := otlp.ReadKept(path); err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("read %v, %v, want %v", got, err, want)
			}
			if err := file.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A file that turns while one reads: the one before is a pipe, which takes as long to
// read as the test wants.
func TestFilesTurnWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.otlp")
	file, err := otlp.Create(path, int64(len(request(t, 1))+4))
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Append(request(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(otlp.Previous(path), 0o600); err != nil {
		t.Fatal(err)
	}
	var got []trace.Span
	var failed error
	var reading sync.WaitGroup
	reading.Go(func() { got, failed = otlp.ReadKept(path) })
	// It opens once the other end is open as well.
	pipe, err := os.OpenFile(otlp.Previous(path), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Append(request(t, 2)); err != nil {
		t.Fatal(err)
	}
	if err := pipe.Close(); err != nil {
		t.Fatal(err)
	}
	reading.Wait()
	if failed != nil || len(got) < 3 || !reflect.DeepEqual(got[:3], spans(1)) {
		t.Errorf("read %v, %v, want %v and what came after them", got, failed, spans(1))
	}
}

// A file that turns is not there for a moment, or until its disk takes another one.
func TestFilesAreReadWithoutTheCurrentOne(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "spans.otlp")
	if _, err := otlp.ReadKept(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a file, the error is %v", err)
	}
	file, err := otlp.Create(path, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if err := file.Append(request(t, 1)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path, otlp.Previous(path)); err != nil {
		t.Fatal(err)
	}
	if got, err := otlp.ReadKept(path); err != nil || !reflect.DeepEqual(got, spans(1)) {
		t.Errorf("read %v, %v, want %v", got, err, spans(1))
	}
}

// A file that is being written, and files of others.
func TestReadFile(t *testing.T) {
	t.Parallel()
	framed := append([]byte{0, 0, 0, byte(len(request(t, 7)))}, request(t, 7)...)
	if len(request(t, 7)) > 255 {
		framed = append([]byte{0, 0, 1, byte(len(request(t, 7)) - 256)}, request(t, 7)...)
	}
	document := `{"resourceSpans": [{"resource": {"attributes": [
		{"key": "service.name", "value": {"stringValue": "shardnode"}}, {"key": "network", "value": {"stringValue": "net"}},
		{"key": "region", "value": {"stringValue": "north"}}, {"key": "node", "value": {"stringValue": "n0"}}]},
		"scopeSpans": [{"spans": [
			{"traceId": "5b8efff798038103d269b633813fc60c", "spanId": "eee19b7ec3c1b174", "name": "validate", "kind": 1,
				"startTimeUnixNano": "1000", "endTimeUnixNano": "2000", "flags": 257,
				"attributes": [{"key": "height", "value": {"intValue": "7"}}, {"key": "shard", "value": {"intValue": "0"}}]},
			{"traceId": "5B8EFFF798038103D269B633813FC60C", "name": "verify", "startTimeUnixNano": "3000", "endTimeUnixNano": "4000",
				"attributes": [{"key": "height", "value": {"intValue": "7"}}, {"key": "view", "value": {"intValue": "9"}}]},
			{"traceId": "W47/95gDgQPSabYzgT/GDA==", "name": "gather", "startTimeUnixNano": "5000", "endTimeUnixNano": "6000",
				"attributes": [{"key": "height", "value": {"intValue": "7"}}, {"key": "executed_height", "value": {"intValue": "27"}}]}]}]}]}`
	line := strings.ReplaceAll(strings.ReplaceAll(document, "\n", ""), "\t", "")
	for name, test := range map[string]struct {
		content []byte
		want    []trace.Span
		error   string
	}{
		"nothing":                    {content: nil},
		"one request":                {content: framed, want: spans(7)},
		"half a request at its end":  {content: append(bytes.Clone(framed), framed[:20]...), want: spans(7)},
		"half a length at its end":   {content: append(bytes.Clone(framed), 0, 0), want: spans(7)},
		"JSON over many lines":       {content: []byte(document), want: spans(7)},
		"JSON, a request each line":  {content: []byte(line + "\n" + line + "\n"), want: append(spans(7), spans(7)...)},
		"JSON that is being written": {content: []byte(line + "\n" + line[:100]), want: spans(7)},
		"broken JSON":                {content: []byte("{\"a\n" + line + "\n"), error: "line 1"},
		"something else":             {content: []byte("height,span\n1,take\n"), error: "not a file of spans"},
		"no request":                 {content: []byte{0, 0, 0, 2, 255, 255}, error: "decode spans"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "spans")
			if err := os.WriteFile(path, test.content, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := otlp.ReadFile(path)
			if test.error != "" {
				if err == nil || !strings.Contains(err.Error(), test.error) {
					t.Errorf("the error is %v, want it to say %q", err, test.error)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, test.want) {
				t.Errorf("read %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

func TestHandler(t *testing.T) {
	t.Parallel()
	whole := request(t, 7)
	for name, test := range map[string]struct {
		path, kind string
		content    []byte
		status     int
		kept       int
	}{
		"spans":             {"/v1/traces", "application/x-protobuf", whole, http.StatusOK, 1},
		"another signal":    {"/v1/metrics", "application/x-protobuf", whole, http.StatusNotFound, 0},
		"JSON":              {"/v1/traces", "application/json", []byte("{}"), http.StatusUnsupportedMediaType, 0},
		"no spans":          {"/v1/traces", "application/x-protobuf", []byte{255}, http.StatusBadRequest, 0},
		"too large to keep": {"/v1/traces", "application/x-protobuf", make([]byte, otlp.MaxRequestBytes+1), http.StatusRequestEntityTooLarge, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kept [][]byte
			handler := otlp.Handler(func(request []byte, _ []trace.Span) error {
				kept = append(kept, request)
				return nil
			})
			request := httptest.NewRequestWithContext(t.Context(), http.MethodPost, test.path, bytes.NewReader(test.content))
			request.Header.Set("Content-Type", test.kind)
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			if answer.Code != test.status || len(kept) != test.kept {
				t.Errorf("answered %d, kept %d requests", answer.Code, len(kept))
			}
		})
	}
}
