// SPDX-License-Identifier: Apache-2.0

package standin

import (
	"cmp"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// maxRate is the highest load that a node accepts.
	maxRate = 1_000_000
	// distribution is how senders and receivers are drawn by default.
	distribution = "ZipfMandelbrot"
	// maxBodyBytes is the longest body that a node accepts.
	maxBodyBytes = 64 << 10
	// unavailable is the code of an answer about a block that is not final yet.
	unavailable = -32003
)

// signed counts what a generator signs. The zero value has signed nothing.
type signed struct {
	lock  sync.Mutex
	count float64
	rate  int64
	since time.Time
}

func (s *signed) follow(rate int64, now time.Time) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.count += float64(s.rate) * now.Sub(s.since).Seconds()
	s.rate, s.since = rate, now
}

func (s *signed) until(now time.Time) uint64 {
	s.lock.Lock()
	defer s.lock.Unlock()
	return uint64(s.count + float64(s.rate)*now.Sub(s.since).Seconds())
}

// api is the HTTP API and the admin API of a node.
type api struct {
	*node
	network *network
	rate    atomic.Int64
	signed  signed
	// target is what the generator was told last; nil until it is told something.
	target atomic.Pointer[chain.LoadTarget]
	// stock are the transfers that it signed before; nil without any. They are signed at
	// once, and not used up.
	stock atomic.Pointer[chain.Stock]
	// lacking is what the node's copy of its shard lacks; nil for a complete one.
	lacking atomic.Pointer[string]
	now     func() time.Time
}

func (a *api) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /readyz", func(response http.ResponseWriter, _ *http.Request) {
		readiness := a.readiness(a.network.at(a.now()))
		code := http.StatusOK
		if !readiness.Ready {
			code = http.StatusServiceUnavailable
		}
		answer(response, code, readiness)
	})
	mux.HandleFunc("GET /status", func(response http.ResponseWriter, _ *http.Request) {
		status := a.status(a.network.at(a.now()), a.load())
		if lacking := a.lacking.Load(); lacking != nil && status.Copy != nil {
			status.Copy = &chain.CopyStatus{Missing: []string{*lacking}}
		}
		answer(response, http.StatusOK, status)
	})
	mux.HandleFunc("POST /rpc", a.blockGet)
	return mux
}

// blockGet answers the one method that whoever records a chain needs.
func (a *api) blockGet(response http.ResponseWriter, request *http.Request) {
	var call struct {
		Method string `json:"method"`
		Params struct {
			Height uint64 `json:"height"`
		} `json:"params"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(response, request.Body, maxBodyBytes)).Decode(&call); err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	block, ok := a.network.block(call.Params.Height, a.now())
	if call.Method != "block_get" || !ok {
		answer(response, http.StatusOK, map[string]any{"error": chain.RPCError{Code: unavailable, Message: "there is no such block"}})
		return
	}
	answer(response, http.StatusOK, map[string]any{"result": block})
}

// adminHandler serves what only the token opens.
func (a *api) adminHandler() http.Handler {
	mux := http.NewServeMux()
	if a.place().Seat == nil {
		// Only producers have a generator.
		return mux
	}
	mux.HandleFunc("GET /admin/load", a.admin(func(response http.ResponseWriter, _ *http.Request) {
		answer(response, http.StatusOK, a.load())
	}))
	mux.HandleFunc("PUT /admin/load", a.admin(a.putLoad))
	return mux
}

// lack has the node say that its copy of its shard lacks something; nothing for a
// complete one.
func (a *api) lack(what string) {
	if what == "" {
		a.lacking.Store(nil)
		return
	}
	a.lacking.Store(&what)
}

// admin lets only those pass who know the token.
func (a *api) admin(next http.HandlerFunc) http.HandlerFunc {
	return func(response http.ResponseWriter, request *http.Request) {
		if request.Header.Get("Authorization") != "Bearer "+a.adminToken {
			refuse(response, http.StatusUnauthorized, "the admin API needs the bearer token")
			return
		}
		next(response, request)
	}
}

func (a *api) load() chain.Load {
	load := chain.Load{TransfersPerSecond: a.rate.Load(), Signed: a.signed.until(a.now()), Stock: a.stock.Load()}
	if target := a.target.Load(); target != nil {
		load.Workload, load.Signing = target.Workload, target.Signing
	}
	load.Signing = cmp.Or(load.Signing, chain.SigningLive)
	load.Workload.Senders = cmp.Or(load.Workload.Senders, distribution)
	load.Workload.Receivers = cmp.Or(load.Workload.Receivers, distribution)
	return load
}

func (a *api) putLoad(response http.ResponseWriter, request *http.Request) {
	var load chain.LoadTarget
	if request.Header.Get("Content-Type") != "application/json" {
		refuse(response, http.StatusUnsupportedMediaType, "the body must be application/json")
		return
	}
	if err := json.NewDecoder(http.MaxBytesReader(response, request.Body, maxBodyBytes)).Decode(&load); err != nil {
		refuse(response, http.StatusBadRequest, err.Error())
		return
	}
	if load.TransfersPerSecond < 0 || load.TransfersPerSecond > maxRate {
		refuse(response, http.StatusBadRequest, "transfersPerSecond must be from 0 to 1000000")
		return
	}
	a.rate.Store(load.TransfersPerSecond)
	a.signed.follow(load.TransfersPerSecond, a.now())
	a.target.Store(&load)
	switch {
	case load.Signing != chain.SigningBefore:
		a.stock.Store(nil)
	case load.Stock > 0:
		a.stock.Store(&chain.Stock{Transfers: load.Stock, Signed: load.Stock, Left: load.Stock})
	}
	a.network.setRate(a.config.Node, load.TransfersPerSecond, a.now())
	answer(response, http.StatusOK, a.load())
}

func answer(response http.ResponseWriter, code int, body any) {
	response.Header().Set("Content-Type", "application/json")
	response.WriteHeader(code)
	// Whoever hung up needs no answer.
	_ = json.NewEncoder(response).Encode(body)
}

func refuse(response http.ResponseWriter, code int, message string) {
	answer(response, code, map[string]string{"error": message})
}
