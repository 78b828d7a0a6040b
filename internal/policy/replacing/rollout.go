// SPDX-License-Identifier: Apache-2.0

package replacing

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// Rollout is what to do about nodes that run something else than they are to.
type Rollout struct {
	// Replace are the nodes to replace now, as indices into the observation's.
	Replace []int
	// Updated is the condition.
	Updated metav1.Condition
	// Update is what the update is doing; nil when there is none.
	Update *v1alpha1.UpdateStatus
	// Complete is true when every node runs what the spec says and is back.
	Complete bool
}

// NewRollout decides which nodes to replace now, because they run something else
// than they are to.
//
// A producer goes only while another one of its shard has a copy that can be
// counted on, one of a shard at a time, and over all shards no more than the spec
// and consensus allow, which can do without (n - 1) / 3 of n. Networks of fewer
// than four producers stand still for every single one, so there they go one by
// one. So do chunk validators, which consensus does without, and rpc nodes. The
// first node goes alone, and nobody follows before it is back. What does not run
// goes at once, if nothing is lost with it.
func NewRollout(observation *observed.Network) Rollout {
	nodes := count(observation)
	switch {
	case rolledBack(observation.Network.Status.Update, observation.Wanted):
		return putBack(observation, nodes)
	case isScheduled(observation, nodes):
		return scheduled(observation, nodes)
	case nodes.outdated > 0:
		return update(observation, nodes)
	default:
		return rest(observation, nodes)
	}
}

// update is a network whose nodes are replaced to run what the spec says.
func update(observation *observed.Network, nodes census) Rollout {
	rollout := Rollout{Update: continued(observation, nodes)}
	if trouble := troubleOf(observation, rollout.Update); trouble != "" {
		rollout.meet(observation, trouble)
	}
	switch rollout.Update.Phase {
	case v1alpha1.UpdatePaused:
		rollout.Updated = updated(v1alpha1.ReasonUpdatePaused, fmt.Sprintf(
			"the update is paused after %d of %d nodes: %s. It goes on once that is over; to go on all the same, set "+
				"spec.update.onTrouble to Continue; to go back, let the spec say what it said before",
			nodes.updated, nodes.total, rollout.Update.Trouble))
		return rollout
	case v1alpha1.UpdateRollingBack:
		// What is to be put back is outdated only once that is applied.
		rollout.Updated = rollingBack(observation, rollout.Update, nodes.updated)
		return rollout
	}
	first := rollout.pick(observation)
	said := nodes.words()
	if len(rollout.Replace) > 0 || first.over() {
		rollout.Updated = updated(v1alpha1.ReasonUpdating, said+" and are replaced, one of a shard at a time")
	} else {
		rollout.Updated = updated(first.reason, said+"; "+first.words)
	}
	return rollout
}

// putBack is a network whose spec was refused: its nodes are replaced to run what
// they ran before, by the same rules.
func putBack(observation *observed.Network, nodes census) Rollout {
	rollout := Rollout{Update: continued(observation, nodes)}
	rollout.Update.Trouble = observation.Network.Status.Update.Trouble
	rollout.Update.Phase = v1alpha1.UpdateRollingBack
	rollout.pick(observation)
	if nodes.outdated == 0 && nodes.back == nodes.total && !observation.Settling && !observation.Unapplied {
		rollout.Update.Phase = v1alpha1.UpdateRolledBack
		rollout.Updated = updated(v1alpha1.ReasonRolledBack, refusal(observation, rollout.Update)+
			"; all nodes run what they ran before. Change the spec")
		return rollout
	}
	rollout.Updated = rollingBack(observation, rollout.Update, nodes.outdated)
	return rollout
}

// rest is a network none of whose nodes is known to run something else than the
// spec says.
func rest(observation *observed.Network, nodes census) Rollout {
	before := observation.Network.Status.Update
	switch {
	case observation.Unapplied:
		return Rollout{Update: before, Updated: condition.New(v1alpha1.ConditionUpdated, metav1.ConditionUnknown,
			v1alpha1.ReasonObjectsPending,
			"it is not known that every object of the network is as the spec says: see the condition Applied")}
	case observation.Settling:
		return Rollout{Update: before, Updated: updated(v1alpha1.ReasonUpdating,
			"the cluster is taking up the objects of the network")}
	}
	rollout := Rollout{
		Complete: nodes.back == nodes.total,
		Updated: condition.New(v1alpha1.ConditionUpdated, metav1.ConditionTrue, v1alpha1.ReasonUpToDate,
			fmt.Sprintf("all %d nodes run what the spec says", nodes.total)),
	}
	if before == nil || rollout.Complete {
		return rollout
	}
	// The last nodes have yet to come back.
	rollout.Update = continued(observation, nodes)
	if trouble := troubleOf(observation, rollout.Update); trouble != "" {
		rollout.meet(observation, trouble)
	}
	if rollout.Update.Phase == v1alpha1.UpdateRollingBack {
		rollout.Updated = rollingBack(observation, rollout.Update, nodes.total)
		return rollout
	}
	rollout.Update.Phase, rollout.Update.Trouble = v1alpha1.UpdateWaves, ""
	return rollout
}

