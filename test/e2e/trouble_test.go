// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

const (
	// troubleNamespace takes pods of every kind, strictNamespace only those that
	// ask for nothing.
	troubleNamespace = "trouble"
	strictNamespace  = "strict"

	// absentImage is of a registry that is not there.
	absentImage = "localhost:1/shardnode:absent"
)

// trouble is a network that cannot be as its spec says, and what it says about
// it.
type trouble struct {
	name, namespace string
	change          func(*v1alpha1.ShardNetworkSpec)
	condition       string
	reason          string
	// words are of the message: the cause, and what to do.
	words []string
	// alert is raised about it; none for most.
	alert *alert
}

var troubles = []trouble{
	{
		name:      "no-image",
		namespace: troubleNamespace,
		change:    func(spec *v1alpha1.ShardNetworkSpec) { spec.Node.Image = absentImage },
		condition: v1alpha1.ConditionNodesReady,
		reason:    v1alpha1.ReasonImageUnavailable,
		words:     []string{absentImage, "spec.node.image"},
	},
	{
		name:      "no-machine",
		namespace: troubleNamespace,
		change: func(spec *v1alpha1.ShardNetworkSpec) {
			spec.Regions[0].Name = "nowhere"
			spec.Placement.RegionAffinity = v1alpha1.RegionRequired
		},
		condition: v1alpha1.ConditionNodesReady,
		reason:    v1alpha1.ReasonUnschedulable,
		words:     []string{"topology.kubernetes.io/region=nowhere", "spec.placement"},
	},
	{
		name:      "no-class",
		namespace: troubleNamespace,
		change: func(spec *v1alpha1.ShardNetworkSpec) {
			spec.Volume = &v1alpha1.VolumeSpec{Size: oneGibibyte, StorageClassName: "nowhere"}
		},
		condition: v1alpha1.ConditionNodesReady,
		reason:    v1alpha1.ReasonVolumePending,
		words:     []string{"nowhere", "spec.volume"},
	},
	{
		name:      "no-sysctls",
		namespace: strictNamespace,
		change: func(spec *v1alpha1.ShardNetworkSpec) {
			spec.TCP.Profile = v1alpha1.TCPProfileHighThroughput
		},
		condition: v1alpha1.ConditionNodesReady,
		reason:    v1alpha1.ReasonPodForbidden,
		words:     []string{"forbidden sysctls", "pod-security.kubernetes.io/enforce=privileged"},
	},
	{
		name:      "no-room",
		namespace: troubleNamespace,
		change: func(spec *v1alpha1.ShardNetworkSpec) {
			spec.Volume = &v1alpha1.VolumeSpec{Size: oneGibibyte, StorageClassName: tinyClass}
			spec.Load = &v1alpha1.LoadSpec{Profile: v1alpha1.LoadProfileRamp, Ramp: &v1alpha1.RampLoad{
				Steps: []v1alpha1.RampStep{{TransfersPerSecond: ptr.To[int64](1000), DurationSeconds: 60}},
			}}
		},
		condition: v1alpha1.ConditionNodesReady,
		reason:    v1alpha1.ReasonDiskFull,
		words:     []string{"/var/lib/shardnode", "No space left on device", "spec.volume.size"},
		alert:     &diskFull,
	},
	{
		name:      "no-monitor",
		namespace: strictNamespace,
		change:    func(*v1alpha1.ShardNetworkSpec) {},
		condition: v1alpha1.ConditionMonitored,
		reason:    v1alpha1.ReasonPodMonitorUnavailable,
		words:     []string{"PodMonitor", "install the Prometheus operator"},
	},
}

// goOnWithRoom has the network whose disk is full have room on it, and no load that
// would fill it again. The chain goes on.
func (n *network) goOnWithRoom(t *testing.T, holder *corev1.Pod) {
	t.Helper()
	// Of a disk that is full at once, no node has told of a chain yet.
	before := n.mustRead(t).Status.GenesisHash
	n.patch(t, `{"load": null}`)
	n.waitFor(t, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
	makeRoom(t, holder)
	// It would start by itself, but wait longer before each time.
	for _, pod := range n.mustPods(t) {
		if err := n.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
			t.Fatal(err)
		}
	}
	if after, _ := n.waitForHeight(t, 1); before != "" && after != before {
		t.Errorf("the genesis hash is %s, want %s as before", after, before)
	}
}

// testTroubles makes one network of each trouble, all at the same time.
func (c *cluster) testTroubles(t *testing.T) {
	c.newNamespace(t, troubleNamespace, "privileged")
	c.newNamespace(t, strictNamespace, "restricted")
	holder := c.makeTinyVolume(t, "no-room")
	prometheus := startPrometheus(t, scraping{Reporter: c.report(t), Rules: hurriedRules(t)})
	networks := make([]*network, 0, len(troubles))
	for _, trouble := range troubles {
		spec := newSpec()
		trouble.change(&spec)
		networks = append(networks, c.create(t, trouble.namespace, trouble.name, &spec))
	}

	for i, trouble := range troubles {
		t.Run(trouble.name, func(t *testing.T) {
			found := networks[i].waitFor(t, trouble.condition, metav1.ConditionFalse, trouble.reason)
			for _, words := range trouble.words {
				if !strings.Contains(found.Message, words) {
					t.Errorf("the message is %q, want one that says %q", found.Message, words)
				}
			}
			t.Log(found.Message)
			if trouble.alert != nil {
				trouble.alert.untilRaised(t, prometheus, networks[i].labels())
			}
		})
	}
	t.Run("room is made", func(t *testing.T) {
		full := networks[slices.IndexFunc(troubles, func(one trouble) bool { return one.reason == v1alpha1.ReasonDiskFull })]
		full.goOnWithRoom(t, holder)
		diskFull.untilCleared(t, prometheus, full.labels())
	})
	// Nobody has to read metrics for a network to be ready, and without TCP
	// settings of their own its pods may run where only restricted ones may.
	networks[len(networks)-1].waitFor(t, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonRunning)
	for _, network := range networks {
		network.remove(t)
	}
	for _, network := range networks {
		network.waitForEnd(t)
	}
}
