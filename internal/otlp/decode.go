// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/shardyard/shardyard/internal/trace"
)

// Decode reads one request in protobuf. Spans of others than nodes are passed
// over.
func Decode(request []byte) ([]trace.Span, error) {
	var data tracepb.TracesData
	if err := proto.Unmarshal(request, &data); err != nil {
		return nil, fmt.Errorf("decode spans: %w", err)
	}
	return spansOf(&data), nil
}

// DecodeJSON reads one request in JSON. Spans of others than nodes are passed over.
func DecodeJSON(request []byte) ([]trace.Span, error) {
	var data tracepb.TracesData
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(request, &data); err != nil {
		return nil, fmt.Errorf("decode spans: %w", err)
	}
	return spansOf(&data), nil
}

func spansOf(data *tracepb.TracesData) []trace.Span {
	var spans []trace.Span
	for _, resource := range data.GetResourceSpans() {
		attributes := attributesOf(resource.GetResource().GetAttributes())
		if attributes["service.name"].GetStringValue() != "shardnode" {
			continue
		}
		for _, scope := range resource.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				if read, ok := spanOf(span, attributes); ok {
					spans = append(spans, read)
				}
			}
		}
	}
	return spans
}

// spanOf is a span of a node, if it has a height.
func spanOf(span *tracepb.Span, resource map[string]*commonpb.AnyValue) (trace.Span, bool) {
	attributes := attributesOf(span.GetAttributes())
	height, ok := attributes["height"]
	if !ok {
		return trace.Span{}, false
	}
	read := trace.Span{
		Name:    span.GetName(),
		Trace:   traceOf(span.GetTraceId()),
		Height:  uint64(height.GetIntValue()),
		Shard:   trace.NoShard,
		View:    uint64(attributes["view"].GetIntValue()),
		Node:    resource["node"].GetStringValue(),
		Region:  resource["region"].GetStringValue(),
		Network: resource["network"].GetStringValue(),
		// Of spans of an execution; 0 without it.
		Executed: uint64(attributes["executed_height"].GetIntValue()),
		Begin:    time.Unix(0, int64(span.GetStartTimeUnixNano())),
		End:      time.Unix(0, int64(span.GetEndTimeUnixNano())),
	}
	if shard, ok := attributes["shard"]; ok {
		read.Shard = int(shard.GetIntValue())
	}
	return read, true
}

// traceOf is the id of a span's trace. In JSON it is of hexadecimal digits, and was read
// as if these were base64.
func traceOf(id []byte) (of trace.ID) {
	if digits := base64.StdEncoding.EncodeToString(id); len(digits) == hex.EncodedLen(len(of)) {
		if read, err := hex.DecodeString(digits); err == nil {
			id = read
		}
	}
	copy(of[:], id)
	return of
}

func attributesOf(attributes []*commonpb.KeyValue) map[string]*commonpb.AnyValue {
	values := make(map[string]*commonpb.AnyValue, len(attributes))
	for _, attribute := range attributes {
		values[attribute.GetKey()] = attribute.GetValue()
	}
	return values
}
