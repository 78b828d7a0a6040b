// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

// trouble is a condition that is not True, and how it comes about.
type trouble struct {
	reason    string
	condition metav1.Condition
}

// ofNode is a trouble of a network's first node.
func ofNode(t *testing.T, reason string, change func(*v1alpha1.ShardNetworkSpec, *observed.Node)) trouble {
	t.Helper()
	observation := networks.Healthy(t, 2, 2)
	change(&observation.Network.Spec, &observation.Nodes[0])
	return trouble{reason, diagnosis.NodesReady(observation)}
}

// ofChain is a trouble of a network whose nodes all take part.
func ofChain(
	t *testing.T, reason string, find func(*observed.Network) metav1.Condition, change func(*observed.Network),
) trouble {
	t.Helper()
	observation := networks.Healthy(t, 2, 2)
	change(observation)
	return trouble{reason, find(observation)}
}

// troubles are what the guide says of networks: at least one of every reason.
func troubles(t *testing.T) []trouble {
	t.Helper()
	found := slices.Concat(
		troublesOfNodes(t), troublesOfChains(t), troublesOfRollouts(t), troublesOfClusters(t), troublesOfMoney(t), troublesOfLifetimes(t),
		troublesOfMachines(t), troublesOfImages(), troublesOfDrains(t), troublesOfHealing(t),
		troublesOfRoutes(), troublesOfVolumes(t), troublesOfArchives(t),
		troublesOfLostVolumes(t))
	return append(found,
		trouble{v1alpha1.ReasonGenesisPending, policy.GenesisPending()},
		trouble{v1alpha1.ReasonGenesisPending, policy.GenesisRestored("quickstart-genesis")},
		trouble{v1alpha1.ReasonGenesisMismatch, policy.GenesisMismatch("quickstart-genesis", "spec.genesis.seed is another")},
		trouble{v1alpha1.ReasonGenesisMissing, policy.GenesisMissing("quickstart-genesis")},
		trouble{v1alpha1.ReasonKeyMissing, policy.KeyMissing("quickstart-s0-p0-key")},
		trouble{v1alpha1.ReasonKeyInvalid, policy.KeyInvalid("quickstart-s0-p0-key", errors.New("a key is 64 hex digits"))},
		trouble{v1alpha1.ReasonObjectsPending, policy.ObjectsPending(policy.ForGenesis)},
		trouble{v1alpha1.ReasonObjectsPending, policy.ObjectsPending(policy.ForBudget)},
		trouble{v1alpha1.ReasonObjectsPending, policy.ObjectsPending(policy.ForLifetime)},
		trouble{v1alpha1.ReasonNameTaken, policy.NameTaken("Service", "quickstart-p2p")},
		trouble{v1alpha1.ReasonPredecessorRemains, policy.PredecessorRemains("Service", "quickstart-p2p")},
		trouble{v1alpha1.ReasonApplyFailed, policy.ApplyFailed(errors.New(
			`apply StatefulSet quickstart-s0-p0: statefulsets.apps "quickstart-s0-p0" is forbidden: exceeded quota: team, ` +
				`requested: count/statefulsets.apps=1, used: count/statefulsets.apps=3, limited: count/statefulsets.apps=3`))},
		trouble{v1alpha1.ReasonPodMonitorUnavailable, policy.PodMonitorUnavailable([]string{""})},
		trouble{v1alpha1.ReasonPodMonitorUnavailable, policy.PodMonitorUnavailable([]string{"us-east4", ""})},
		trouble{v1alpha1.ReasonPodMonitorFailed, policy.PodMonitorFailed(errors.New(
			`admission webhook "prometheusrulemutate.monitoring.coreos.com" denied the request`))},
	)
}

// away is a member cluster that cannot be used.
func away(reason string, cause error) policy.LostCluster {
	return policy.LostCluster{Name: "us-east4", Nodes: 2, Reason: reason, Cause: cause}
}

