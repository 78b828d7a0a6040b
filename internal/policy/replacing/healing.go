// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
	"github.com/shardyard/shardyard/internal/topology"
)

// maxHealingRestarts is how often in a row a node is started again before it is left
// to a person.
const maxHealingRestarts = 3

// Healing is what to do about nodes that run and answer, and do not keep up with the
// chain.
type Healing struct {
	// Restart is the node to start again now, as an index into the observation's: one
	// or none.
	Restart []int
	// Why says so of it.
	Why string
	// Behind is what to remember, which counts that start already.
	Behind []v1alpha1.NodeBehind
	// KeepingUp is the condition.
	KeepingUp metav1.Condition
}

// NewHealing decides which node to start again, because it stands still or lags
// behind and has come no closer to the chain for as long as the spec says.
//
// It goes in the turns of an update, so the network can do without it, and alone: no
// other one follows before it keeps up again or its time is over. That is twice as
// long after each start, and after the third the node is left to a person. Its disk
// stays what it is; a node whose disk would go with its pod stays if that is against
// the rules of the protocol. Nobody is to blame while the chain stands still, nodes
// are replaced or may be evicted, or something else goes on that may keep nodes
// behind: time counts from the end of that.
func NewHealing(observation *observed.Network) Healing {
	turns := newTurns(observation)
	excuse := excuseOf(observation, turns)
	healing := Healing{Behind: nodesBehind(observation, turns.best, excuse != "")}
	if updating(observation) {
		// It starts every node again.
		healing.Behind = nil
	}
	switch {
	case turns.best == nil:
		healing.KeepingUp = condition.New(v1alpha1.ConditionKeepingUp, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer,
			"no node answers, so nothing is known of the chain")
		return healing
	case excuse != "":
		healing.KeepingUp = condition.New(v1alpha1.ConditionKeepingUp, metav1.ConditionUnknown, v1alpha1.ReasonNotJudged,
			"no node is held to account for being behind the chain: "+excuse)
		return healing
	}
	healing.decide(observation, turns)
	return healing
}

// excuseOf is why no node is to blame now for being behind; empty when nothing is.
func excuseOf(observation *observed.Network, turns *turns) string {
	if disturbance := disturbanceOf(observation, turns); disturbance != "" || !updating(observation) {
		return disturbance
	}
	return "nodes are replaced: see the condition Updated"
}

// disturbanceOf is what goes on that the operator does not do to the nodes itself;
// empty when nothing does.
func disturbanceOf(observation *observed.Network, turns *turns) string {
	switch {
	case observation.Unapplied, observation.Settling:
		return "the cluster is taking up the objects of the network: see the condition Applied"
	case observation.Occupied != "":
		return observation.Occupied
	case turns.standsStill():
		return "the chain stands still: see the condition Producing"
	case len(observation.UnknownMachines) > 0 || slices.ContainsFunc(observation.Nodes, mayLeave):
		return "machines are drained, or nothing is known of them: see the condition MachinesKept"
	default:
		return ""
	}
}

// updating says whether nodes are replaced to run what they are to.
func updating(observation *observed.Network) bool {
	update := observation.Network.Status.Update
	return count(observation).outdated > 0 || update != nil && update.Phase != v1alpha1.UpdateRolledBack
}

// mayLeave says whether a node may be evicted. One that has yet to wait for that disturbs
// nobody, and may wait for the very node that is behind, or has lost its disk.
func mayLeave(node observed.Node) bool { return node.LetGo }

// finding is why a node does not keep up, and what becomes of it.
type finding struct {
	reason  string
	message string
}

// findings order the reasons of nodes that do not keep up: what a person has to mend
// comes first.
var findings = []string{
	v1alpha1.ReasonHealingGaveUp,
	v1alpha1.ReasonHealingWaits,
	v1alpha1.ReasonNodeRestarted,
	v1alpha1.ReasonNodeBehind,
}

// decide finds what becomes of each node that is behind, and what the condition says
// of the worst.
func (h *Healing) decide(observation *observed.Network, turns *turns) {
	var worst finding
	rank, number := len(findings), 0
	for k := range h.Behind {
		record := &h.Behind[k]
		if keepsUp(record) {
			continue
		}
		number++
		found := h.find(observation, turns, record)
		if at := slices.Index(findings, found.reason); at < rank {
			rank, worst = at, found
		}
	}
	if number == 0 {
		h.KeepingUp = condition.New(v1alpha1.ConditionKeepingUp, metav1.ConditionTrue, v1alpha1.ReasonAllKeepUp,
			"no node that answers is behind the chain")
		return
	}
	if number > 1 {
		worst.message += fmt.Sprintf(" (and %d more behind)", number-1)
	}
	h.KeepingUp = condition.New(v1alpha1.ConditionKeepingUp, metav1.ConditionFalse, worst.reason, worst.message)
}

