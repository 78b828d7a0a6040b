// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/condition"
	"github.com/shardyard/shardyard/internal/policy/wording"
)

// The end of a lifetime is announced for its last tenth, but not for longer
// than an hour.
const (
	announcedShare = 10
	announcedMost  = time.Hour
)

// EndOfLifetime is when the lifetime of a network ends. It counts from the
// network's creation, which the API server keeps: no restart of the operator
// and no trouble of the network puts the end off.
func EndOfLifetime(network *v1alpha1.ShardNetwork) (time.Time, bool) {
	if network.Spec.Lifetime == nil {
		return time.Time{}, false
	}
	return network.CreationTimestamp.Add(lifetime(network)), true
}

func lifetime(network *v1alpha1.ShardNetwork) time.Duration {
	return time.Duration(network.Spec.Lifetime.DurationSeconds) * time.Second
}

// LifetimeEnded says whether the lifetime of a network has ended.
func LifetimeEnded(network *v1alpha1.ShardNetwork, now time.Time) bool {
	end, ends := EndOfLifetime(network)
	return ends && !now.Before(end)
}

// WithinLifetime is a network whose lifetime has not ended.
func WithinLifetime(network *v1alpha1.ShardNetwork, now time.Time) metav1.Condition {
	end, ends := EndOfLifetime(network)
	if !ends {
		return condition.New(v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonNoLifetime,
			"the network stays until it is deleted")
	}
	fate := "stopped"
	if network.Spec.Lifetime.Action == v1alpha1.LifetimeDelete {
		fate = "deleted"
	}
	message := fmt.Sprintf("the network is %s at %s, %s after its creation", fate, wording.Instant(end), lifetime(network))
	if end.Sub(now) > min(lifetime(network)/announcedShare, announcedMost) {
		return condition.New(v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonLifetimeRunning, message)
	}
	return condition.New(v1alpha1.ConditionWithinLifetime, metav1.ConditionTrue, v1alpha1.ReasonLifetimeEnding,
		message+": raise spec.lifetime.durationSeconds to keep it for longer")
}

// Deleted is a network that is deleted because its lifetime has ended.
func Deleted(network *v1alpha1.ShardNetwork) metav1.Condition {
	end, _ := EndOfLifetime(network)
	return condition.New(v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, v1alpha1.ReasonLifetimeEnded, fmt.Sprintf(
		"the lifetime of the network ended at %s, %s after its creation, and it is deleted", wording.Instant(end), lifetime(network)))
}

// Stopped are the conditions of a network that is stopped because its lifetime
// has ended: some nodes still run, and of some nothing is known because of their
// cluster. Those that tell of nodes and of the chain follow the first.
func Stopped(network *v1alpha1.ShardNetwork, running, unobserved int) []metav1.Condition {
	end, _ := EndOfLifetime(network)
	ended := fmt.Sprintf("the lifetime of the network ended at %s, %s after its creation, and ", wording.Instant(end), lifetime(network))
	reason, message := v1alpha1.ReasonStopped, ended+"it is stopped; its disks are kept. "+
		"Raise spec.lifetime.durationSeconds, or leave out spec.lifetime, and the chain goes on"
	switch {
	case running > 0:
		reason, message = v1alpha1.ReasonStopping, ended+wording.Count(running, "node")+" of it still run or end"
	case unobserved > 0:
		reason, message = v1alpha1.ReasonStopping, fmt.Sprintf("%snothing is known of its %s in clusters that cannot be used now: "+
			"see the condition ClustersAvailable", ended, wording.Count(unobserved, "node"))
	}
	found := []metav1.Condition{condition.New(v1alpha1.ConditionWithinLifetime, metav1.ConditionFalse, reason, message)}
	const see = "the lifetime of the network has ended: see the condition WithinLifetime"
	for _, kind := range []string{v1alpha1.ConditionNodesReady, v1alpha1.ConditionProducing} {
		found = append(found, condition.New(kind, metav1.ConditionFalse, reason, see))
	}
	unknown := []string{v1alpha1.ConditionTCPTuned, v1alpha1.ConditionUpdated, v1alpha1.ConditionKeepingUp, v1alpha1.ConditionMachinesKept}
	if network.Spec.Volume != nil {
		unknown = append(unknown, v1alpha1.ConditionVolumesSized)
	}
	if network.Spec.ArchiveNodes > 0 {
		unknown = append(unknown, v1alpha1.ConditionStatesArchived)
	}
	for _, kind := range unknown {
		found = append(found, condition.New(kind, metav1.ConditionUnknown, reason, see))
	}
	return found
}
