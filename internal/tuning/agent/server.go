// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/shardyard/shardyard/internal/tuning"
)

// requestTimeout bounds how long a client may take for a request.
const requestTimeout = 5 * time.Second

// latest is the report of the latest look at the machine.
type latest struct {
	lock   sync.Mutex
	report *tuning.Report
}

// asked says that somebody asked for the report.
type asked struct {
	once   *sync.Once
	signal chan struct{}
}

func newAsked() asked { return asked{once: &sync.Once{}, signal: make(chan struct{})} }

func (a asked) tell() { a.once.Do(func() { close(a.signal) }) }

// tell makes a report the latest, and logs what is new in it.
func (a *Agent) tell(report *tuning.Report) {
	a.latest.lock.Lock()
	before := a.latest.report
	a.latest.report = report
	a.latest.lock.Unlock()
	for i := range report.Settings {
		setting := &report.Settings[i]
		if before == nil || before.Settings[i] != *setting {
			a.options.Log.Info("setting", "name", setting.Name, "state", setting.State, "message", setting.Message)
		}
	}
	if report.Trouble != "" && (before == nil || before.Trouble != report.Trouble) {
		a.options.Log.Error("old values are not back", "error", report.Trouble)
	}
}

// lastReport is nil until the machine was looked at.
func (a *Agent) lastReport() *tuning.Report {
	a.latest.lock.Lock()
	defer a.latest.lock.Unlock()
	return a.latest.report
}

// serve answers until its result is called.
func (a *Agent) serve(listener net.Listener) (stop func() error) {
	server := &http.Server{Handler: a.handler(), ReadHeaderTimeout: requestTimeout, WriteTimeout: requestTimeout}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	return func() error {
		ctx, cancel := context.WithTimeout(context.Background(), requestTimeout)
		defer cancel()
		err := server.Shutdown(ctx)
		if served := <-ended; !errors.Is(served, http.ErrServerClosed) {
			err = errors.Join(err, fmt.Errorf("serve: %w", served))
		}
		return err
	}
}

// handler shows what the agent found, and takes nothing.
func (a *Agent) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+tuning.PathHealth, func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET "+tuning.PathReady, func(writer http.ResponseWriter, _ *http.Request) {
		if report := a.lastReport(); report == nil || !report.Done() {
			http.Error(writer, "the machine is not yet as it should be", http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("GET "+tuning.PathReport, func(writer http.ResponseWriter, _ *http.Request) {
		a.asked.tell()
		report := a.lastReport()
		if report == nil {
			http.Error(writer, "the machine was not looked at yet", http.StatusServiceUnavailable)
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		if err := json.NewEncoder(writer).Encode(report); err != nil {
			a.options.Log.Warn("answer", "error", err)
		}
	})
	return mux
}

// clip makes words fit into a message.
func clip(words string) string {
	words = strings.ReplaceAll(words, "\n", "; ")
	if len(words) <= maxMessageBytes {
		return words
	}
	const cut = "…"
	return strings.ToValidUTF8(words[:maxMessageBytes-len(cut)], "") + cut
}
