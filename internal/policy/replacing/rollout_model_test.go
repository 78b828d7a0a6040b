// SPDX-License-Identifier: Apache-2.0

package replacing_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/chain"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

// tick is how much time passes between two looks of the operator.
const tick = 5 * time.Second

// observation is what a model says of itself, a network of its own among it.
type observation = observed.Network

// model is a network of which it is known what each node really holds.
type model struct {
	*observation
	nodes []modelNode
	// halted is for how many ticks no node takes part, and finalized when a block
	// was finalised last.
	halted    int
	finalized time.Time
}

// modelNode is what is true of a node, whatever it says.
type modelNode struct {
	// whole is true when the shard can go on from what the node holds.
	whole bool
	// down is for how many ticks the node does not run, and pod is how it is then.
	down int
	pod  func(*observed.Node)
	// fetching is for how many ticks it fetches a state, and short for how many it
	// then takes part without holding all that others would need.
	fetching, short int
	// executes is true once it has a state.
	executes bool
}

func newModel(t *rapid.T) *model {
	observation := networks.Healthy(t, rapid.Int32Range(1, 4).Draw(t, "shards"), rapid.Int32Range(2, 4).Draw(t, "producersPerShard"))
	if rapid.Bool().Draw(t, "durable") {
		networks.Durable(observation)
	}
	if rapid.Bool().Draw(t, "bounded") {
		observation.Network.Spec.Update.MaxUnavailable = ptr.To(rapid.Int32Range(1, 6).Draw(t, "maxUnavailable"))
	}
	observation.Network.Spec.Update.OnTrouble = rapid.SampledFrom([]v1alpha1.OnTrouble{
		v1alpha1.OnTroublePause, v1alpha1.OnTroubleContinue,
	}).Draw(t, "onTrouble")
	m := &model{observation: observation, nodes: make([]modelNode, len(observation.Nodes)), finalized: networks.Now}
	for i := range m.nodes {
		m.nodes[i].whole, m.nodes[i].executes = true, true
	}
	networks.Outdate(observation)
	return m
}

// pass lets a tick pass. With trouble, nodes end by themselves, the chain halts,
// and nodes say that they lack something though they do not.
func (m *model) pass(t *rapid.T, trouble bool) {
	m.Now = m.Now.Add(tick)
	if m.halted = max(0, m.halted-1); trouble && rapid.IntRange(0, 9).Draw(t, "halts") == 0 {
		m.halted = rapid.IntRange(1, 12).Draw(t, "halted")
	}
	for i := range m.nodes {
		m.passNode(t, i, trouble)
	}
	m.tell(t, trouble)
}

func (m *model) passNode(t *rapid.T, i int, trouble bool) {
	node := &m.nodes[i]
	switch {
	case node.down > 0:
		node.down--
	case !node.executes && !m.held(m.Nodes[i].Validator.Shard):
		node.fetching = 0
	case !node.executes && node.fetching == 0:
		node.fetching = rapid.IntRange(1, 4).Draw(t, "fetching")
	case !node.executes:
		if node.fetching--; node.fetching == 0 {
			node.executes, node.short = true, rapid.IntRange(1, 6).Draw(t, "short")
		}
	case !node.whole && m.halted == 0:
		node.short--
		node.whole = node.short <= 0
	case trouble && rapid.IntRange(0, 19).Draw(t, "ends") == 0:
		// Its directory outlives its process.
		node.down, node.pod = rapid.IntRange(1, 5).Draw(t, "down"), networks.Ended
	}
}

// held says whether a node that runs has a whole copy of a shard.
func (m *model) held(shard int) bool {
	for i := range m.nodes {
		if m.Nodes[i].Validator.Shard == shard && m.nodes[i].whole && m.nodes[i].down == 0 {
			return true
		}
	}
	return false
}

// tell has the observation be of what is so now.
func (m *model) tell(t *rapid.T, trouble bool) {
	quorum := len(m.nodes) - (len(m.nodes)-1)/3
	running := 0
	for i := range m.nodes {
		if m.nodes[i].down == 0 {
			running++
		}
	}
	moving := m.halted == 0 && (running >= quorum || len(m.nodes) < 4)
	if moving {
		m.finalized = m.Now
	}
	height := uint64(1200 + m.finalized.Sub(networks.Now)/tick)
	for i := range m.nodes {
		node, truth := &m.Nodes[i], &m.nodes[i]
		was := node.Pod != nil && node.Ready()
		since := m.Now
		if was {
			since = node.Pod.Status.Conditions[0].LastTransitionTime.Time
		}
		node.Pod, node.Status = networks.ReadyPod(node.Validator.Name, i), networks.Status(node.Validator, m.Plan.Shards)
		node.Pod.Status.Conditions[0].LastTransitionTime = metav1.NewTime(since)
		node.Status.Peers = len(m.nodes) - 1
		node.Status.FinalizedHeight, node.Status.FinalizedTimeMs = height, m.finalized.UnixMilli()
		for shard := range node.Status.Shards {
			node.Status.Shards[shard].ChunkHeight = height
		}
		if truth.down > 0 {
			truth.pod(node)
			continue
		}
		if !moving || !truth.executes {
			node.Pod.Status.Conditions[0] = corev1.PodCondition{
				Type: corev1.PodReady, Status: corev1.ConditionFalse, LastTransitionTime: metav1.NewTime(m.Now),
			}
		}
		silent := trouble && rapid.IntRange(0, 9).Draw(t, "modest") == 0
		node.Status.Copy = &chain.CopyStatus{Complete: truth.whole && !silent}
	}
}

// replace takes pods away, and with them what they hold unless that is on disks.
func (m *model) replace(t *rapid.T, replaced []int) {
	for _, i := range replaced {
		m.Nodes[i].Outdated = false
		kept := modelNode{}
		if m.Network.Spec.Volume != nil {
			kept = m.nodes[i]
		}
		kept.down, kept.pod = rapid.IntRange(1, 4).Draw(t, "starting"), func(node *observed.Node) { networks.Pending(node) }
		m.nodes[i] = kept
	}
}

// check checks that the network has a whole copy of every shard.
func (m *model) check(t *rapid.T, when string) {
	whole := make([]bool, m.Plan.Shards)
	for i := range m.nodes {
		shard := m.Nodes[i].Validator.Shard
		whole[shard] = whole[shard] || m.nodes[i].whole
	}
	for shard, is := range whole {
		if !is {
			t.Fatalf("%s, shard %d is lost", when, shard)
		}
	}
}

// Whatever happens to processes and to the chain while nodes are replaced, a whole
// copy of every shard stays, and once that is over, the update comes to its end.
func TestRolloutsLoseNoShard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		const troubled, calm = 60, 800
		for step := range troubled + calm {
			trouble := step < troubled
			if trouble && rapid.IntRange(0, 39).Draw(t, "changes") == 0 {
				networks.Outdate(m.observation)
			}
			m.pass(t, trouble)
			rollout := replacing.NewRollout(m.observation)
			m.Network.Status.Update = rollout.Update
			m.replace(t, rollout.Replace)
			m.check(t, rollout.Updated.Message)
			if !trouble && rollout.Complete {
				return
			}
		}
		t.Fatalf("the update comes to no end: %s", replacing.NewRollout(m.observation).Updated.Message)
	})
}