func troublesOfClusters(t *testing.T) []trouble {
	t.Helper()
	noAnswer := away(v1alpha1.ReasonClusterUnavailable, errors.New(
		`Get "https://203.0.113.7/apis/apps/v1/namespaces/default/statefulsets?limit=1": dial tcp 203.0.113.7:443: i/o timeout`))
	missing := away(v1alpha1.ReasonClusterSecretMissing, errors.New("the Secret does not exist"))
	invalid := away(v1alpha1.ReasonClusterSecretInvalid, errors.New("its key kubeconfig: exec is not accepted: "+
		"the operator runs no programs of others"))
	replaced := away(v1alpha1.ReasonClusterReplaced, errors.New("the UID of its namespace kube-system is "+
		"5f0c3a52-4f7e-4f0a-9a57-3f1c0f0d8a11, and theirs c2a1b6de-77a4-4b58-8a43-0d1c8c1f9e02"))
	ofMembers := func(lost policy.LostCluster) trouble {
		return trouble{lost.Reason, policy.ClustersAvailable(2, []policy.LostCluster{lost}, false)}
	}
	left := map[string]map[string]int{"us-east4": {"PersistentVolumeClaim": 2, "Pod": 1}}
	removed := policy.ObjectsRemain(left, nil, nil)
	observation := networks.Healthy(t, 2, 2)
	for i := range 2 {
		observation.Nodes[i].Unobserved, observation.Nodes[i].Status = true, nil
	}
	return []trouble{
		ofMembers(missing),
		ofMembers(invalid),
		ofMembers(replaced),
		ofMembers(noAnswer),
		{v1alpha1.ReasonClusterUnavailable, policy.ClustersAvailable(2, []policy.LostCluster{noAnswer}, true)},
		{v1alpha1.ReasonClusterUnavailable, policy.ApplyUnknown([]policy.LostCluster{noAnswer})},
		{v1alpha1.ReasonClusterUnavailable, diagnosis.NodesReady(observation)},
		{v1alpha1.ReasonClusterUnavailable, policy.MonitoringUnknown([]policy.LostCluster{noAnswer})},
		{v1alpha1.ReasonGenesisPending, policy.GenesisWaits([]policy.LostCluster{noAnswer})},
		{v1alpha1.ReasonObjectsRemain, removed},
		{v1alpha1.ReasonClusterUnavailable, policy.ObjectsRemain(nil, []policy.LostCluster{noAnswer}, nil)},
		{v1alpha1.ReasonDeleting, policy.Deleting([]metav1.Condition{removed})},
	}
}

