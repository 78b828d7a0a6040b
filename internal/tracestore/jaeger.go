// SPDX-License-Identifier: Apache-2.0

package tracestore

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/shardyard/shardyard/internal/otlp"
	"github.com/shardyard/shardyard/internal/trace"
)

// jaeger is a Jaeger's query service.
type jaeger struct{ server }

// Jaeger is the Jaeger whose query service is at a URL, such as
// http://jaeger-query.monitoring.svc:16686. Its API of version 3 has spans as they were
// sent, to the nanosecond, and cannot tell networks apart.
func Jaeger(base string) (Store, error) {
	server, err := newServer(base)
	if err != nil {
		return nil, fmt.Errorf("jaeger: %w", err)
	}
	return jaeger{server}, nil
}

func (j jaeger) Find(ctx context.Context, query Query) (Answer, error) {
	body, err := j.get(ctx, "application/json", "/api/v3/traces",
		"query.service_name", service,
		"query.start_time_min", query.From.UTC().Format(time.RFC3339Nano),
		"query.start_time_max", query.Until.UTC().Format(time.RFC3339Nano),
		"query.num_traces", strconv.Itoa(query.Most))
	if nothingFound(err) {
		return Answer{}, nil
	}
	if err != nil {
		return Answer{}, fmt.Errorf("find traces in jaeger: %w", err)
	}
	var answer Answer
	// It may come in parts, each with all that is said of some traces.
	parts := json.NewDecoder(bytes.NewReader(body))
	for parts.More() {
		var part struct {
			Result json.RawMessage `json:"result"`
		}
		if err := parts.Decode(&part); err != nil {
			return Answer{}, fmt.Errorf("read jaeger's answer: %w", err)
		}
		spans, err := otlp.DecodeJSON(part.Result)
		if err != nil {
			return Answer{}, fmt.Errorf("read jaeger's answer: %w", err)
		}
		answer.Spans = append(answer.Spans, spans...)
	}
	answer.Traces = tracesIn(answer.Spans)
	return answer, nil
}

// nothingFound tells whether Jaeger says that no trace is as was asked for. It says so
// with the status of a page that it does not have.
func nothingFound(err error) bool {
	refused, ok := errors.AsType[*refusal](err)
	if !ok || refused.status != http.StatusNotFound {
		return false
	}
	var said struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	return json.Unmarshal([]byte(refused.body), &said) == nil && said.Error.Message != ""
}

// tracesIn counts the traces that spans are of.
func tracesIn(spans []trace.Span) int {
	traces := map[trace.ID]bool{}
	for _, span := range spans {
		traces[span.Trace] = true
	}
	return len(traces)
}
