// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

func troublesOfDrains(t *testing.T) []trouble {
	t.Helper()
	kept := func(observation *observed.Network) metav1.Condition {
		return replacing.NewDrains(observation).MachinesKept
	}
	unknown := func(cluster, account string) trouble {
		return ofChain(t, v1alpha1.ReasonMachinesUnknown, kept, func(observation *observed.Network) {
			observation.UnknownMachines = []observed.UnknownMachines{{Cluster: cluster, Cause: errors.New(
				`nodes is forbidden: User "system:serviceaccount:` + account + `" cannot list resource "nodes" in API group "" at the cluster scope`)}}
		})
	}
	return []trouble{
		ofChain(t, v1alpha1.ReasonDraining, kept, func(observation *observed.Network) { networks.Cordon(observation, 0) }),
		ofChain(t, v1alpha1.ReasonDraining, kept, func(observation *observed.Network) { networks.Cordon(observation, 0, 1) }),
		ofChain(t, v1alpha1.ReasonDrainWaiting, kept, func(observation *observed.Network) {
			networks.Cordon(observation, 2)
			networks.NoPod(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonDrainWaiting, kept, func(observation *observed.Network) {
			networks.Cordon(observation, 0)
			networks.Halt(observation)
		}),
		unknown("us-east4", "default:shardyard-member"),
		unknown("", "shardyard-system:shardyard"),
	}
}

func troublesOfHealing(t *testing.T) []trouble {
	t.Helper()
	keepingUp := func(observation *observed.Network) metav1.Condition {
		return replacing.NewHealing(observation).KeepingUp
	}
	return []trouble{
		ofChain(t, v1alpha1.ReasonNodeBehind, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, time.Minute)
		}),
		ofChain(t, v1alpha1.ReasonNodeBehind, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, time.Minute)
			observation.Nodes[0].Status.FinalizedHeight = 1200
			observation.Network.Status.NodesBehind[0].BehindBlocks = ptr.To[int64](299)
		}),
		ofChain(t, v1alpha1.ReasonNodeBehind, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, 20*time.Minute)
			record := &observation.Network.Status.NodesBehind[0]
			record.FinalizedHeight, record.ExecutedHeight = ptr.To[int64](600), ptr.To[int64](600)
			observation.Network.Spec.Healing.Mode = v1alpha1.HealingReport
		}),
		ofChain(t, v1alpha1.ReasonNodeBehind, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, 5*time.Minute)
			networks.Unanswering(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonHealingWaits, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, 5*time.Minute)
			networks.Incomplete(&observation.Nodes[1])
		}),
		ofChain(t, v1alpha1.ReasonNodeRestarted, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, 5*time.Minute)
		}),
		ofChain(t, v1alpha1.ReasonHealingGaveUp, keepingUp, func(observation *observed.Network) {
			networks.Behind(observation, 0, 40*time.Minute, networks.StartedAgain(3))
		}),
		ofChain(t, v1alpha1.ReasonNotJudged, keepingUp, func(observation *observed.Network) {
			observation.Occupied = "the Fault cut-off goes on"
		}),
	}
}

func troublesOfLostVolumes(t *testing.T) []trouble {
	t.Helper()
	lost := func(producers int32, since time.Duration, change func(*observed.Network)) trouble {
		observation := networks.Healthy(t, 2, producers)
		networks.Lose(observation, 0)
		change(observation)
		disk := replacing.NewLostVolumes(observation, networks.LostFor(observation, since), replacing.NewDisk{}, false).Disks["quickstart-s0-p0"]
		observation.Nodes[0].LostDisk = &disk
		return trouble{v1alpha1.ReasonVolumeLost, diagnosis.NodesReady(observation)}
	}
	return []trouble{
		lost(2, time.Hour, func(observation *observed.Network) { observation.Nodes[0].Outdated = true }),
		lost(2, time.Minute, func(*observed.Network) {}),
		lost(2, time.Hour, func(observation *observed.Network) { networks.Incomplete(&observation.Nodes[1]) }),
		lost(2, time.Hour, func(observation *observed.Network) {
			observation.Occupied = "the Fault cut-off goes on"
		}),
		lost(2, time.Hour, func(observation *observed.Network) {
			observation.Nodes[0].LostDisk = observed.LostWithMachines(networks.Claim(corev1.ClaimBound),
				networks.VolumeOn(networks.WithLabels(networks.Labelled(corev1.LabelHostname, "machine-0"))))
			observation.Network.Spec.Healing.LostVolumes = v1alpha1.LostVolumesReport
		}),
		lost(1, time.Hour, func(*observed.Network) {}),
		refusedClaim(t, ""),
		refusedClaim(t, "us-east4"),
	}
}

