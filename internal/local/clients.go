// SPDX-License-Identifier: Apache-2.0

package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/bench/openloop"
	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

const (
	// connectionsPerNode are what a loader has to each node: as many as keep it busy
	// that answers within a twentieth of a second, and by far not all places that it
	// has for one address. Who records a run asks nodes from the same one.
	connectionsPerNode = 48
	// maxConnections are the most that a loader makes.
	maxConnections = 1000

	// A loader starts and derives the accounts of the network before it begins, in so
	// long and this many in a second at worst. One that is not ready by then says so.
	loaderLead        = 10 * time.Second
	accountsPerSecond = 10_000

	// drainPatience is how long a loader waits while nothing more becomes known, and
	// mostDraining how long it may take at the end in all.
	drainPatience = 10 * time.Second
	mostDraining  = 3 * time.Minute
)

// clients are the users of an open loop. For each step, a process beside the network
// sends for them.
type clients struct {
	load           *v1alpha1.OpenLoopLoad
	workload       chain.Workload
	warmUp, length time.Duration
	shardnode      string
	dir            networkDir
	// nodes are the addresses of the HTTP APIs that clients talk to.
	nodes    []string
	accounts int64
	console  *console

	mu    sync.Mutex
	state clientsState
}

// clientsState is how far the steps are.
type clientsState struct {
	// rate is what the users of the present step send, from began until ended.
	rate         int64
	began, ended time.Time
	// last says that there is no step after this one, and over that it has ended.
	last, over bool
	steps      []result.OpenLoopStep
	documents  []*openloop.Document
	// fault is why there is no more; nil if nothing is wrong.
	fault error
}

// newClients are the users of a network's load; nil if it has none.
func newClients(network *network, group *group, load *v1alpha1.OpenLoopLoad, workload chain.Workload, options RecordOptions) *clients {
	if load == nil {
		return nil
	}
	return &clients{
		load:      load,
		workload:  workload,
		warmUp:    options.WarmUp,
		length:    options.WarmUp + options.Duration,
		shardnode: options.Shardnode,
		dir:       network.dir,
		nodes:     clientNodes(group.supervisors),
		accounts:  int64(network.genesis.Shards) * int64(network.genesis.Accounts.PerShard),
		console:   group.console,
	}
}

// clientNodes are the addresses that clients of a network talk to: those of its rpc
// nodes, or of its producers if it has none.
func clientNodes(supervisors []*supervisor) []string {
	for _, role := range []topology.Role{topology.RoleRPC, topology.RoleProducer} {
		var nodes []string
		for _, supervisor := range supervisors {
			if supervisor.node.validator.Role == role {
				nodes = append(nodes, "http://"+supervisor.node.http.address())
			}
		}
		if len(nodes) > 0 {
			return nodes
		}
	}
	return nil
}

// current is how far the steps are.
func (c *clients) current() clientsState {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

func (c *clients) update(change func(*clientsState)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change(&c.state)
}

// offered is what users send at a time, in transfers per second.
func (s *clientsState) offered(at time.Time) int64 {
	if at.Before(s.began) || !at.Before(s.ended) {
		return 0
	}
	return s.rate
}

// lastHeight is the height up to which blocks say what the last loader says.
func (s *clientsState) lastHeight() uint64 {
	if len(s.documents) == 0 {
		return 0
	}
	return s.documents[len(s.documents)-1].LastHeight()
}

// lead is how long before its first transfer a loader is started.
func (c *clients) lead() time.Duration {
	return loaderLead + time.Duration(c.accounts/accountsPerSecond)*time.Second
}

// longest is how long all steps may take.
func (c *clients) longest() time.Duration {
	return time.Duration(len(c.load.Steps)) * (c.lead() + c.length + mostDraining + stopGrace)
}

// run runs one step after the other, until the last has ended, one fails, or the
// context is done. No loader is left when it returns.
func (c *clients) run(ctx context.Context) {
	if err := os.MkdirAll(c.dir.clients(), dirMode); err != nil {
		c.update(func(state *clientsState) { state.fault = err })
		return
	}
	for number := range c.load.Steps {
		err := c.step(ctx, number)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			c.update(func(state *clientsState) {
				state.fault = fmt.Errorf("the loader of %d users: %w", c.load.Steps[number].Users, err)
			})
			return
		}
	}
	c.update(func(state *clientsState) { state.over = true })
}

