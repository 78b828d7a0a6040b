// SPDX-License-Identifier: Apache-2.0

package local

import (
	"bytes"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/shardyard/shardyard/internal/local/statedir"
)

// What a node sends to where it is told is what ReadSpans reads.
func TestCollector(t *testing.T) {
	t.Parallel()
	stateDir := t.TempDir()
	dir := statedir.NetworkDir(filepath.Join(stateDir, "net"))
	if err := os.MkdirAll(string(dir), statedir.DirMode); err != nil {
		t.Fatal(err)
	}
	collector, err := collectSpans(t.Context(), dir, 2_500)
	if err != nil {
		t.Fatal(err)
	}
	tracing := collector.tracing()
	if tracing.SampleBasisPoints != 2_500 {
		t.Errorf("nodes are told %+v", tracing)
	}
	height := &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: 12}}
	service := &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: "shardnode"}}
	content, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
		Resource: &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "service.name", Value: service}}},
		ScopeSpans: []*tracepb.ScopeSpans{{Spans: []*tracepb.Span{
			{Name: "take", Attributes: []*commonpb.KeyValue{{Key: "height", Value: height}}},
		}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, tracing.Endpoint+"/v1/traces", bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	spans, err := ReadSpans(stateDir, "net")
	if err != nil || len(spans) != 1 || spans[0].Height != 12 {
		t.Errorf("kept are %v, %v", spans, err)
	}
	if err := collector.close(); err != nil {
		t.Error(err)
	}
	if err := dir.Clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSpans(stateDir, "net"); !os.IsNotExist(err) {
		t.Errorf("after all was removed: %v", err)
	}
}

func TestNobodyCollectsUnlessAsked(t *testing.T) {
	t.Parallel()
	collector, err := collectSpans(t.Context(), statedir.NetworkDir(t.TempDir()), 0)
	if err != nil || collector != nil || collector.tracing() != nil || collector.close() != nil {
		t.Errorf("there is %v, %v", collector, err)
	}
}
