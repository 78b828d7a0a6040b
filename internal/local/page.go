// SPDX-License-Identifier: Apache-2.0

package local

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
	"github.com/shardyard/shardyard/internal/trace"
)

const (
	// PageAuto has the page served at pageAddress or, if that is taken, at any
	// free port of the loopback interface.
	PageAuto = "auto"
	// PageOff has no page served, and the nodes not scraped.
	PageOff = "off"

	pageAddress = "127.0.0.1:9600"
)

const (
	// pageConnections is how many connections are open at a time: a browser has six.
	pageConnections = 64

	// What a browser that hangs costs is bounded: until it has asked, until it has
	// its answer, for which the metrics take up to 20 s, and until it asks again.
	pageReadTimeout  = 5 * time.Second
	pageWriteTimeout = 30 * time.Second
	pageIdleTimeout  = time.Minute
)

// PageOptions say where and how what happens on a network can be seen.
type PageOptions struct {
	// Address is PageAuto, PageOff or HOST:PORT; empty is PageOff.
	Address string
	// ScrapeInterval is how often the nodes are asked for their metrics.
	ScrapeInterval time.Duration
}

// page serves what happens on a network: the page itself, the metrics that it
// draws, and the state of the nodes.
type page struct {
	listener net.Listener
	options  PageOptions
}

// listenPage takes the address of the page; nil if there is none.
func listenPage(ctx context.Context, options PageOptions) (*page, error) {
	var listener net.Listener
	var err error
	switch options.Address {
	case "", PageOff:
		return nil, nil
	case PageAuto:
		if listener, err = listen(ctx, pageAddress); err != nil {
			listener, err = listen(ctx, "127.0.0.1:0")
		}
	default:
		listener, err = listen(ctx, options.Address)
	}
	if err != nil {
		return nil, fmt.Errorf("serve the page: %w", err)
	}
	return &page{listener, options}, nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", address)
}

// url is where a browser finds the page; empty if there is none.
func (p *page) url() string {
	if p == nil {
		return ""
	}
	return "http://" + p.listener.Addr().String()
}

// close gives up the address.
func (p *page) close() error {
	if err := p.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("close the page: %w", err)
	}
	return nil
}

// show begins to serve the page of a group, if there is one. The function that it
// returns ends that. A network runs even if it cannot be seen.
func (p *page) show(ctx context.Context, network *network, group *group) (hide func()) {
	if p == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	var showing sync.WaitGroup
	showing.Go(func() {
		if err := p.serve(ctx, network, group); err != nil {
			group.console.Printf("there is no page: %v", errors.Join(err, p.close()))
		}
	})
	return func() {
		cancel()
		showing.Wait()
	}
}

// serve serves the page of a group, and scrapes its nodes, until the context is
// done. It returns when nothing of that is left.
func (p *page) serve(ctx context.Context, network *network, group *group) (err error) {
	store, err := metrics.OpenStore(network.Dir.Metrics())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	scraper, err := metrics.StartScraper(ctx, store, group.targets(network.Manifest.Name), p.options.ScrapeInterval)
	if err != nil {
		return err
	}
	defer scraper.Stop()

	verifier, err := network.Verifier()
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	census := &census{network: network.Manifest, interval: p.options.ScrapeInterval, supervisors: group.supervisors}
	mux.HandleFunc("GET /network", census.serveNetwork)
	mux.Handle("GET /chain/", http.StripPrefix("/chain", explorer.Chain{
		Shards:   network.Genesis.Shards,
		Seed:     network.Genesis.Seed,
		Accounts: uint64(network.Genesis.Shards) * uint64(network.Genesis.Accounts.PerShard),
		Verifier: verifier,
		Newest:   census.newestNode,
	}.Handler()))
	mux.Handle("GET /traces/", http.StripPrefix("/traces", network.spans.traces().Handler()))
	mux.Handle("GET /standing", network.standing(census, store))
	mux.Handle("POST /profile", (&profiler{group.supervisors}).handler(p.listener.Addr()))
	answers := metrics.Handler(store)
	mux.Handle("GET /api/v1/", answers)
	mux.Handle("POST /api/v1/", answers)
	mux.Handle("GET /dashboards/", http.StripPrefix("/dashboards/", http.FileServerFS(dashboards.Definitions)))
	mux.Handle("GET /", http.FileServerFS(dashboards.Page()))
	return p.answer(ctx, mux)
}

// answer answers those who ask, until the context is done.
func (p *page) answer(ctx context.Context, handler http.Handler) error {
	server := &http.Server{
		Handler:      onlyFor(p.listener.Addr(), handler),
		ReadTimeout:  pageReadTimeout,
		WriteTimeout: pageWriteTimeout,
		IdleTimeout:  pageIdleTimeout,
	}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.Serve(netutil.LimitListener(p.listener, pageConnections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the page: %w", err)
	}
	return nil
}

// standing compares the validators of a network.
func (n *network) standing(census *census, store *metrics.Store) *standing.Network {
	return &standing.Network{
		Validators: n.Plan.Nodes,
		Links:      n.Plan.Links,
		Traces:     n.spans.traces(),
		Executed: func(ctx context.Context, window time.Duration) (map[string]trace.Mean, error) {
			return store.Means(ctx, n.Manifest.Name, "shardnode_execution_seconds", window)
		},
		Finalized: census.finalized,
		Newest:    census.newestNode,
	}
}

// targets are the nodes of a group as what scrapes them sees them.
func (g *group) targets(network string) []metrics.Target {
	targets := make([]metrics.Target, 0, len(g.supervisors))
	for _, supervisor := range g.supervisors {
		validator := supervisor.node.Validator
		targets = append(targets, metrics.Target{
			Address: supervisor.node.HTTP.Address(), Network: network, Region: validator.Region, Node: validator.Name,
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