// refusedClaim is a disk that is gone, of a claim that the operator may not delete.
func refusedClaim(t *testing.T, cluster string) trouble {
	t.Helper()
	observation := networks.Healthy(t, 2, 2)
	networks.Lose(observation, 0)
	observation.Nodes[0].LostDisk.Refuse(cluster, errors.New(`persistentvolumeclaims "data-quickstart-s0-p0-0" is forbidden: `+
		`User "system:serviceaccount:default:shardyard-member" cannot delete resource "persistentvolumeclaims" in API group "" `+
		`in the namespace "default"`))
	return trouble{v1alpha1.ReasonVolumeLost, diagnosis.NodesReady(observation)}
}

func troublesOfRollouts(t *testing.T) []trouble {
	t.Helper()
	rollout := func(observation *observed.Network) metav1.Condition { return replacing.NewRollout(observation).Updated }
	alone := networks.Healthy(t, 4, 1)
	networks.Outdate(alone)
	return []trouble{
		ofChain(t, v1alpha1.ReasonUpdating, rollout, func(observation *observed.Network) {
			networks.Outdate(observation, 2, 3)
		}),
		{v1alpha1.ReasonAwaitingHeight, rollout(networks.ScheduledAt(t, 2000))},
		ofChain(t, v1alpha1.ReasonAwaitingHeight, rollout, func(observation *observed.Network) {
			networks.Outdate(observation)
			observation.Network.Spec.Update.AtHeight = ptr.To[int64](2000)
			observation.Wanted = &v1alpha1.NodeRevision{}
			observation.Network.Status.StableRevision = observation.Wanted
		}),
		ofChain(t, v1alpha1.ReasonAwaitingHeight, rollout, func(observation *observed.Network) {
			networks.Outdate(observation)
			observation.Network.Spec.Update.AtHeight = ptr.To[int64](2000)
			observation.Wanted = &v1alpha1.NodeRevision{}
		}),
		ofChain(t, v1alpha1.ReasonWaiting, rollout, func(observation *observed.Network) {
			networks.Outdate(observation, 1, 2, 3)
			networks.Incomplete(&observation.Nodes[1])
		}),
		ofChain(t, v1alpha1.ReasonWaiting, rollout, func(observation *observed.Network) {
			networks.Outdate(observation, 0)
			networks.NotReady(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonWaiting, rollout, func(observation *observed.Network) {
			networks.Outdate(observation, 0)
			observation.Nodes[3].Status.Peers = 2
		}),
		ofChain(t, v1alpha1.ReasonAwaitingChain, rollout, func(observation *observed.Network) {
			networks.Outdate(observation)
			networks.All(observation, networks.Stopped)
		}),
		ofChain(t, v1alpha1.ReasonAwaitingChain, rollout, func(observation *observed.Network) {
			networks.Outdate(observation)
			networks.All(observation, networks.Ended)
		}),
		{v1alpha1.ReasonOnlyCopy, rollout(alone)},
		ofChain(t, v1alpha1.ReasonUpdatePaused, rollout, func(observation *observed.Network) {
			networks.Outdate(observation, 0)
			networks.KeepsEnding(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonUpdatePaused, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.IsLate(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonUpdatePaused, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.Incomplete(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonUpdatePaused, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.Silence(observation, 1179)
		}),
		ofChain(t, v1alpha1.ReasonUpdatePaused, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.FinalizedAt(observation, "2026-11-21T11:49:00Z")
		}),
		ofChain(t, v1alpha1.ReasonRolledBack, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.Refuse(t, observation)
		}),
		ofChain(t, v1alpha1.ReasonRolledBack, rollout, func(observation *observed.Network) {
			networks.Begun(observation)
			networks.Refuse(t, observation)
			networks.Outdate(observation, 0, 1, 2, 3)
		}),
	}
}
