// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/bench/summary"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/recording"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/topology"
)

const summaryMode os.FileMode = 0o644

// benchmarkPod is what the pods of a benchmark are told.
type benchmarkPod struct {
	benchmark, records, summary string
}

func (p *benchmarkPod) addFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&p.benchmark, "benchmark", "", "file that holds the Benchmark, as JSON")
	flags.StringVar(&p.records, "records", "", "folder of the records of its runs")
	flags.StringVar(&p.summary, "summary", "", "file to write to, in few words, what came out")
	for _, name := range []string{"benchmark", "records", "summary"} {
		if err := command.MarkFlagRequired(name); err != nil {
			panic(err)
		}
	}
}

func (p *benchmarkPod) read() (*v1alpha1.Benchmark, error) {
	content, err := os.ReadFile(p.benchmark)
	if err != nil {
		return nil, err
	}
	benchmark := &v1alpha1.Benchmark{}
	if err := json.Unmarshal(content, benchmark); err != nil {
		return nil, fmt.Errorf("decode %s: %w", p.benchmark, err)
	}
	return benchmark, nil
}

func (p *benchmarkPod) write(message string) error {
	return os.WriteFile(p.summary, []byte(message), summaryMode)
}

// recordOptions are what a recorder is told besides.
type recordOptions struct {
	benchmarkPod

	number        int
	clusterDomain string
	nodeImage     recording.NodeImage
	// machines are those that the nodes are on, as JSON; empty is not known.
	machines string
	// adminToken and genesis are files; empty when somebody else tells the nodes their
	// load.
	adminToken, genesis string
	// loader is the socket at which loaders are asked for; empty when producers sign the
	// load.
	loader string
	// network is the file of the network that the benchmark names; empty when it names
	// none.
	network  string
	patience time.Duration
}

// newRecordCommand is what the recorder of a run runs. It needs no rights in the
// cluster: it asks the nodes alone, and tells them their load where it steers that.
func newRecordCommand() *cobra.Command {
	var options recordOptions
	command := &cobra.Command{
		Use:   "record-run",
		Short: "Record a run of a benchmark: its network from before its load until the measurement is complete",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return options.record(command) },
	}
	options.addFlags(command)
	flags := command.Flags()
	flags.IntVar(&options.number, "run", 0, "number of the run, from 1")
	flags.StringVar(&options.clusterDomain, "cluster-domain", "cluster.local", "DNS domain of the cluster")
	flags.StringVar(&options.nodeImage.Name, "node-image", "", "image of the network's nodes, for the record")
	flags.StringVar(&options.nodeImage.ID, "node-image-id", "", "what the name of that image came to on their machines, for the record")
	flags.StringVar(&options.machines, "machines", "", "machines that the nodes are on, as JSON, for the record")
	flags.StringVar(&options.adminToken, "admin-token", "",
		"file that holds the token of the nodes' admin API, where the recorder tells the nodes their load")
	flags.StringVar(&options.genesis, "genesis", "",
		"file that holds the genesis document of the network, where the recorder tells the nodes their load")
	flags.StringVar(&options.network, "network", "", "file that holds the ShardNetwork, as JSON, of a benchmark that names one")
	flags.StringVar(&options.loader, "loader", "", "socket at which to ask for loaders, where users send the load")
	flags.DurationVar(&options.patience, "patience", 5*time.Minute,
		"how long the load may take to begin, and longer than its steps to reach the last one")
	if err := command.MarkFlagRequired("run"); err != nil {
		panic(err)
	}
	return command
}

func (o *recordOptions) record(command *cobra.Command) error {
	limitMemory(newLog(command, slog.LevelInfo))
	benchmark, err := o.read()
	if err != nil {
		return err
	}
	runs := bench.Runs(&benchmark.Spec)
	if o.number < 1 || o.number > len(runs) {
		return fmt.Errorf("--run: there is no run %d of %d", o.number, len(runs))
	}
	run := runs[o.number-1]
	machines, err := o.readMachines()
	if err != nil {
		return err
	}
	options, err := recordingOptions(benchmark, run, o, command.ErrOrStderr())
	if err != nil {
		return err
	}
	if options.Steering != nil && options.Steering.InUse {
		if err := recording.Begin(o.records, run); err != nil {
			return err
		}
	}
	recorded, err := recording.Record(command.Context(), options)
	if err != nil {
		return err
	}
	recorded.Variant, recorded.Repetition, recorded.Machines = run.VariantName, run.Repetition, machines
	if err := recording.Write(o.records, benchmark.UID, o.nodeImage, recorded); err != nil {
		return err
	}
	message, err := summary.Encode(summary.OfRun(recorded))
	if err != nil {
		return err
	}
	return o.write(message)
}

// readMachines reads the machines that the nodes are on; nil when they are not known.
func (o *recordOptions) readMachines() ([]result.Machines, error) {
	if o.machines == "" {
		return nil, nil
	}
	var machines []result.Machines
	if err := json.Unmarshal([]byte(o.machines), &machines); err != nil {
		return nil, fmt.Errorf("--machines: %w", err)
	}
	return machines, nil
}

