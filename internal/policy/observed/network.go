// SPDX-License-Identifier: Apache-2.0

package observed

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/pods"
	"github.com/shardyard/shardyard/internal/topology"
)

// Network is a network as it was last seen.
type Network struct {
	// Network is as its nodes are to be: as its spec says, unless that was rolled
	// back.
	Network *v1alpha1.ShardNetwork
	// Wanted is what the spec asks of the nodes.
	Wanted *v1alpha1.NodeRevision
	Plan   *topology.Plan
	// Nodes are those of the plan, in its order.
	Nodes []Node
	// UnknownMachines are those of which nothing is known.
	UnknownMachines []UnknownMachines
	// Unapplied is true when the cluster does not have all objects of the present
	// spec, so that nobody knows which nodes are outdated.
	Unapplied bool
	// Settling is true when the cluster has not yet taken up the latest objects,
	// so that a node which is not outdated now may soon be.
	Settling bool
	// Occupied says which fault or benchmark has the network for itself; empty when
	// none has.
	Occupied string
	// Now is when it was seen.
	Now time.Time
}

// Node is one node of the plan as it was last seen.
type Node struct {
	Validator topology.Validator
	// Pod is the node's pod; nil when there is none.
	Pod *corev1.Pod
	// Warnings are what the cluster last said about a pod that does not come
	// up, the latest first.
	Warnings []Warning
	// Machine is the machine that the pod is on; nil when it is on none, or when
	// nothing is known of it.
	Machine *Machine
	// Unobserved nodes are in a cluster that cannot be used now: their pods are as
	// they last were, and what else is known, they say themselves.
	Unobserved bool
	// Outdated nodes run something else than they are to, or await a start.
	Outdated bool
	// AwaitsStart is true of an outdated node that runs what it is to, and whose
	// volume has grown: its file system does so when the pod starts again.
	AwaitsStart bool
	// LostDisk is the node's disk, if it is gone; nil of every other.
	LostDisk *LostDisk
	// LetGo nodes may be evicted from their machine at any time.
	LetGo bool
	// Status is what the node says of itself; nil when it does not answer.
	Status *chain.Status
	// LastTCP is what a node that does not answer said last, in the same pod, of the
	// settings that its kernel uses; nil if it never answered.
	LastTCP *chain.TCP
	// NotReady is why the node says that it does not take part.
	NotReady []string
	// SaysReady is true when the node itself says that it takes part.
	SaysReady bool
}

// Warning is what the cluster says about a pod, and when it said so last.
type Warning struct {
	Words string
	At    time.Time
}

// Ready says whether a node takes part in the chain, as its readiness probe
// found; where nobody tells what that found, as the node says.
func (n *Node) Ready() bool {
	if n.Unobserved {
		return n.SaysReady
	}
	return n.Pod != nil && pods.Ready(n.Pod) && !n.lost()
}

// lost says whether a node does not answer whose machine does not either. What
// the cluster says of its pod is as it last was.
func (n *Node) lost() bool { return n.Status == nil && n.Machine.silent() }

// Running says whether a node's process is up, whether or not it takes part in
// the chain.
func (n *Node) Running() bool {
	if n.Unobserved {
		return n.Status != nil
	}
	if n.Pod == nil || n.Pod.DeletionTimestamp != nil || n.lost() {
		return false
	}
	for i := range n.Pod.Status.ContainerStatuses {
		if status := &n.Pod.Status.ContainerStatuses[i]; status.State.Running != nil && status.Started != nil && *status.Started {
			return true
		}
	}
	return false
}

// Updated says whether a node runs what it is to, or will when it runs.
func (n *Node) Updated() bool { return !n.Outdated && !n.Unobserved }

// ReadyNodes counts the nodes that take part.
func (o *Network) ReadyNodes() int {
	ready := 0
	for i := range o.Nodes {
		if o.Nodes[i].Ready() {
			ready++
		}
	}
	return ready
}

// Best is the status with the highest finalised block of the chain that most
// nodes follow; nil when no node answers.
func (o *Network) Best() *chain.Status {
	genesis := o.Genesis()
	var best *chain.Status
	for i := range o.Nodes {
		status := o.Nodes[i].Status
		if status != nil && status.GenesisHash == genesis &&
			(best == nil || status.FinalizedHeight > best.FinalizedHeight) {
			best = status
		}
	}
	return best
}

// Genesis is the hash of the genesis document that most nodes follow; of
// several with as many nodes, the first.
func (o *Network) Genesis() string {
	followers := map[string]int{}
	for i := range o.Nodes {
		if status := o.Nodes[i].Status; status != nil {
			followers[status.GenesisHash]++
		}
	}
	most := ""
	for i := range o.Nodes {
		if status := o.Nodes[i].Status; status != nil && followers[status.GenesisHash] > followers[most] {
			most = status.GenesisHash
		}
	}
	return most
}
