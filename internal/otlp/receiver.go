// SPDX-License-Identifier: Apache-2.0

package otlp

import (
	"errors"
	"io"
	"net/http"

	"github.com/shardyard/shardyard/internal/trace"
)

// contentType is that of OTLP in protobuf.
const contentType = "application/x-protobuf"

// Handler takes requests at /v1/traces and gives each to keep, with the spans in it.
func Handler(keep func(request []byte, spans []trace.Span) error) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Content-Type") != contentType {
			http.Error(w, "spans are taken as "+contentType, http.StatusUnsupportedMediaType)
			return
		}
		request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, MaxRequestBytes))
		if _, large := errors.AsType[*http.MaxBytesError](err); large {
			http.Error(w, "the request is too large", http.StatusRequestEntityTooLarge)
			return
		}
		if err != nil {
			http.Error(w, "the request cannot be read", http.StatusBadRequest)
			return
		}
		spans, err := Decode(request)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if err := keep(request, spans); err != nil {
			http.Error(w, "spans cannot be kept: "+err.Error(), http.StatusInsufficientStorage)
			return
		}
		// An empty answer says that all was taken.
		w.Header().Set("Content-Type", contentType)
	})
	return mux
}