// step runs the loader of one step to its end.
func (c *clients) step(ctx context.Context, number int) error {
	users := c.load.Steps[number].Users
	began := time.Now().Add(c.lead())
	rate := int64(users) * 1000 / int64(c.load.EveryMilliseconds)
	c.update(func(state *clientsState) {
		state.rate, state.began, state.ended = rate, began, began.Add(c.length)
		state.last = number == len(c.load.Steps)-1
	})
	c.console.printf("clients: step %d of %d, %s who each send a transfer in %s", number+1, len(c.load.Steps),
		plural(users, "user"), time.Duration(c.load.EveryMilliseconds)*time.Millisecond)
	report, log := c.dir.loaderReport(number), c.dir.loaderLog(number)
	process, err := startProcess(c.shardnode, c.arguments(users, began, report), log)
	if err != nil {
		return err
	}
	if err := c.await(ctx, process, began.Add(c.length+mostDraining)); err != nil {
		return err
	}
	if code := process.exitCode(); code != 0 {
		c.console.settle()
		c.console.printLogTail(log)
		return fmt.Errorf("ended with an error: %s%s", process.end(), lastLine(log))
	}
	content, err := os.ReadFile(report)
	if err != nil {
		return fmt.Errorf("ended without a result: %w", err)
	}
	document, err := openloop.Decode(content)
	if err != nil {
		return err
	}
	made, err := openloop.Step(openloop.Plan{Users: users, WarmUp: c.warmUp, Duration: c.length - c.warmUp}, document)
	if err != nil {
		return err
	}
	c.update(func(state *clientsState) {
		state.steps, state.documents = append(state.steps, made), append(state.documents, document)
	})
	c.console.printf("clients: %s", openloop.Describe(&made))
	return nil
}

// errLoaderLate says that a loader was given up.
var errLoaderLate = errors.New("did not end within " + mostDraining.String() + " of its last transfer, and was stopped")

// await waits until a loader has ended. It is stopped when the context is done, or
// when it takes too long.
func (c *clients) await(ctx context.Context, process *process, deadline time.Time) error {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-process.ended:
		return nil
	case <-ctx.Done():
		process.stop(stopGrace)
		return ctx.Err()
	case <-timer.C:
		process.stop(stopGrace)
		return errLoaderLate
	}
}

// arguments are what a loader is told.
func (c *clients) arguments(users int32, began time.Time, report string) []string {
	arguments := []string{
		"load",
		"--genesis", c.dir.genesis(),
		"--users", strconv.Itoa(int(users)),
		"--every-ms", strconv.Itoa(int(c.load.EveryMilliseconds)),
		"--duration-seconds", strconv.Itoa(int(c.length / time.Second)),
		"--start-at-ms", strconv.FormatInt(began.UnixMilli(), 10),
		"--batch", "1",
		"--when-full", "count",
		"--connections", strconv.Itoa(min(int(users), connectionsPerNode*len(c.nodes), maxConnections)),
		"--drain-seconds", strconv.Itoa(int(drainPatience / time.Second)),
		"--report", report,
	}
	for _, node := range c.nodes {
		arguments = append(arguments, "--node", node)
	}
	if c.workload.Receivers != "" {
		arguments = append(arguments, "--receivers", c.workload.Receivers)
	}
	if percent := c.workload.WithinShardPercent; percent != nil {
		arguments = append(arguments, "--within-shard-percent", strconv.Itoa(int(*percent)))
	}
	return arguments
}

// lastLine is the end of a log, to be said after how a process ended.
func lastLine(log string) string {
	lines, err := logTail(log)
	if err != nil || len(lines) == 0 {
		return ""
	}
	return ": " + lines[len(lines)-1]
}

// conclude puts what the users saw into the record of a run.
func (c *clients) conclude(recorded *result.Run) {
	if c == nil {
		return
	}
	state := c.current()
	made := &result.OpenLoop{EveryMilliseconds: c.load.EveryMilliseconds, Nodes: len(c.nodes), Steps: state.steps}
	err := openloop.Conclude(recorded, made, state.documents)
	if err != nil && recorded.Fault == "" {
		recorded.Fault = err.Error()
	}
}
