// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/fault"
	"github.com/shardyard/shardyard/internal/faulting"
	"github.com/shardyard/shardyard/internal/nodeconfig"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

// dueTimeout bounds reading the header of a question whether a fault is due.
const dueTimeout = 5 * time.Second

// faultOptions are what the pod of a fault is told.
type faultOptions struct {
	order, summary, clusterDomain string
	// admin is empty unless nodes are told of the fault.
	admin adminFiles
	// listen is where the pod says that the fault is due; empty unless the operator begins
	// the fault.
	listen string
}

// newFaultCommand is what the pod of a fault runs. It needs no rights in the cluster:
// it asks the nodes alone, and tells them of faults that they keep.
func newFaultCommand() *cobra.Command {
	var options faultOptions
	command := &cobra.Command{
		Use:   "measure-fault",
		Short: "Measure what comes of a fault, and begin and end it where nodes do as they are told",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return options.run(command) },
	}
	flags := command.Flags()
	flags.StringVar(&options.order, "fault", "", "file that holds the Fault and its ShardNetwork, as JSON")
	flags.StringVar(&options.summary, "summary", "", "file to write to, in few words, what came of it")
	flags.StringVar(&options.clusterDomain, "cluster-domain", "cluster.local", "DNS domain of the cluster")
	flags.StringVar(&options.admin.token, "admin-token", "", "file that holds the token of the nodes' admin API, for a fault that nodes keep")
	flags.StringVar(&options.admin.genesis, "genesis", "", "file that holds the genesis document of the network, for a fault that nodes keep")
	flags.StringVar(&options.admin.peers, "peers", "",
		"folder that holds the addresses and keys of all nodes of the network, for a fault that nodes keep")
	flags.StringVar(&options.listen, "listen", "",
		"address to say at that the fault is due, for a kill after which the cluster starts the validator at once")
	for _, name := range []string{"fault", "summary"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
	return command
}

func (o *faultOptions) run(command *cobra.Command) error {
	content, err := os.ReadFile(o.order)
	if err != nil {
		return err
	}
	order := &resources.FaultOrder{}
	if err := json.Unmarshal(content, order); err != nil {
		return fmt.Errorf("decode %s: %w", o.order, err)
	}
	options, err := o.faulting(order)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(command.ErrOrStderr(), nil))
	options.Progress = func(format string, args ...any) { log.Info(fmt.Sprintf(format, args...)) }
	if o.listen != "" {
		due := &dueServer{}
		if err := due.start(command.Context(), o.listen); err != nil {
			return err
		}
		defer due.close()
		options.Actor, options.Summon = bystander{}, due.summon
	}
	status, err := faulting.Run(command.Context(), options)
	if err != nil {
		return err
	}
	message, err := faulting.EncodeOutcome(status)
	if err != nil {
		return err
	}
	return os.WriteFile(o.summary, []byte(message), summaryMode)
}

// faulting says what to do to which network, but for who begins the fault if nodes are
// not told of it.
func (o *faultOptions) faulting(order *resources.FaultOrder) (*faulting.Options, error) {
	network, spec := &order.Network, &order.Fault.Spec
	plan, err := topology.New(network)
	if err != nil {
		return nil, fmt.Errorf("plan network %s: %w", network.Name, err)
	}
	scope, err := fault.Select(&spec.Validators, plan)
	if err != nil {
		return nil, err
	}
	orders, err := fault.OrdersInPods(spec, scope, plan)
	if err != nil {
		return nil, err
	}
	address := func(validator string) string {
		return resources.HTTPAddress(network, o.clusterDomain, validator, plan.Ports)
	}
	options := &faulting.Options{Spec: spec, Plan: plan, Scope: scope, Orders: orders, Address: address}
	switch kept := fault.PartInPod(spec) != ""; {
	case kept:
		if o.admin.token == "" || o.admin.genesis == "" || o.admin.peers == "" {
			return nil, fmt.Errorf("action %s needs --admin-token, --genesis and --peers: nodes are told of it", spec.Action)
		}
		told := make([]string, len(orders))
		for i := range orders {
			told[i] = orders[i].Node
		}
		admin, err := readAdmin(o.admin, told)
		if err != nil {
			return nil, err
		}
		options.Actor = &faulting.Nodes{Client: func(validator string) *chain.Client {
			return chain.NewClient(address(validator), admin(resources.AdminAddress(network, o.clusterDomain, validator, plan.Ports), validator))
		}}
	case o.listen == "":
		return nil, fmt.Errorf("action %s needs --listen: the operator begins it", spec.Action)
	}
	return options, nil
}

// adminFiles say how the admin API of nodes is reached.
type adminFiles struct {
	// token and genesis are files.
	token, genesis string
	// peers is the folder of the document that says by which keys those are known that the
	// genesis document does not name; empty where only producers are told something.
	peers string
}

// readAdmin reads how the admin API of nodes is reached: by its token, of each node that
// holds the key that it is known by. All that are to be told something must be known.
func readAdmin(files adminFiles, told []string) (func(address, node string) chain.Admin, error) {
	token, err := os.ReadFile(files.token)
	if err != nil {
		return nil, fmt.Errorf("read the token of the admin API: %w", err)
	}
	document, err := os.ReadFile(files.genesis)
	if err != nil {
		return nil, fmt.Errorf("read the genesis document: %w", err)
	}
	peers, err := readPeers(files.peers)
	if err != nil {
		return nil, err
	}
	publicKeys, err := nodeconfig.NodeKeys(document, peers...)
	if err != nil {
		return nil, fmt.Errorf("learn by which keys nodes are known: %w", err)
	}
	for _, node := range told {
		if publicKeys[node] == nil {
			return nil, fmt.Errorf("no document says by which key %s is known, and it is to be told something", node)
		}
	}
	return func(address, node string) chain.Admin {
		return chain.Admin{Address: address, PublicKey: publicKeys[node], Token: string(bytes.TrimSpace(token))}
	}, nil
}

// readPeers reads the documents of the addresses of all nodes in a folder.
func readPeers(folder string) ([][]byte, error) {
	if folder == "" {
		return nil, nil
	}
	paths, err := filepath.Glob(filepath.Join(folder, "*.json"))
	if err != nil {
		return nil, fmt.Errorf("find the peers: %w", err)
	}
	documents := make([][]byte, len(paths))
	for i, path := range paths {
		if documents[i], err = os.ReadFile(path); err != nil {
			return nil, fmt.Errorf("read the peers: %w", err)
		}
	}
	return documents, nil
}

// bystander is the Actor of a fault that the operator begins, and that ends by itself.
type bystander struct{}

func (bystander) Strike(context.Context, []string, *v1alpha1.FaultSpec, []fault.Order) error {
	return nil
}

func (bystander) Lift(context.Context, []string) error { return nil }

// dueServer says whether the operator is to begin a fault now.
type dueServer struct {
	due    atomic.Bool
	server http.Server
}

func (s *dueServer) start(ctx context.Context, address string) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	s.serve(listener)
	return nil
}

func (s *dueServer) serve(listener net.Listener) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+resources.PathDue, func(response http.ResponseWriter, _ *http.Request) {
		if !s.due.Load() {
			response.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	s.server.Handler, s.server.ReadHeaderTimeout = mux, dueTimeout
	go func() { _ = s.server.Serve(listener) }()
}

// summon has the fault be due until dismissed.
func (s *dueServer) summon() (dismiss func()) {
	s.due.Store(true)
	return func() { s.due.Store(false) }
}

func (s *dueServer) close() { _ = s.server.Close() }
