// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

const (
	readyPath = "/ready"
	loadPath  = "/load"

	// maxStep is how long the description of a step may be, in bytes.
	maxStep = 1 << 20
)

// Serve runs loaders for whoever asks at a socket, one at a time, until the context
// is done. A loader ends with the request that it is for.
func Serve(ctx context.Context, program *Program, socket string) error {
	// Whoever served it before is gone: a container has one process.
	if err := os.Remove(socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take over the socket: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: newHandler(program), ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// newHandler answers those who ask for loaders.
func newHandler(program *Program) http.Handler {
	var running sync.Mutex
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+readyPath, func(response http.ResponseWriter, _ *http.Request) {
		if err := program.Check(); err != nil {
			http.Error(response, err.Error(), http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("POST "+loadPath, func(response http.ResponseWriter, request *http.Request) {
		var step Step
		decoder := json.NewDecoder(http.MaxBytesReader(response, request.Body, maxStep))
		decoder.DisallowUnknownFields()
		if err := decoder.Decode(&step); err != nil {
			http.Error(response, "decode step: "+err.Error(), http.StatusBadRequest)
			return
		}
		if !running.TryLock() {
			http.Error(response, "another loader runs", http.StatusConflict)
			return
		}
		defer running.Unlock()
		document, err := program.Run(request.Context(), &step)
		if err != nil {
			http.Error(response, err.Error(), http.StatusInternalServerError)
			return
		}
		// Whoever is gone needs no answer.
		_, _ = response.Write(document)
	})
	return mux
}
