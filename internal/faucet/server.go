// SPDX-License-Identifier: Apache-2.0

package faucet

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/shardyard/shardyard/internal/account"
)

const (
	// maxWaiting are the requests that wait for those before them. A payment takes a few
	// blocks.
	maxWaiting = 16
	// maxRequestBytes bound a request's body.
	maxRequestBytes = 1 << 10
)

//go:embed page.html
var page []byte

// Payment is what somebody was paid.
type Payment struct {
	Hash    string `json:"hash"`
	Account string `json:"account"`
	Amount  uint64 `json:"amount"`
	Height  uint64 `json:"height"`
}

// Pay pays an account, and returns when a final block says so. An error that is no
// ErrNotPaid leaves open whether it did.
type Pay func(ctx context.Context, to account.ID) (*Payment, error)

// ErrNotPaid is what an error is where nothing was paid, and nothing will be.
var ErrNotPaid = errors.New("nothing was paid")

// Server is a faucet.
type Server struct {
	pay    Pay
	ledger *ledger
	log    *slog.Logger
	now    func() time.Time
	// turns has a place for each request that waits or is paid, and turn for that one.
	turns, turn chan struct{}
}

// New is a faucet that pays by pay, within limits.
func New(pay Pay, limits Limits, log *slog.Logger) *Server {
	return &Server{
		pay: pay, ledger: newLedger(limits), log: log, now: time.Now,
		turns: make(chan struct{}, maxWaiting+1), turn: make(chan struct{}, 1),
	}
}

func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/":
		http.NotFound(w, r)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'")
		_, _ = w.Write(page)
	case r.Method == http.MethodPost:
		s.answer(w, r)
	default:
		w.Header().Set("Allow", "GET, HEAD, POST")
		refuse(w, http.StatusMethodNotAllowed, errors.New("GET or POST"))
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Account string `json:"account"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequestBytes)).Decode(&asked); err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("want {\"account\": \"64 hex digits\"}: %w", err))
		return
	}
	to, err := account.ParseID(asked.Account)
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("account: %w", err))
		return
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		refuse(w, http.StatusBadRequest, errors.New("it is not known who asks"))
		return
	}
	select {
	case s.turns <- struct{}{}:
		defer func() { <-s.turns }()
	default:
		w.Header().Set("Retry-After", "10")
		refuse(w, http.StatusServiceUnavailable, fmt.Errorf("%d others wait", maxWaiting))
		return
	}
	names := []string{"account " + to.String(), "address " + host}
	at := s.now()
	if wait := s.ledger.take(at, names...); wait > 0 {
		seconds := int64((wait + time.Second - 1) / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
		refuse(w, http.StatusTooManyRequests, fmt.Errorf("paid not long ago: come again in %s", time.Duration(seconds)*time.Second))
		return
	}
	paid, err := s.payInTurn(r.Context(), to)
	if errors.Is(err, ErrNotPaid) {
		s.ledger.giveBack(at, names...)
	}
	if err != nil {
		s.log.Warn("not known to be paid", "account", to.String(), "error", err)
		refuse(w, http.StatusBadGateway, err)
		return
	}
	s.log.Info("paid", "account", paid.Account, "amount", paid.Amount, "height", paid.Height, "hash", paid.Hash)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(paid)
}

// payInTurn pays when those are paid who asked before.
func (s *Server) payInTurn(ctx context.Context, to account.ID) (*Payment, error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrNotPaid, context.Cause(ctx))
	}
	// Who goes away meanwhile is paid all the same.
	return s.pay(context.WithoutCancel(ctx), to)
}

// refuse says why there is no payment.
func refuse(w http.ResponseWriter, status int, why error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": why.Error()})
}
