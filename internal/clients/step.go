// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"strconv"
	"time"

	"github.com/shardyard/shardyard/internal/chain"
)

const (
	// connectionsPerNode are what a loader has to each node: as many as keep it busy
	// that answers within a twentieth of a second, and by far not all places that it
	// has for one address. Who records a run asks nodes from the same one.
	connectionsPerNode = 48
	// maxConnections are the most that a loader makes.
	maxConnections = 1000

	// drainPatience is how long a loader waits while nothing more becomes known.
	drainPatience = 10 * time.Second
)

// Step is what a loader is told of one number of users.
type Step struct {
	Users int32 `json:"users"`
	// EveryMilliseconds is the time between two transfers of a user.
	EveryMilliseconds int32 `json:"everyMilliseconds"`
	// DurationSeconds is how long transfers are due, from StartAtMs on, which is in
	// milliseconds since 1970.
	DurationSeconds int32 `json:"durationSeconds"`
	StartAtMs       int64 `json:"startAtMs"`
	// Nodes are the addresses of the HTTP APIs that users talk to.
	Nodes    []string       `json:"nodes"`
	Workload chain.Workload `json:"workload"`
}

// Arguments are those of the node program for the step. It prints what became of it.
func (s *Step) Arguments(genesis string) []string {
	arguments := []string{
		"load",
		"--genesis", genesis,
		"--users", strconv.Itoa(int(s.Users)),
		"--every-ms", strconv.Itoa(int(s.EveryMilliseconds)),
		"--duration-seconds", strconv.Itoa(int(s.DurationSeconds)),
		"--start-at-ms", strconv.FormatInt(s.StartAtMs, 10),
		"--batch", "1",
		"--when-full", "count",
		"--connections", strconv.Itoa(min(int(s.Users), connectionsPerNode*len(s.Nodes), maxConnections)),
		"--drain-seconds", strconv.Itoa(int(drainPatience / time.Second)),
	}
	for _, node := range s.Nodes {
		arguments = append(arguments, "--node", node)
	}
	if s.Workload.Receivers != "" {
		arguments = append(arguments, "--receivers", s.Workload.Receivers)
	}
	if percent := s.Workload.WithinShardPercent; percent != nil {
		arguments = append(arguments, "--within-shard-percent", strconv.Itoa(int(*percent)))
	}
	return arguments
}
