// SPDX-License-Identifier: Apache-2.0

package diagnosis_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/test/networks"
)

func TestNodesReady(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.CheckCondition(t, diagnosis.NodesReady(observation), metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady,
		"all 4 nodes take part in the chain")

	// The worst is told, whichever comes first, and how many have it.
	networks.NotReady(&observation.Nodes[0])
	networks.Waiting(&observation.Nodes[1], "ErrImagePull", "not found")
	networks.Unscheduled(&observation.Nodes[2], "0/1 nodes are available: 1 Insufficient cpu.")
	networks.Waiting(&observation.Nodes[3], "ErrImagePull", "not found")
	got := diagnosis.NodesReady(observation)
	networks.CheckCondition(t, got, metav1.ConditionFalse, v1alpha1.ReasonImageUnavailable, "0 of 4 nodes take part; the image ")
	if !strings.Contains(got.Message, "of quickstart-s0-p1") || !strings.HasSuffix(got.Message, "(and 1 more like it)") {
		t.Errorf("the message is %q", got.Message)
	}
}

// A pod that is being deleted takes part no longer, whatever its probes say.
func TestLeavingNodesDoNotTakePart(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Leaving(&observation.Nodes[0])
	if got := observation.ReadyNodes(); got != 3 {
		t.Errorf("%d nodes take part, want 3", got)
	}
	networks.CheckCondition(t, diagnosis.NodesReady(observation), metav1.ConditionFalse, v1alpha1.ReasonNodesMissing,
		"quickstart-s0-p0 is being replaced")
}

