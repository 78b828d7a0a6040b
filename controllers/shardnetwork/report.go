// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"context"
	"fmt"
	"math"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/resources"
	"github.com/shardyard/shardyard/internal/version"
)

// reportInterval is how often a status is written of which only figures or
// words change. Another status or reason of a condition, or phase of an update, is
// written at once.
const reportInterval = 15 * time.Second

// report writes the status.
func (r *run) report(ctx context.Context) error {
	r.summarise()
	return r.publish(ctx)
}

// publish writes the status as it stands.
func (r *run) publish(ctx context.Context) error {
	if !r.worthReporting() {
		return nil
	}
	if err := r.writeStatus(ctx); err != nil {
		// What became of the route is nowhere else.
		r.memory.lastRoute = time.Time{}
		return err
	}
	r.memory.lastReport = r.now()
	return nil
}

// summarise puts what was observed into the status.
func (r *run) summarise() {
	r.status.ObservedGeneration = r.network.Generation
	r.status.OperatorVersion = version.Get().Version
	r.status.NodesWanted = ptr.To(int32(len(r.plan.Nodes)))
	r.status.NodeImage = resources.NodeImage(r.network, r.settings.DefaultNodeImage)
	r.summariseClusters()
	r.note(policy.ClustersAvailable(len(r.plan.Members()), r.lostSites(), r.awaitsClusters))
	if r.blocked || meta.FindStatusCondition(r.status.Conditions, v1alpha1.ConditionApplied) == nil {
		r.note(policy.ObjectsPending(r.waitsFor))
	}
	r.noteVolumes()
	if r.observation != nil {
		if r.machines != nil {
			r.note(policy.MachinesTuned(r.observation, r.machines))
		}
		r.note(diagnosis.NodesReady(r.observation))
		r.note(policy.Producing(r.observation))
		r.note(policy.TCPTuned(r.observation))
		r.noteArchives()
		r.status.NodesReady = ptr.To(int32(r.observation.ReadyNodes()))
		r.summariseChain(r.observation)
	}
	r.status.NodesSummary = nodesSummary(r.status)
	r.noteStalled()
	r.note(policy.Ready(r.status.Conditions, r.network.Generation))
}

// noteStalled says whether the network waits for somebody to change something. Of
// nodes it is not said unless they were seen just now.
func (r *run) noteStalled() {
	stalled := policy.Stalled(r.status.Conditions, r.observation == nil || r.observation.Settling)
	if stalled == nil {
		meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionStalled)
		return
	}
	r.note(*stalled)
}

// noteArchives says whether shards could come back from archives, where there are any.
func (r *run) noteArchives() {
	if r.network.Spec.ArchiveNodes == 0 {
		meta.RemoveStatusCondition(&r.status.Conditions, v1alpha1.ConditionStatesArchived)
		return
	}
	r.note(policy.StatesArchived(r.observation))
}

// nodesSummary is empty when it is not known how many nodes are ready.
func nodesSummary(status *v1alpha1.ShardNetworkStatus) string {
	if status.NodesReady == nil {
		return ""
	}
	return fmt.Sprintf("%d/%d", *status.NodesReady, *status.NodesWanted)
}

// summariseChain copies what the node that is ahead says. Without an answer
// there is nothing to say: old figures would be taken for new ones.
func (r *run) summariseChain(observation *observed.Network) {
	status, best := r.status, observation.Best()
	if best == nil {
		r.forgetChain()
		return
	}
	height := best.Height
	for i := range observation.Nodes {
		if node := observation.Nodes[i].Status; node != nil {
			height = max(height, node.Height)
		}
	}
	status.ShardsProducing = ptr.To(int32(policy.ShardsProducing(observation)))
	status.Height = ptr.To(int64(height))
	status.FinalizedHeight = ptr.To(int64(best.FinalizedHeight))
	status.HighestFinalizedHeight = ptr.To(max(*status.FinalizedHeight, ptr.Deref(status.HighestFinalizedHeight, 0)))
	status.BlockTimeMilliseconds = ptr.To(int32(math.Round(best.BlockTimeMs)))
	status.TransfersPerSecond = ptr.To(int64(math.Round(best.TPS)))
	status.GenesisHash = best.GenesisHash
	if best.Formats != nil {
		status.Formats = best.Formats
	}
}

// forgetChain leaves out what only a running chain can tell.
func (r *run) forgetChain() {
	status := r.status
	status.ShardsProducing, status.Height, status.FinalizedHeight = nil, nil, nil
	status.BlockTimeMilliseconds, status.TransfersPerSecond = nil, nil
}

// worthReporting holds back figures that change all the time.
func (r *run) worthReporting() bool {
	before := &r.network.Status
	if before.ObservedGeneration != r.status.ObservedGeneration || len(before.Conditions) != len(r.status.Conditions) {
		return true
	}
	if !equality.Semantic.DeepEqual(before.Clusters, r.status.Clusters) {
		return true
	}
	for i := range r.status.Conditions {
		now := &r.status.Conditions[i]
		then := meta.FindStatusCondition(before.Conditions, now.Type)
		if then == nil || then.Status != now.Status || then.Reason != now.Reason {
			return true
		}
	}
	if phaseOf(before.Update) != phaseOf(r.status.Update) || revisionOf(before) != revisionOf(r.status) {
		return true
	}
	loadBegan := (before.Load == nil) != (r.status.Load == nil) ||
		before.Load != nil && before.Load.Schedule != r.status.Load.Schedule
	return loadBegan || r.now().Sub(r.memory.lastReport) >= reportInterval &&
		!equality.Semantic.DeepEqual(before, r.status)
}

// phaseOf is how far an update is; empty when there is none.
func phaseOf(update *v1alpha1.UpdateStatus) v1alpha1.UpdatePhase {
	if update == nil {
		return ""
	}
	return update.Phase
}

// revisionOf is what nodes ran when the last update was complete; empty before
// the first.
func revisionOf(status *v1alpha1.ShardNetworkStatus) string {
	if status.StableRevision == nil {
		return ""
	}
	return status.StableRevision.Name
}

// writeStatus writes the status as it stands, unless somebody else wrote the network since
// it was read: it may be another one of its name, or have another status.
func (r *run) writeStatus(ctx context.Context) error {
	version, err := reporting.WriteStatus(ctx, r.client, FieldManager, reporting.StatusOf{
		Kind: v1alpha1.KindShardNetwork, Namespace: r.network.Namespace, Name: r.network.Name,
		ResourceVersion: r.network.ResourceVersion,
	}, r.status)
	r.superseded = r.superseded || apierrors.IsConflict(err)
	if err != nil {
		return err
	}
	r.memory.wrote(version, r.now())
	r.tellTransitions()
	r.network.ResourceVersion, r.network.Status = version, *r.status.DeepCopy()
	return nil
}

// tellTransitions makes an event of every change of a condition that is news, once it is
// written.
func (r *run) tellTransitions() {
	for i := range r.status.Conditions {
		now := &r.status.Conditions[i]
		then := meta.FindStatusCondition(r.network.Status.Conditions, now.Type)
		kind, worth := policy.News(then, now)
		if !worth {
			continue
		}
		r.recorder.Eventf(r.network, nil, kind, now.Reason, now.Type, "%s", reporting.Note(now.Type+": "+now.Message))
	}
}
