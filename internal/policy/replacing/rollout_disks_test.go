// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// diskModel is a model some of whose nodes lose their disks, and whose machines are drained.
type diskModel struct {
	*model
	lost     []bool
	seen     map[string]observed.LostDisk
	replaced replacing.NewDisk
}

// lose has a node lose its disk, unless its shard or the chain would be lost with it.
func (m *diskModel) lose(i int) {
	lost, others := 1, false
	for j := range m.nodes {
		if m.lost[j] {
			lost++
		}
		others = others || j != i && m.Nodes[j].Validator.Shard == m.Nodes[i].Validator.Shard && m.nodes[j].whole
	}
	if !others || lost > max(1, (len(m.nodes)-1)/3) {
		return
	}
	m.lost[i], m.nodes[i] = true, modelNode{}
	// No machine takes its pod.
	m.Nodes[i].Machine = nil
}

// look has the observation be of what is so now, and the disks that are gone.
func (m *diskModel) look(t *rapid.T, trouble bool) {
	for i := range m.nodes {
		if m.lost[i] {
			// For more than a look: nobody but the operator brings it back.
			m.nodes[i].down, m.nodes[i].pod = 2, func(node *observed.Node) { networks.Unscheduled(node, networks.DiskElsewhere) }
		}
	}
	m.pass(t, trouble)
	for i := range m.nodes {
		m.Nodes[i].LostDisk = nil
		if m.lost[i] {
			m.Nodes[i].LostDisk = observed.LostClaim(networks.Claim(corev1.ClaimLost))
		}
	}
}

// replaceDisks gives nodes new disks, and says how many.
func (m *diskModel) replaceDisks(t *rapid.T, goes bool) {
	found := replacing.NewLostVolumes(m.observation, m.seen, m.replaced, goes)
	m.seen = found.Disks
	for _, i := range found.Replace {
		if m.Nodes[i].Outdated {
			t.Fatalf("%s gets a new disk, and with it what the update has yet to bring", m.Nodes[i].Validator.Name)
		}
		m.lost[i] = false
		m.nodes[i] = modelNode{down: rapid.IntRange(1, 4).Draw(t, "starting"), pod: func(node *observed.Node) { networks.Pending(node) }}
		m.replaced = replacing.NewDisk{Name: m.Nodes[i].Validator.Name, At: m.Now}
		delete(m.seen, m.Nodes[i].Validator.Name)
	}
}

// cordon has the machine of a node be drained, if that is on one.
func (m *diskModel) cordon(i int) {
	if machine := m.Nodes[i].Machine; machine != nil {
		machine.Leaving = "is cordoned"
	}
}

// drain has nodes leave their machines that may, when whoever drains these asks.
func (m *diskModel) drain(t *rapid.T) {
	drains := replacing.NewDrains(m.observation)
	for _, i := range drains.LetGo {
		m.Nodes[i].LetGo = true
	}
	for i := range m.nodes {
		if node := &m.Nodes[i]; node.LetGo && rapid.Bool().Draw(t, "evicted") {
			node.LetGo, node.Machine = false, &observed.Machine{Name: "another"}
			m.nodes[i].down, m.nodes[i].pod = rapid.IntRange(1, 4).Draw(t, "moving"), func(node *observed.Node) { networks.Pending(node) }
		}
	}
}

// settled says that no disk is lost, and that every machine keeps its node.
func (m *diskModel) settled() bool {
	for i := range m.nodes {
		if machine := m.Nodes[i].Machine; m.lost[i] || machine != nil && machine.Leaving != "" {
			return false
		}
	}
	return true
}

// Whichever nodes lose their disks and whichever machines are drained while others are
// replaced, no shard is lost, and once that is over, all disks are there again, no node is
// on a machine that is drained, and the update comes to its end.
func TestRolloutsOutliveLostDisksAndDrains(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := &diskModel{model: newModel(t)}
		m.lost = make([]bool, len(m.nodes))
		networks.Durable(m.observation)
		networks.Cordon(m.observation)
		m.Network.Spec.Healing.StuckAfterSeconds = 60
		const troubled, calm = 60, 800
		for step := range troubled + calm {
			trouble := step < troubled
			if trouble && rapid.IntRange(0, 9).Draw(t, "loses") == 0 {
				m.lose(rapid.IntRange(0, len(m.nodes)-1).Draw(t, "disk"))
			}
			if trouble && rapid.IntRange(0, 9).Draw(t, "cordons") == 0 {
				m.cordon(rapid.IntRange(0, len(m.nodes)-1).Draw(t, "machine"))
			}
			m.look(t, trouble)
			m.drain(t)
			rollout := replacing.NewRollout(m.observation)
			m.Network.Status.Update = rollout.Update
			m.replace(t, rollout.Replace)
			m.replaceDisks(t, len(rollout.Replace) > 0)
			m.check(t, rollout.Updated.Message)
			if !trouble && rollout.Complete && m.settled() {
				return
			}
		}
		t.Fatalf("it comes to no end: %s; %s; %+v", replacing.NewRollout(m.observation).Updated.Message,
			replacing.NewDrains(m.observation).MachinesKept.Message, m.seen)
	})
}
