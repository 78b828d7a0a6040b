// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/util/annotations"
)

const (
	// maxFormBytes bounds a request: a query of a dashboard has some hundred bytes.
	maxFormBytes = 64 << 10

	// concurrentRequests is how many requests are answered at a time. Others wait:
	// the machine has a chain to run.
	concurrentRequests = 2
)

// answer is the result of a request in the words of Prometheus.
type answer struct {
	Status    string   `json:"status"`
	Data      any      `json:"data,omitempty"`
	ErrorType string   `json:"errorType,omitempty"`
	Error     string   `json:"error,omitempty"`
	Warnings  []string `json:"warnings,omitempty"`
	Infos     []string `json:"infos,omitempty"`
}

// requestError is an error that is the asker's.
type requestError struct{ error }

// api answers requests about a store.
type api struct {
	store *Store
	turns chan struct{}
}

// Handler answers queries as the HTTP API of Prometheus does, below /api/v1/.
func Handler(store *Store) http.Handler {
	api := &api{store: store, turns: make(chan struct{}, concurrentRequests)}
	mux := http.NewServeMux()
	for path, answer := range map[string]func(*http.Request) (any, annotations.Annotations, error){
		"/api/v1/query":               api.query,
		"/api/v1/query_range":         api.queryRange,
		"/api/v1/query_exemplars":     api.queryExemplars,
		"/api/v1/labels":              api.labels,
		"/api/v1/label/{name}/values": api.labelValues,
		"/api/v1/series":              api.series,
	} {
		// Long queries come as forms.
		mux.HandleFunc("GET "+path, api.handle(answer))
		mux.HandleFunc("POST "+path, api.handle(answer))
	}
	return mux
}

// handle has a request wait for its turn and bounds its size and time.
func (a *api) handle(ask func(*http.Request) (any, annotations.Annotations, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), queryTimeout)
		defer cancel()
		r = r.WithContext(ctx)
		r.Body = http.MaxBytesReader(w, r.Body, maxFormBytes)
		if err := r.ParseForm(); err != nil {
			respond(w, nil, nil, requestError{err})
			return
		}
		select {
		case a.turns <- struct{}{}:
			defer func() { <-a.turns }()
		case <-ctx.Done():
			respond(w, nil, nil, promql.ErrQueryTimeout("waiting for other queries"))
			return
		}
		data, notes, err := ask(r)
		respond(w, data, notes, err)
	}
}

func respond(w http.ResponseWriter, data any, notes annotations.Annotations, err error) {
	code, said := http.StatusOK, answer{Status: "success", Data: data}
	said.Warnings, said.Infos = notes.AsStrings("", 0, 0)
	if err != nil {
		code, said.ErrorType = classify(err)
		said.Status, said.Data, said.Error = "error", nil, err.Error()
	}
	content, err := json.Marshal(said)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// Whoever does not wait for the answer does not need it.
	_, _ = w.Write(content)
}

// classify says what kind of error one is.
func classify(err error) (code int, kind string) {
	var (
		bad      requestError
		canceled promql.ErrQueryCanceled
		timeout  promql.ErrQueryTimeout
		storage  promql.ErrStorage
	)
	switch {
	case errors.As(err, &bad):
		return http.StatusBadRequest, "bad_data"
	case errors.As(err, &timeout), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, "timeout"
	case errors.As(err, &canceled), errors.Is(err, context.Canceled):
		return http.StatusServiceUnavailable, "canceled"
	case errors.As(err, &storage):
		return http.StatusInternalServerError, "internal"
	default:
		return http.StatusUnprocessableEntity, "execution"
	}
}