func TestDiagnosis(t *testing.T) {
	t.Parallel()
	type (
		spec = v1alpha1.ShardNetworkSpec
		node = observed.Node
	)
	cases := map[string]struct {
		change func(*spec, *node)
		reason string
		want   string
	}{
		"no pod": {
			func(_ *spec, node *node) { networks.NoPod(node) },
			v1alpha1.ReasonNodesMissing, "quickstart-s0-p0 has no pod yet",
		},
		"no pod, with a warning": {
			func(_ *spec, node *node) { networks.NoPod(node, "FailedCreate: etcdserver: request timed out") },
			v1alpha1.ReasonNodesMissing, "quickstart-s0-p0 has no pod: FailedCreate: etcdserver: request timed out",
		},
		"refused by a webhook": {
			func(_ *spec, node *node) {
				networks.NoPod(node, `FailedCreate: create Pod failed error: admission webhook "policy.example.com" denied the request: no`)
			},
			v1alpha1.ReasonPodForbidden, "Change the policy or quota that it names",
		},
		"refused by Pod Security for its sysctls": {
			func(spec *spec, node *node) {
				spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
				networks.NoPod(node, networks.PodSecurity)
			},
			v1alpha1.ReasonPodForbidden, "Label the namespace pod-security.kubernetes.io/enforce=privileged, or set spec.tcp.profile",
		},
		"refused for its sysctls, and gone again": {
			func(spec *spec, node *node) {
				spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
				networks.NoPod(node, "SysctlForbidden: "+networks.KubeletSysctl)
			},
			v1alpha1.ReasonSysctlForbidden, "not allowlisted. Allow the unsafe sysctls net.core.* and net.ipv4.*",
		},
		"sysctls that nobody asked for": {
			func(_ *spec, node *node) { networks.Pending(node, networks.KernelSysctl) },
			v1alpha1.ReasonStuck, "cannot set up quickstart-s0-p0: FailedCreatePodSandBox",
		},
		"leaving": {
			func(_ *spec, node *node) { networks.Leaving(node) },
			v1alpha1.ReasonNodesMissing, "quickstart-s0-p0 is being replaced",
		},
		"any machine will do": {
			func(_ *spec, node *node) { networks.Unscheduled(node, "0/1 nodes are available: 1 Too many pods.") },
			v1alpha1.ReasonUnschedulable, "1 Too many pods. Add machines",
		},
		"no room": {
			func(spec *spec, node *node) {
				spec.Node.Resources = &v1alpha1.NodeResources{}
				networks.Unscheduled(node,
					"0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: 0/1 nodes are available: "+
						"1 No preemption victims found for incoming pod.")
			},
			v1alpha1.ReasonUnschedulable,
			"1 Insufficient cpu. Add a machine with room for spec.node.resources; or lower spec.node.resources",
		},
		"wrong region": {
			func(spec *spec, node *node) {
				spec.Placement.RegionAffinity = v1alpha1.RegionRequired
				networks.Unscheduled(node, networks.NoMachine)
			},
			v1alpha1.ReasonUnschedulable,
			"Add a machine with label topology.kubernetes.io/region=local; or set spec.placement.regionAffinity to None",
		},
		"no room for the role": {
			func(spec *spec, node *node) {
				spec.Node.Roles = []v1alpha1.NodeRoleSpec{{Role: v1alpha1.NodeRoleProducer, Resources: &v1alpha1.NodeResources{}}}
				networks.Unscheduled(node, "0/1 nodes are available: 1 Insufficient cpu.")
			},
			v1alpha1.ReasonUnschedulable,
			"1 Insufficient cpu. Add a machine with room for spec.node.roles[0].resources; or lower spec.node.roles[0].resources",
		},
		"no machine of the template's labels": {
			func(spec *spec, node *node) {
				spec.PodTemplate = &v1alpha1.PodTemplate{Spec: &v1alpha1.PodTemplateSpec{
					NodeSelector: map[string]v1alpha1.LabelValue{"disk": "fast"},
				}}
				networks.Unscheduled(node, networks.NoMachine)
			},
			v1alpha1.ReasonUnschedulable, "Add a machine with the labels of spec.podTemplate.spec.nodeSelector; " +
				"or leave out some of spec.podTemplate.spec.nodeSelector",
		},
		"no regions": {
			func(spec *spec, node *node) {
				spec.Placement.RegionAffinity, spec.Regions = v1alpha1.RegionRequired, nil
				networks.Unscheduled(node, networks.NoMachine)
			},
			v1alpha1.ReasonUnschedulable, "Add machines",
		},
		"only disk of a shard": {
			func(spec *spec, node *node) {
				spec.Volume, spec.ProducersPerShard = &v1alpha1.VolumeSpec{}, 1
				networks.Unscheduled(node, "0/1 nodes are available: 1 node(s) had volume node affinity conflict.")
			},
			v1alpha1.ReasonVolumeUnreachable, "which loses the state of shard 0: nobody else has it",
		},
		"disk of a machine without room": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{}
				networks.Unscheduled(node, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match PersistentVolume's node affinity.")
			},
			v1alpha1.ReasonUnschedulable, "no machine takes quickstart-s0-p0",
		},
		"disk elsewhere, in the words of older schedulers": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{}
				networks.Unscheduled(node, "0/2 nodes are available: 1 node(s) were unschedulable, 1 node(s) didn't satisfy plugin(s) [VolumeBinding].")
			},
			v1alpha1.ReasonVolumeUnreachable, "the disk of quickstart-s0-p0 is where no machine takes its pod",
		},
		"disk of a chunk validator": {
			func(spec *spec, node *node) {
				spec.Volume, node.Validator.Seat = &v1alpha1.VolumeSpec{}, nil
				networks.Unscheduled(node, networks.DiskElsewhere)
			},
			v1alpha1.ReasonVolumeUnreachable, "and then pod quickstart-s0-p0-0: a chunk validator keeps no state",
		},
		"default storage class": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{}
				networks.Unscheduled(node, networks.NoDisk)
			},
			v1alpha1.ReasonVolumePending, "Make a default storage class, ",
		},
		"own storage class": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{IOPS: 3000}
				networks.Unscheduled(node, networks.NoDisk)
			},
			v1alpha1.ReasonVolumePending,
			"Install the provisioner pd.csi.storage.gke.io of the storage class shardyard.default.quickstart, ",
		},
		"own storage class of the role": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{Roles: []v1alpha1.RoleVolume{{Role: v1alpha1.NodeRoleProducer, StorageClassName: "local"}}}
				networks.Unscheduled(node, networks.NoDisk)
			},
			v1alpha1.ReasonVolumePending,
			"Make the storage class local, or make the network again with another spec.volume.roles[0].storageClassName",
		},
		"no disk to bind": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{StorageClassName: "local"}
				networks.Unscheduled(node, "0/1 nodes are available: 1 node(s) didn't find available persistent volumes to bind.")
			},
			v1alpha1.ReasonVolumePending, "Make the storage class local, ",
		},
		"image in back-off": {
			func(_ *spec, node *node) {
				networks.Waiting(node, "ImagePullBackOff", "Back-off pulling image", "Failed: Error: ErrImagePull",
					`Failed: Failed to pull image "x": not found`)
			},
			v1alpha1.ReasonImageUnavailable, `cannot be had: Failed: Failed to pull image "x": not found. Correct spec.node.image`,
		},
		"image in back-off, nothing else said": {
			func(_ *spec, node *node) { networks.Waiting(node, "ImagePullBackOff", "Back-off pulling image") },
			v1alpha1.ReasonImageUnavailable, "cannot be had: Back-off pulling image. ",
		},
		"invalid image name": {
			func(_ *spec, node *node) { networks.Waiting(node, "InvalidImageName", "") },
			v1alpha1.ReasonImageUnavailable, "cannot be had: InvalidImageName. ",
		},
		"container being made": {
			func(_ *spec, node *node) { networks.Waiting(node, "ContainerCreating", "") },
			v1alpha1.ReasonNodesMissing, "quickstart-s0-p0 is starting",
		},
		"disk quota": {
			func(_ *spec, node *node) {
				networks.Crashed(node, corev1.ContainerStateTerminated{
					ExitCode: 1, Message: "data directory /data cannot be used: Disk quota exceeded (os error 122)",
				})
			},
			v1alpha1.ReasonDiskFull, "cannot be used: Disk quota exceeded (os error 122); give its machine more room",
		},
		"evicted for inodes, and gone again": {
			func(_ *spec, node *node) { networks.NoPod(node, "Evicted: The node was low on resource: inodes. ") },
			v1alpha1.ReasonDiskFull, "is out of disk: The node was low on resource: inodes; make room on it, where data is",
		},
		"evicted for its disk, with a volume": {
			func(spec *spec, node *node) {
				spec.Volume = &v1alpha1.VolumeSpec{}
				networks.Failed(node, "Evicted", "The node had condition: [DiskPressure]. ")
			},
			v1alpha1.ReasonDiskFull, "[DiskPressure]; make room on it",
		},
		"evicted for memory": {
			func(_ *spec, node *node) { networks.Failed(node, "Evicted", "The node was low on resource: memory. ") },
			v1alpha1.ReasonOutOfMemory, "set spec.node.resources.requests.memory",
		},
		"evicted for something else": {
			func(_ *spec, node *node) { networks.Failed(node, "Evicted", "The node was low on resource: pids. ") },
			v1alpha1.ReasonNodesMissing, "quickstart-s0-p0 was evicted: The node was low on resource: pids",
		},
		"crash just now": {
			func(_ *spec, node *node) {
				networks.NotReady(node)
				node.Pod.Status.ContainerStatuses[0].State = corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "first line\nnode cannot go on: consensus\n"},
				}
			},
			v1alpha1.ReasonCrashing,
			"quickstart-s0-p0 ends with exit code 1: node cannot go on: consensus. See kubectl logs --previous quickstart-s0-p0-0",
		},
		"crash without a word": {
			func(_ *spec, node *node) {
				networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 139, Reason: "Error"})
			},
			v1alpha1.ReasonCrashing, "ends with exit code 139 and says nothing (Error): see kubectl logs",
		},
		"running again after a crash": {
			func(_ *spec, node *node) {
				networks.NotReady(node, "executed height 12, finalised height 1200")
				node.Pod.Status.ContainerStatuses[0].LastTerminationState = corev1.ContainerState{
					Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Message: "node cannot go on"},
				}
			},
			v1alpha1.ReasonNodesNotReady, "does not take part: executed height 12, finalised height 1200",
		},
		"stopped cleanly": {
			func(_ *spec, node *node) {
				networks.Crashed(node, corev1.ContainerStateTerminated{ExitCode: 0, Reason: "Completed"})
			},
			v1alpha1.ReasonNodesNotReady, "quickstart-s0-p0 does not take part yet",
		},
		"several reasons": {
			func(_ *spec, node *node) { networks.NotReady(node, "no peer", "no block") },
			v1alpha1.ReasonNodesNotReady, "quickstart-s0-p0 does not take part: no peer; no block",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			test.change(&observation.Network.Spec, &observation.Nodes[0])
			networks.CheckCondition(t, diagnosis.NodesReady(observation), metav1.ConditionFalse, test.reason, test.want)
		})
	}
}

// Somebody else's words cannot make a message longer than a condition may be.
func TestLongWords(t *testing.T) {
	t.Parallel()
	observation := networks.Healthy(t, 2, 2)
	networks.Pending(&observation.Nodes[0], "FailedMount: "+strings.Repeat("ü\n", 20_000))
	message := diagnosis.NodesReady(observation).Message
	if len(message) > 1000 || !utf8.ValidString(message) || strings.Contains(message, "\n") || !strings.Contains(message, "…") {
		t.Errorf("the message of %d bytes is %q", len(message), message)
	}
}
