// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"fmt"
	"os"

	"github.com/shardyard/shardyard/internal/clients"
	"github.com/shardyard/shardyard/internal/loading"
	"github.com/shardyard/shardyard/internal/local/console"
	"github.com/shardyard/shardyard/internal/local/processes"
	"github.com/shardyard/shardyard/internal/local/statedir"
	"github.com/shardyard/shardyard/internal/local/supervision"
	"github.com/shardyard/shardyard/internal/topology"
)

// launcher runs loaders as processes beside the network.
type launcher struct {
	shardnode string
	dir       statedir.NetworkDir
	console   *console.Console
}

// newClients are the users of a network's load; nil if it has none.
func newClients(network *network, group *supervision.Group, load *loading.Load, options RecordOptions) *clients.Clients {
	if load.Users == nil {
		return nil
	}
	beside := &launcher{shardnode: options.Shardnode, dir: network.Dir, console: group.Console}
	return clients.New(clients.Options{
		Load:     load.Users,
		Workload: load.Workload,
		WarmUp:   options.WarmUp,
		Duration: options.Duration,
		Nodes:    clientNodes(group.Supervisors),
		Accounts: int64(network.Genesis.Shards) * int64(network.Genesis.Accounts.PerShard),
		Launch:   beside.launch,
		Say:      func(words string) { group.Console.Printf("clients: %s", words) },
	})
}

// clientNodes are the addresses that clients of a network talk to: those of its rpc
// nodes, or of its producers if it has none.
func clientNodes(supervisors []*supervision.Supervisor) []string {
	for _, role := range []topology.Role{topology.RoleRPC, topology.RoleProducer} {
		var nodes []string
		for _, supervisor := range supervisors {
			if supervisor.Node.Validator.Role == role {
				nodes = append(nodes, "http://"+supervisor.Node.HTTP.Address())
			}
		}
		if len(nodes) > 0 {
			return nodes
		}
	}
	return nil
}

// launch runs the loader of a step to its end. It is stopped when the context is done.
func (l *launcher) launch(ctx context.Context, number int, step *clients.Step) ([]byte, error) {
	if err := os.MkdirAll(l.dir.Clients(), statedir.DirMode); err != nil {
		return nil, err
	}
	report, log := l.dir.LoaderReport(number), l.dir.LoaderLog(number)
	process, err := processes.Start(l.shardnode, append(step.Arguments(l.dir.Genesis()), "--report", report), log)
	if err != nil {
		return nil, err
	}
	select {
	case <-process.Ended:
	case <-ctx.Done():
		process.Stop(supervision.StopGrace)
		return nil, ctx.Err()
	}
	if code := process.ExitCode(); code != 0 {
		l.console.Settle()
		l.console.PrintLogTail(log)
		return nil, fmt.Errorf("ended with an error: %s%s", process.End(), lastLine(log))
	}
	content, err := os.ReadFile(report)
	if err != nil {
		return nil, fmt.Errorf("ended without a result: %w", err)
	}
	return content, nil
}

// lastLine is the end of a log, to be said after how a process ended.
func lastLine(log string) string {
	lines, err := console.Tail(log)
	if err != nil || len(lines) == 0 {
		return ""
	}
	return ": " + lines[len(lines)-1]
}
