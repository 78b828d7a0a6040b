// SPDX-License-Identifier: Apache-2.0

package tracestore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/shardyard/shardyard/internal/otlp"
)

// tempo is a Tempo's query frontend.
type tempo struct{ server }

// Tempo is the Tempo whose API is at a URL, such as http://tempo.monitoring.svc:3200.
func Tempo(base string) (Store, error) {
	server, err := newServer(base)
	if err != nil {
		return nil, fmt.Errorf("tempo: %w", err)
	}
	return tempo{server}, nil
}

func (t tempo) Find(ctx context.Context, query Query) (Answer, error) {
	wanted := fmt.Sprintf("resource.service.name = %q", service)
	if query.Network != "" {
		wanted += fmt.Sprintf(" && resource.network = %q", query.Network)
	}
	body, err := t.get(ctx, "application/json", "/api/search",
		"q", "{ "+wanted+" }",
		"start", strconv.FormatInt(query.From.Unix(), 10),
		// A whole second, which what began in its last part is in.
		"end", strconv.FormatInt(query.Until.Unix()+1, 10),
		"limit", strconv.Itoa(query.Most))
	if err != nil {
		return Answer{}, fmt.Errorf("find traces in tempo: %w", err)
	}
	var found struct {
		Traces []struct {
			ID string `json:"traceID"`
		} `json:"traces"`
	}
	if err := json.Unmarshal(body, &found); err != nil {
		return Answer{}, fmt.Errorf("read tempo's answer: %w", err)
	}
	answer := Answer{Traces: len(found.Traces)}
	for _, one := range found.Traces {
		// Its protobuf is, field by field, that of what nodes send.
		body, err := t.get(ctx, "application/protobuf", "/api/traces/"+one.ID)
		if err != nil {
			return Answer{}, fmt.Errorf("read a trace from tempo: %w", err)
		}
		spans, err := otlp.Decode(body)
		if err != nil {
			return Answer{}, fmt.Errorf("read trace %s from tempo: %w", one.ID, err)
		}
		answer.Spans = append(answer.Spans, spans...)
	}
	return answer, nil
}
