// SPDX-License-Identifier: Apache-2.0

package tracestore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/shardyard/shardyard/internal/trace"
)

// service is the name that nodes give to themselves in their spans.
const service = "shardnode"

// maxAnswerBytes bounds what one request brings. A trace of a network of four nodes has
// about 30 kB as JSON.
const maxAnswerBytes = 512 << 20

// Query says which traces are wanted.
type Query struct {
	// Network is the one whose traces are wanted; empty for those of all.
	Network string
	// From and Until are the times between which they began.
	From, Until time.Time
	// Most is how many are asked for at most.
	Most int
}

// Answer is what a store has of what was asked for.
type Answer struct {
	Spans []trace.Span
	// Traces is how many there were. Where it is the most that were asked for, the
	// store may have more.
	Traces int
}

// Store is a server that keeps traces.
type Store interface {
	// Find finds traces. What a store cannot tell apart, spans of other networks among
	// them, is in the answer as well.
	Find(ctx context.Context, query Query) (Answer, error)
}

// server is where a store answers.
type server struct {
	base   *url.URL
	client *http.Client
}

func newServer(base string) (server, error) {
	parsed, err := url.Parse(base)
	if err != nil {
		return server{}, err
	}
	if parsed.Scheme != "http" && parsed.Scheme != "https" || parsed.Host == "" {
		return server{}, fmt.Errorf("%q is no http:// or https:// URL", base)
	}
	return server{parsed, &http.Client{Transport: http.DefaultTransport.(*http.Transport).Clone()}}, nil
}

// refusal is an answer that is none.
type refusal struct {
	url    string
	status int
	// body is what was said, the beginning of it.
	body string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: %s: %s", r.url, http.StatusText(r.status), strings.TrimSpace(r.body))
}

// get asks for a path, with names and values in turn as the query.
func (s server) get(ctx context.Context, accept, path string, query ...string) (body []byte, err error) {
	values := url.Values{}
	for i := 0; i+1 < len(query); i += 2 {
		values.Set(query[i], query[i+1])
	}
	where := s.base.JoinPath(path)
	where.RawQuery = values.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where.String(), http.NoBody)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", accept)
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(response.Body, 1<<10))
		return nil, &refusal{s.base.JoinPath(path).String(), response.StatusCode, string(said)}
	}
	body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswerBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", s.base, err)
	}
	if len(body) > maxAnswerBytes {
		return nil, fmt.Errorf("%s answers with more than %d MiB: ask for fewer traces", s.base, maxAnswerBytes>>20)
	}
	return body, nil
}