// find is what becomes of one node that is behind, and has it start again if it is
// due and may.
func (h *Healing) find(observation *observed.Network, turns *turns, record *v1alpha1.NodeBehind) finding {
	i := slices.IndexFunc(observation.Nodes, func(node observed.Node) bool { return node.Validator.Name == record.Name })
	node, spec := &observation.Nodes[i], &observation.Network.Spec.Healing
	limit := patience(spec, record.Restarts)
	over := observation.Now.Sub(record.SinceTime.Time) >= limit
	switch {
	case record.BehindBlocks == nil, record.Restarts > 0 && !over:
		return restarted(record, limit)
	case node.Status == nil:
		// Its machine starts it again if it stays so.
		return finding{v1alpha1.ReasonNodeBehind, fmt.Sprintf("%s does not answer, and was %d blocks behind the chain at %s",
			record.Name, *record.BehindBlocks, wording.Instant(record.SinceTime.Time))}
	case record.Restarts >= maxHealingRestarts:
		return finding{v1alpha1.ReasonHealingGaveUp, fmt.Sprintf(
			"%s, although it was started again %s, the last time at %s: see its log and its machine, and delete its pod, "+
				"or its volume claim as well if its data is at fault", standing(node, record, turns),
			wording.Count(maxHealingRestarts, "time"), wording.Instant(record.RestartTime.Time))}
	case spec.Mode != v1alpha1.HealingRestart:
		return finding{v1alpha1.ReasonNodeBehind, standing(node, record, turns) + "; spec.healing.mode is Report, so it is left alone"}
	case !over:
		return finding{v1alpha1.ReasonNodeBehind, fmt.Sprintf(
			"%s; it is started again if it comes no closer for %s", standing(node, record, turns), limit)}
	}
	if wait := h.take(observation, turns, i); !wait.over() {
		return finding{v1alpha1.ReasonHealingWaits, fmt.Sprintf(
			"%s, and is not started again for now: it %s", standing(node, record, turns), wait.words)}
	}
	h.Restart = []int{i}
	h.Why = fmt.Sprintf("%s: it is started again, time %d of at most %d in a row",
		standing(node, record, turns), record.Restarts+1, maxHealingRestarts)
	record.Restarts++
	record.RestartTime = metav1.NewTime(observation.Now)
	begin(observation, record)
	return restarted(record, patience(spec, record.Restarts))
}

// patience is how long a node may come no closer that was started again so often.
func patience(spec *v1alpha1.HealingSpec, restarts int32) time.Duration {
	return time.Duration(spec.StuckAfterSeconds) * time.Second << min(restarts, maxHealingRestarts)
}

// restarted is a node that has time to come closer.
func restarted(record *v1alpha1.NodeBehind, limit time.Duration) finding {
	return finding{v1alpha1.ReasonNodeRestarted, fmt.Sprintf(
		"%s was started again at %s, time %d of at most %d in a row: it has %s from when it is back to come closer to the chain",
		record.Name, wording.Instant(record.RestartTime.Time), record.Restarts, maxHealingRestarts, limit)}
}

// standing says where a node is, and since when it is no closer to the chain.
func standing(node *observed.Node, record *v1alpha1.NodeBehind, turns *turns) string {
	status, since := node.Status, wording.Instant(record.SinceTime.Time)
	lag := lagOf(status, turns.best)
	switch {
	case isAt(status.FinalizedHeight, record.FinalizedHeight):
		return fmt.Sprintf("%s stands still at height %d since %s, %d blocks behind the chain",
			record.Name, status.FinalizedHeight, since, lag)
	case status.Tracked != nil && isAt(status.Tracked.ExecutedHeight, record.ExecutedHeight):
		return fmt.Sprintf("%s executes shard %d no further than height %d since %s, %d blocks behind the chain",
			record.Name, status.Tracked.Shard, status.Tracked.ExecutedHeight, since, lag)
	default:
		return fmt.Sprintf("%s is %d blocks behind the chain and has come no closer since %s", record.Name, lag, since)
	}
}

func isAt(height uint64, before *int64) bool { return before != nil && int64(height) == *before }

// take says whether it is the turn of the node at an index to be started again.
func (h *Healing) take(observation *observed.Network, turns *turns, i int) wait {
	node := &observation.Nodes[i]
	if other := h.awaited(observation, node.Validator.Name); other != "" {
		return waitFor(fmt.Sprintf("waits until %s keeps up, which was started again, or its time is over", other))
	}
	if words := lostWithPod(turns, node); words != "" {
		return waitFor(words)
	}
	return turns.takeForDrain(i)
}

// awaited is another node that was started again and has time to come back; empty
// when there is none.
func (h *Healing) awaited(observation *observed.Network, name string) string {
	for k := range h.Behind {
		other := &h.Behind[k]
		if other.Name != name && other.Restarts > 0 && !keepsUp(other) &&
			observation.Now.Before(other.RestartTime.Add(patience(&observation.Network.Spec.Healing, other.Restarts))) {
			return other.Name
		}
	}
	return ""
}

// lostWithPod says what a producer without a volume would lose with its pod that
// nobody could give back to it; empty when there is nothing. A validator must not
// begin with an empty disk before all is final that it may have signed: what is in
// flight on a chain that moves is, by the time that its pod is there again.
func lostWithPod(turns *turns, node *observed.Node) string {
	switch {
	case turns.durable || node.Validator.Role != topology.RoleProducer:
		return ""
	case turns.single:
		return fmt.Sprintf("has the only copy of shard %d, which would be lost with its pod", node.Validator.Shard)
	case node.Status.Height > turns.best.FinalizedHeight+observed.MaxCopyLag:
		return fmt.Sprintf("has no disk that outlives its pod, and may have signed blocks that are not final, up to height %d",
			node.Status.Height)
	default:
		return ""
	}
}