// census counts nodes: those that run something else than they are to, those that
// are known to run that, and those that do what they did before they were
// replaced.
type census struct {
	total, outdated, updated, back int
	// awaitStart are the outdated ones that run what they are to.
	awaitStart int
	// updatedBack are those of both kinds.
	updatedBack int
}

func count(observation *observed.Network) census {
	best, nodes := observation.Best(), census{total: len(observation.Nodes)}
	for i := range observation.Nodes {
		if observation.Nodes[i].Outdated {
			nodes.outdated++
		}
		if observation.Nodes[i].AwaitsStart {
			nodes.awaitStart++
		}
		if observation.Nodes[i].Updated() {
			nodes.updated++
		}
		if !observation.Back(&observation.Nodes[i], best) {
			continue
		}
		nodes.back++
		if observation.Nodes[i].Updated() {
			nodes.updatedBack++
		}
	}
	return nodes
}

// words say why nodes are replaced.
func (c census) words() string {
	const starts = "%d of %d nodes start again for the file systems of their volumes to grow"
	said := fmt.Sprintf("%d of %d nodes run something else than the spec says", c.outdated-c.awaitStart, c.total)
	switch c.awaitStart {
	case 0:
		return said
	case c.outdated:
		return fmt.Sprintf(starts, c.awaitStart, c.total)
	default:
		return said + ", " + fmt.Sprintf(starts, c.awaitStart, c.total)
	}
}

// continued is the update that goes on, or begins now.
func continued(observation *observed.Network, nodes census) *v1alpha1.UpdateStatus {
	now := metav1.NewTime(observation.Now)
	replaced, back := int32(nodes.updated), int32(nodes.updatedBack)
	update := &v1alpha1.UpdateStatus{
		Phase: v1alpha1.UpdateCanary, NodesUpdated: &replaced, NodesBack: &back, ProgressTime: now, StartTime: now,
	}
	if observation.Wanted != nil {
		update.Revision = observation.Wanted.Name
	}
	if best := observation.Best(); best != nil {
		height := int64(best.FinalizedHeight)
		update.StartHeight = &height
	}
	before := observation.Network.Status.Update
	if before == nil || before.Revision != update.Revision {
		return update
	}
	update.StartTime, update.StartHeight = before.StartTime, before.StartHeight
	if before.NodesUpdated != nil && before.NodesBack != nil && replaced <= *before.NodesUpdated && back <= *before.NodesBack {
		update.ProgressTime = before.ProgressTime
	}
	return update
}

// meet has an update that does harm go on as the spec says.
func (r *Rollout) meet(observation *observed.Network, trouble string) {
	stable := observation.Network.Status.StableRevision
	switch observation.Network.Spec.Update.OnTrouble {
	case v1alpha1.OnTroubleContinue:
		r.Update.Phase = v1alpha1.UpdateWaves
		return
	case v1alpha1.OnTroubleRollBack:
		if stable != nil && observation.Wanted != nil && stable.Name != observation.Wanted.Name {
			r.Update.Phase, r.Update.Trouble = v1alpha1.UpdateRollingBack, wording.Shorten(trouble)
			return
		}
		// Nobody knows what they ran before.
	}
	r.Update.Phase, r.Update.Trouble = v1alpha1.UpdatePaused, wording.Shorten(trouble)
}

// pick picks the nodes whose turn it is, and says what the first that stays waits
// for.
func (r *Rollout) pick(observation *observed.Network) (first wait) {
	turns, canary := newTurns(observation), newCanary(observation, r.Update.Phase)
	for i := range observation.Nodes {
		node := &observation.Nodes[i]
		if !node.Outdated || node.Pod == nil || node.Pod.DeletionTimestamp != nil {
			continue
		}
		runs := node.Ready() || node.Running()
		found := wait{}
		if runs {
			found = canary.wait()
		}
		if found.over() {
			found = turns.take(i)
		}
		if found.over() {
			r.Replace = append(r.Replace, i)
			canary.taken = canary.taken || runs
		} else if first.over() {
			first = wait{found.reason, node.Validator.Name + " " + found.words}
		}
	}
	if r.Update.Phase == v1alpha1.UpdateCanary && !canary.awaited {
		r.Update.Phase = v1alpha1.UpdateWaves
	}
	return first
}

func updated(reason, message string) metav1.Condition {
	return condition.New(v1alpha1.ConditionUpdated, metav1.ConditionFalse, reason, message)
}

func rollingBack(observation *observed.Network, update *v1alpha1.UpdateStatus, left int) metav1.Condition {
	return updated(v1alpha1.ReasonRolledBack, fmt.Sprintf("%s; %d of %d nodes are still to be put back",
		refusal(observation, update), left, len(observation.Nodes)))
}

// refusal says what of the spec was rolled back, and why.
func refusal(observation *observed.Network, update *v1alpha1.UpdateStatus) string {
	what := "what the spec asks of the nodes"
	if fields := differences(observation.Network.Status.StableRevision, observation.Wanted); len(fields) > 0 {
		what = "the change of " + wording.List(fields)
	}
	return fmt.Sprintf("%s was rolled back: %s", what, update.Trouble)
}