func troublesOfNodes(t *testing.T) []trouble {
	t.Helper()
	type (
		spec = v1alpha1.ShardNetworkSpec
		node = observed.Node
	)
	return []trouble{
		ofNode(t, v1alpha1.ReasonSysctlForbidden, func(spec *spec, node *node) {
			spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
			networks.Failed(node, "SysctlForbidden", networks.KubeletSysctl)
		}),
		ofNode(t, v1alpha1.ReasonSysctlForbidden, func(spec *spec, node *node) {
			spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
			networks.Pending(node, networks.KernelSysctl)
		}),
		ofNode(t, v1alpha1.ReasonPodForbidden, func(spec *spec, node *node) {
			spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
			networks.NoPod(node, networks.PodSecurity)
		}),
		ofNode(t, v1alpha1.ReasonPodForbidden, func(_ *spec, node *node) { networks.NoPod(node, networks.Quota) }),
		ofNode(t, v1alpha1.ReasonImageUnavailable, func(spec *spec, node *node) {
			spec.Node.Image = "ghcr.io/shardyard/shardnode:nope"
			node.Pod.Spec.Containers[0].Image = spec.Node.Image
			networks.Waiting(node, "ErrImagePull", networks.NoImage)
		}),
		ofNode(t, v1alpha1.ReasonStatesContradict, func(_ *spec, node *node) {
			networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: networks.OtherState})
		}),
		ofNode(t, v1alpha1.ReasonDiskFull, func(spec *spec, node *node) {
			spec.Volume = &v1alpha1.VolumeSpec{}
			networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: networks.DiskFull})
		}),
		ofNode(t, v1alpha1.ReasonDiskFull, func(_ *spec, node *node) {
			networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error", Message: networks.DiskFull})
		}),
		ofNode(t, v1alpha1.ReasonDiskFull, func(_ *spec, node *node) { networks.Failed(node, "Evicted", networks.EvictedForDisk) }),
		ofNode(t, v1alpha1.ReasonOutOfMemory, func(spec *spec, node *node) {
			spec.Node.Resources = &v1alpha1.NodeResources{
				Limits: &v1alpha1.ResourceAmounts{Memory: ptr.To(resource.MustParse("512Mi"))},
			}
			networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}),
		ofNode(t, v1alpha1.ReasonOutOfMemory, func(_ *spec, node *node) {
			networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 137, Reason: "OOMKilled"})
		}),
		ofNode(t, v1alpha1.ReasonCrashing, func(_ *spec, node *node) {
			networks.Crashed(node, corev1.ContainerStateTerminated{
				ExitCode: 2, Reason: "Error", Message: "config.json: features: unknown field `turbo`\n",
			})
		}),
		ofNode(t, v1alpha1.ReasonUnschedulable, func(spec *spec, node *node) {
			spec.Placement = v1alpha1.PlacementSpec{
				MachineType:    "c4d-highmem-16",
				Exclusivity:    v1alpha1.OneValidatorPerMachine,
				RegionAffinity: v1alpha1.RegionRequired,
			}
			networks.Unscheduled(node, networks.NoMachine)
		}),
		ofNode(t, v1alpha1.ReasonVolumePending, func(spec *spec, node *node) {
			spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: "fast"}
			networks.Unscheduled(node, networks.NoDisk)
		}),
		ofNode(t, v1alpha1.ReasonVolumePending, func(spec *spec, node *node) {
			spec.Volume = &v1alpha1.VolumeSpec{IOPS: 20_000}
			networks.Unscheduled(node, networks.NoDisk)
		}),
		ofNode(t, v1alpha1.ReasonVolumeUnreachable, func(spec *spec, node *node) {
			spec.Volume = &v1alpha1.VolumeSpec{}
			networks.Unscheduled(node, networks.DiskElsewhere)
		}),
		ofNode(t, v1alpha1.ReasonMachineNotReady, func(_ *spec, node *node) { networks.SilentMachine(node) }),
		ofNode(t, v1alpha1.ReasonMachineGone, func(_ *spec, node *node) {
			networks.NotReady(node)
			node.Status, node.Machine = nil, observed.MachineOf("machine-0", nil)
		}),
		ofNode(t, v1alpha1.ReasonStuck, func(_ *spec, node *node) { networks.Pending(node, networks.NoFile) }),
		ofNode(t, v1alpha1.ReasonNodesMissing, func(_ *spec, node *node) { networks.NoPod(node) }),
		ofNode(t, v1alpha1.ReasonNodesNotReady, func(_ *spec, node *node) {
			networks.NotReady(node, "connected to 1 peer, quorum needs 2")
		}),
	}
}

// estimate is what a network costs by the prices that the program has.
func estimate(t rapid.TB, observation *observed.Network) *cost.Estimate {
	t.Helper()
	prices, err := cost.ReadPrices()
	if err != nil {
		t.Fatal(err)
	}
	return cost.New(observation.Network, observation.Plan, prices)
}

func troublesOfMoney(t *testing.T) []trouble {
	t.Helper()
	budget := &v1alpha1.BudgetSpec{USDPerHour: ptr.To[int32](5)}
	observation := networks.Healthy(t, 2, 2)
	spec := &observation.Network.Spec
	spec.Placement.RegionAffinity = v1alpha1.RegionRequired
	unpriced := policy.WithinBudget(budget, estimate(t, observation))
	spec.Regions[0].Name, observation.Plan.Regions[0].Name = "us-east1", "us-east1"
	for i := range observation.Plan.Nodes {
		observation.Plan.Nodes[i].Region = "us-east1"
	}
	spec.Placement.Exclusivity, spec.Placement.MachineType = v1alpha1.OneValidatorPerMachine, "c4d-highmem-16"
	spec.Volume = &v1alpha1.VolumeSpec{
		Size: resource.MustParse("400Gi"), IOPS: 20_000, ThroughputMebibytesPerSecond: 1144,
	}
	spec.Lifetime = &v1alpha1.LifetimeSpec{DurationSeconds: 7200}
	perHour := policy.WithinBudget(&v1alpha1.BudgetSpec{USDPerHour: ptr.To[int32](4)}, estimate(t, observation))
	perRun := policy.WithinBudget(&v1alpha1.BudgetSpec{USDPerRun: ptr.To[int32](8)}, estimate(t, observation))
	return []trouble{
		{v1alpha1.ReasonCostUnknown, unpriced},
		{v1alpha1.ReasonBudgetExceeded, perHour},
		{v1alpha1.ReasonBudgetExceeded, perRun},
	}
}