// recordingOptions say what to record of a run.
func recordingOptions(benchmark *v1alpha1.Benchmark, run bench.PlannedRun, o *recordOptions, log io.Writer) (*recording.Options, error) {
	network, err := networkOf(benchmark, run, o.network)
	if err != nil {
		return nil, err
	}
	plan, err := topology.New(network)
	if err != nil {
		return nil, fmt.Errorf("plan network %s: %w", network.Name, err)
	}
	warmUp, duration := bench.Measured(&benchmark.Spec)
	load, err := loading.NewRun(&benchmark.Spec.Load, warmUp, duration)
	if err != nil {
		return nil, err
	}
	var steering *recording.Steering
	if resources.Steered(benchmark) {
		if steering, err = o.steering(load, network, plan); err != nil {
			return nil, err
		}
		steering.InUse = benchmark.Spec.Network.Name != ""
	}
	made := &recording.Options{
		Validators: plan.Nodes,
		Address: func(validator string) string {
			return resources.HTTPAddress(network, o.clusterDomain, validator, plan.Ports)
		},
		Schedule: load.Schedule,
		Steering: steering,
		WarmUp:   warmUp,
		Duration: duration,
		Patience: o.patience,
		Log:      slog.New(slog.NewJSONHandler(log, nil)),
	}
	if load.Users != nil {
		made.Users, err = o.users(load, network, made)
	}
	return made, err
}

// users are who sends the load of a run: to its rpc nodes, each at its own address, by
// a loader in another container.
func (o *recordOptions) users(
	load *loading.Load, network *v1alpha1.ShardNetwork, made *recording.Options,
) (*recording.Users, error) {
	if o.loader == "" {
		return nil, errors.New("users send the load, and the recorder needs --loader")
	}
	var nodes []string
	for _, validator := range made.Validators {
		if validator.Role == topology.RoleRPC {
			nodes = append(nodes, "http://"+made.Address(validator.Name))
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("users talk to rpc nodes, and the network %s has none", network.Name)
	}
	loader := clients.NewRemote(o.loader)
	return &recording.Users{
		Clients: clients.New(clients.Options{
			Load: load.Users, Workload: load.Workload, WarmUp: made.WarmUp, Duration: made.Duration, Nodes: nodes,
			Accounts: int64(network.Spec.Shards) * int64(network.Spec.Genesis.AccountsPerShard),
			Launch: func(ctx context.Context, _ int, step *clients.Step) ([]byte, error) {
				return loader.Run(ctx, step)
			},
			Say: func(words string) { made.Log.Info("clients", "say", words) },
		}),
		Ready: loader.Ready,
	}, nil
}

// networkOf is the network of a run: one that was made for it, or the one that the
// benchmark names, from the file that says what it is.
func networkOf(benchmark *v1alpha1.Benchmark, run bench.PlannedRun, path string) (*v1alpha1.ShardNetwork, error) {
	if benchmark.Spec.Network.Name == "" {
		return &v1alpha1.ShardNetwork{
			ObjectMeta: metav1.ObjectMeta{Namespace: benchmark.Namespace, Name: benchmark.Name},
			Spec:       bench.NetworkSpec(&benchmark.Spec, run.Variant),
		}, nil
	}
	return readNetwork(benchmark, path)
}

// readNetwork reads the network that a benchmark names.
func readNetwork(benchmark *v1alpha1.Benchmark, path string) (*v1alpha1.ShardNetwork, error) {
	wanted := benchmark.Spec.Network.Name
	if path == "" {
		return nil, fmt.Errorf("the benchmark names the network %s, and needs --network", wanted)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the network: %w", err)
	}
	network := &v1alpha1.ShardNetwork{}
	if err := json.Unmarshal(content, network); err != nil {
		return nil, fmt.Errorf("decode %s: %w", path, err)
	}
	if network.Name != wanted || network.Namespace != benchmark.Namespace {
		return nil, fmt.Errorf("%s holds the network %s/%s, and the benchmark names %s/%s",
			path, network.Namespace, network.Name, benchmark.Namespace, wanted)
	}
	return network, nil
}

// steering is how the producers of a run are told a load: by the token of their admin
// API, each if it holds the key that the genesis document names.
func (o *recordOptions) steering(
	load *loading.Load, network *v1alpha1.ShardNetwork, plan *topology.Plan,
) (*recording.Steering, error) {
	if o.adminToken == "" || o.genesis == "" {
		return nil, errors.New("the recorder tells the nodes their load, and needs --admin-token and --genesis")
	}
	var producers []string
	for i := range plan.Nodes {
		// Nobody else signs transfers.
		if plan.Nodes[i].Role == topology.RoleProducer {
			producers = append(producers, plan.Nodes[i].Name)
		}
	}
	admin, err := readAdmin(adminFiles{token: o.adminToken, genesis: o.genesis}, producers)
	if err != nil {
		return nil, err
	}
	return &recording.Steering{
		Load: load,
		Admin: func(validator string) chain.Admin {
			return admin(resources.AdminAddress(network, o.clusterDomain, validator, plan.Ports), validator)
		},
	}, nil
}
