// SPDX-License-Identifier: Apache-2.0

package record

import (
	"math"
	"time"

	"github.com/shardyard/shardyard/internal/bench/result"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/topology"
)

// Node is what is known of one node at one time.
type Node struct {
	Validator topology.Validator
	// Status is nil when the node did not answer.
	Status *chain.Status
	Usage  Usage
}

// Usage is what a process has used of its machine; nil is not known.
type Usage struct {
	// CPUSeconds is the CPU time since the process started.
	CPUSeconds *float64
	// MemoryBytes is the memory without what is mapped from files, and
	// FileMemoryBytes is that.
	MemoryBytes, FileMemoryBytes *uint64
	// DiskReadBytes and DiskWrittenBytes count since the process started.
	DiskReadBytes, DiskWrittenBytes *uint64
}

// Host is what the processors and the disks of the machine did since it started; nil
// is not known.
type Host struct {
	BusySeconds, StolenSeconds *float64
	// WorkMicroseconds is the processor time that a piece of work took just now that is
	// the same each time.
	WorkMicroseconds *float64
	// DiskFlushes is how often disks made durable what they had taken before, and
	// DiskFlushSeconds how long that took.
	DiskFlushes      *uint64
	DiskFlushSeconds *float64
}

// Sample is what is known at one time.
type Sample struct {
	At time.Time
	// OfferedPerSecond is the rate that producers say they sign, of the controller of a
	// closed loop, or of the users of an open one, who may send one transfer in many seconds.
	OfferedPerSecond float64
	// Control is what that controller saw; nil without one.
	Control *result.Control
	// ByClients says that clients sign the load: what generators do says nothing of it.
	ByClients bool
	Nodes     []Node
	Host      Host
}

// row sums a sample up.
func (s *Sample) row() result.Sample {
	row := result.Sample{
		TimeMs:               s.At.UnixMilli(),
		OfferedPerSecond:     int64(math.Round(s.OfferedPerSecond)),
		Control:              s.Control,
		HostBusySeconds:      s.Host.BusySeconds,
		HostStolenSeconds:    s.Host.StolenSeconds,
		HostWorkMicroseconds: s.Host.WorkMicroseconds,
		HostDiskFlushes:      s.Host.DiskFlushes,
		HostDiskFlushSeconds: s.Host.DiskFlushSeconds,
	}
	for i := range s.Nodes {
		if status := s.Nodes[i].Status; status != nil {
			row.FinalizedHeight = max(row.FinalizedHeight, status.FinalizedHeight)
		}
	}
	if !s.ByClients {
		row.Signed = s.generators(func(load *chain.Load) uint64 { return load.Signed })
		row.Rejected = s.generators(func(load *chain.Load) uint64 { return load.Rejected })
		row.HeldBack = s.generators(func(load *chain.Load) uint64 { return load.HeldBack })
		row.Overdue = s.generators(func(load *chain.Load) uint64 { return load.Overdue })
		row.Exhausted = s.generators(func(load *chain.Load) uint64 { return load.Exhausted })
	}
	row.Pool = sum(s.Nodes, (*Node).pool)
	row.CPUSeconds = sum(s.Nodes, (*Node).cpuSeconds)
	row.CPUSecondsByRole = s.cpuSecondsByRole()
	row.MemoryBytes = sum(s.Nodes, func(node *Node) *uint64 { return node.Usage.MemoryBytes })
	row.FileMemoryBytes = sum(s.Nodes, func(node *Node) *uint64 { return node.Usage.FileMemoryBytes })
	row.DiskReadBytes = sum(s.Nodes, func(node *Node) *uint64 { return node.Usage.DiskReadBytes })
	row.DiskWrittenBytes = sum(s.Nodes, func(node *Node) *uint64 { return node.Usage.DiskWrittenBytes })
	return row
}

// lowest is the last block that all nodes which answered have processed.
func (s *Sample) lowest() uint64 {
	lowest := uint64(math.MaxUint64)
	for i := range s.Nodes {
		if status := s.Nodes[i].Status; status != nil {
			lowest = min(lowest, status.FinalizedHeight)
		}
	}
	return lowest
}

// generators adds up a counter of all generators.
func (s *Sample) generators(counter func(*chain.Load) uint64) *uint64 {
	return sum(s.Nodes, func(node *Node) *uint64 { return node.generator(counter) })
}

// sum adds up what all nodes tell; nil when one of them does not.
func sum[Number uint64 | float64](nodes []Node, of func(*Node) *Number) *Number {
	var total Number
	for i := range nodes {
		value := of(&nodes[i])
		if value == nil {
			return nil
		}
		total += *value
	}
	return &total
}

// cpuSecondsByRole adds up the CPU time of the nodes of each role that all of them tell.
func (s *Sample) cpuSecondsByRole() map[string]float64 {
	byRole := map[topology.Role][]Node{}
	for _, node := range s.Nodes {
		byRole[node.Validator.Role] = append(byRole[node.Validator.Role], node)
	}
	told := map[string]float64{}
	for role, nodes := range byRole {
		if used := sum(nodes, (*Node).cpuSeconds); used != nil {
			told[string(role)] = *used
		}
	}
	return told
}

// generator is a counter of the node's generator: 0 of a node that produces
// nothing and so has none.
func (n *Node) generator(counter func(*chain.Load) uint64) *uint64 {
	switch {
	case n.Validator.Role != topology.RoleProducer:
		return new(uint64)
	case n.Status == nil || n.Status.Load == nil:
		return nil
	default:
		count := counter(n.Status.Load)
		return &count
	}
}

func (n *Node) pool() *uint64 {
	if n.Status == nil {
		return nil
	}
	return &n.Status.Pool.Transactions
}

// cpuSeconds is what the machine says, or else what the node says of itself.
func (n *Node) cpuSeconds() *float64 {
	if n.Usage.CPUSeconds == nil && n.Status != nil {
		return &n.Status.CPUSeconds
	}
	return n.Usage.CPUSeconds
}