func troublesOfLifetimes(t *testing.T) []trouble {
	t.Helper()
	ending := networks.Now.Add(-10 * time.Minute)
	return []trouble{
		{v1alpha1.ReasonLifetimeEnding, policy.WithinLifetime(mortal(v1alpha1.LifetimeStop), ending)},
		{v1alpha1.ReasonLifetimeEnding, policy.WithinLifetime(mortal(v1alpha1.LifetimeDelete), ending)},
		{v1alpha1.ReasonLifetimeEnded, policy.Deleted(mortal(v1alpha1.LifetimeDelete))},
		{v1alpha1.ReasonStopping, policy.Stopped(mortal(v1alpha1.LifetimeStop), 3, 2)[0]},
		{v1alpha1.ReasonStopping, policy.Stopped(mortal(v1alpha1.LifetimeStop), 0, 2)[0]},
		{v1alpha1.ReasonStopped, policy.Stopped(mortal(v1alpha1.LifetimeStop), 0, 0)[0]},
		{v1alpha1.ReasonStopped, policy.Stopped(mortal(v1alpha1.LifetimeStop), 0, 0)[1]},
	}
}

func troublesOfChains(t *testing.T) []trouble {
	t.Helper()
	ready := func(observation *observed.Network) metav1.Condition {
		return policy.Ready([]metav1.Condition{policy.GenesisCreated(4), policy.ObjectsApplied(16, 1), diagnosis.NodesReady(observation)}, 0)
	}
	degraded := func(observation *observed.Network) metav1.Condition {
		return policy.Ready([]metav1.Condition{
			{Type: v1alpha1.ConditionReady, Status: metav1.ConditionTrue, Reason: v1alpha1.ReasonRunning},
			policy.GenesisCreated(4), policy.ObjectsApplied(16, 1), diagnosis.NodesReady(observation),
		}, 0)
	}
	return []trouble{
		ofChain(t, v1alpha1.ReasonStarting, ready, func(observation *observed.Network) {
			networks.Pending(&observation.Nodes[0])
		}),
		ofChain(t, v1alpha1.ReasonDegraded, degraded, func(observation *observed.Network) {
			networks.NotReady(&observation.Nodes[0], "connected to 1 peer, quorum needs 2")
		}),
		ofChain(t, v1alpha1.ReasonNoAnswer, policy.Producing, func(observation *observed.Network) {
			for i := range observation.Nodes {
				observation.Nodes[i].Status = nil
			}
		}),
		ofChain(t, v1alpha1.ReasonChainStalled, policy.Producing, func(observation *observed.Network) {
			networks.FinalizedAt(observation, "2026-11-21T11:58:00Z")
		}),
		ofChain(t, v1alpha1.ReasonShardsNotProducing, policy.Producing, func(observation *observed.Network) {
			for i := range observation.Nodes {
				observation.Nodes[i].Status.Shards[1].ChunkHeight = 1180
			}
		}),
		ofChain(t, v1alpha1.ReasonWrongGenesis, policy.Producing, func(observation *observed.Network) {
			observation.Nodes[3].Status.GenesisHash = "90ab"
		}),
		ofChain(t, v1alpha1.ReasonSupplyNotConserved, policy.Producing, func(observation *observed.Network) {
			for i := range observation.Nodes {
				observation.Nodes[i].Status.Supply.Balances, observation.Nodes[i].Status.Supply.Conserved = 991, false
			}
		}),
		ofChain(t, v1alpha1.ReasonNotTuned, policy.TCPTuned, func(observation *observed.Network) {
			tune(observation)
			*observation.Nodes[2].Status.TCP.CongestionControl = "cubic"
		}),
	}
}
