// SPDX-License-Identifier: Apache-2.0

package page

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/shardyard/shardyard/dashboards"
	"github.com/shardyard/shardyard/internal/local/explorer"
	"github.com/shardyard/shardyard/internal/local/metrics"
	"github.com/shardyard/shardyard/internal/local/standing"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/local/traces"
	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// Auto has the page served at ownAddress or, if that is taken, at any
	// free port of the loopback interface.
	Auto = "auto"
	// Off has no page served, and the nodes not scraped.
	Off = "off"

	ownAddress = "127.0.0.1:9600"
)

const (
	// connections is how many connections are open at a time: a browser has six.
	connections = 64

	// What a browser that hangs costs is bounded: until it has asked, until it has
	// its answer, for which the metrics take up to 20 s, and until it asks again.
	readTimeout  = 5 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = time.Minute
)

// Options say where and how what happens on a network can be seen.
type Options struct {
	// Address is Auto, Off or HOST:PORT; empty is Off.
	Address string
	// ScrapeInterval is how often the nodes are asked for their metrics.
	ScrapeInterval time.Duration
}

// Page serves what happens on a network: the page itself, the metrics that it
// draws, and the state of the nodes.
type Page struct {
	listener net.Listener
	options  Options
}

// Listen takes the address of the page; nil if there is none.
func Listen(ctx context.Context, options Options) (*Page, error) {
	var listener net.Listener
	var err error
	switch options.Address {
	case "", Off:
		return nil, nil
	case Auto:
		if listener, err = listen(ctx, ownAddress); err != nil {
			listener, err = listen(ctx, "127.0.0.1:0")
		}
	default:
		listener, err = listen(ctx, options.Address)
	}
	if err != nil {
		return nil, fmt.Errorf("serve the page: %w", err)
	}
	return &Page{listener, options}, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// URL is where a browser finds the page; empty if there is none.
func (p *Page) URL() string {
	if p == nil {
		return ""
	}
	return "http://" + p.listener.Addr().String()
}

// Close gives up the address.
func (p *Page) Close() error {
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the page: %w", err)
	}
	return nil
}

// Show begins to serve the page of a group, if there is one, with the spans of its newest
// blocks, nil if none are kept. The function that it returns ends that. A network runs
// even if it cannot be seen.
func (p *Page) Show(ctx context.Context, network *statedir.Network, group *supervision.Group, spans *traces.Recent) (hide func()) {
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var showing sync.WaitGroup
	showing.Go(func() {
		if err := p.serve(ctx, network, group, spans); err != nil {
			group.Console.Printf("there is no page: %v", errors.Join(err, p.Close()))
		}
	})
	return func() {
		cancel()
		showing.Wait()
	}
}

// serve serves the page of a group, and scrapes its nodes, until the context is
// done. It returns when nothing of that is left.
func (p *Page) serve(ctx context.Context, network *statedir.Network, group *supervision.Group, spans *traces.Recent) (err error) {
	store, err := metrics.OpenStore(network.Dir.Metrics())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	scraper, err := metrics.StartScraper(ctx, store, targets(network.Manifest.Name, group.Supervisors), p.options.ScrapeInterval)
	if err != nil {
		return err
	}
	defer scraper.Stop()

	verifier, err := network.Verifier()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	census := &census{network: network.Manifest, interval: p.options.ScrapeInterval, supervisors: group.Supervisors}
	mux.HandleFunc("GET /network", census.serveNetwork)
	mux.Handle("GET /chain/", http.StripPrefix("/chain", explorer.Chain{
		Shards:   network.Genesis.Shards,
		Seed:     network.Genesis.Seed,
		Accounts: uint64(network.Genesis.Shards) * uint64(network.Genesis.Accounts.PerShard),
		Verifier: verifier,
		Newest:   census.newestNode,
	}.Handler()))
	mux.Handle("GET /traces/", http.StripPrefix("/traces", spans.Handler()))
	mux.Handle("GET /standing", standingOf(network, census, store, spans))
	mux.Handle("POST /profile", (&profiler{group.Supervisors}).handler(p.listener.Addr()))
	answers := metrics.Handler(store)
	mux.Handle("GET /api/v1/", answers)
	mux.Handle("POST /api/v1/", answers)
	mux.Handle("GET /dashboards/", http.StripPrefix("/dashboards/", http.FileServerFS(dashboards.Definitions)))
	mux.Handle("GET /", http.FileServerFS(dashboards.Page()))
	return p.answer(ctx, mux)
}

// answer answers those who ask, until the context is done.
func (p *Page) answer(ctx context.Context, handler http.Handler) error {
	server := &http.Server{
		Handler:      onlyFor(p.listener.Addr(), handler),
		ReadTimeout:  readTimeout,
		WriteTimeout: writeTimeout,
		IdleTimeout:  idleTimeout,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(netutil.LimitListener(p.listener, connections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// standingOf compares the validators of a network.
func standingOf(network *statedir.Network, census *census, store *metrics.Store, spans *traces.Recent) *standing.Network {
	return &standing.Network{
		Validators: network.Plan.Nodes,
		Links:      network.Plan.Links,
		Traces:     spans,
		Executed: func(ctx context.Context, window time.Duration) (map[string]trace.Mean, error) {
			return store.Means(ctx, network.Manifest.Name, "shardnode_execution_seconds", window)
		},
		Finalized: census.finalized,
		Newest:    census.newestNode,
	}
}

// targets are the nodes of a network as what scrapes them sees them.
func targets(network string, supervisors []*supervision.Supervisor) []metrics.Target {
	targets := make([]metrics.Target, 0, len(supervisors))
	for _, supervisor := range supervisors {
		validator := supervisor.Node.Validator
		targets = append(targets, metrics.Target{
			Address: supervisor.Node.HTTP.Address(), Network: network, Region: validator.Region, Node: validator.Name,
		})
	}
	return targets
}

// onlyFor refuses requests that a page of another site has a browser make to an
// address of this machine: these are for another host.
func onlyFor(address net.Addr, handler http.Handler) http.Handler {
	tcp, ok := address.(*net.TCPAddr)
	if !ok || !tcp.IP.IsLoopback() {
		return handler
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := r.Host
		if name, _, err := net.SplitHostPort(host); err == nil {
			host = name
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "this address is for this machine alone", http.StatusForbidden)
			return
		}
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Cache-Control", "no-cache")
		handler.ServeHTTP(w, r)
	})
}
