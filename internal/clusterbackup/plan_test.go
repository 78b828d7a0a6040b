// SPDX-License-Identifier: Apache-2.0

package clusterbackup

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Only a network whose operator says that it is stopped, as it is now, and that has no
// pods, can be kept.
func TestCheckStopped(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*v1alpha1.ShardNetwork)
		pods   int
		want   string
	}{
		"stopped":     {func(*v1alpha1.ShardNetwork) {}, 0, ""},
		"no lifetime": {func(n *v1alpha1.ShardNetwork) { n.Spec.Lifetime = nil }, 0, "stop it first, by spec.lifetime with the action Stop"},
		"it ends otherwise": {func(n *v1alpha1.ShardNetwork) {
			n.Spec.Lifetime.Action = v1alpha1.LifetimeDelete
		}, 0, "stop it first"},
		"nobody looked": {func(n *v1alpha1.ShardNetwork) { n.Status.Conditions = nil }, 0, "the operator has not seen yet"},
		"it changed":    {func(n *v1alpha1.ShardNetwork) { n.Generation++ }, 0, "the operator has not seen yet what network net is to be"},
		"it stops": {func(n *v1alpha1.ShardNetwork) {
			n.Status.Conditions[0].Reason, n.Status.Conditions[0].Message = v1alpha1.ReasonStopping, "2 nodes still run"
		}, 0, "it is Stopping: 2 nodes still run"},
		"a pod":      {func(*v1alpha1.ShardNetwork) {}, 1, "is not stopped: it has 1 pods"},
		"it is gone": {func(n *v1alpha1.ShardNetwork) { n.DeletionTimestamp = ptr.To(metav1.Now()) }, 0, "is being deleted"},
		"several clusters": {func(n *v1alpha1.ShardNetwork) {
			n.Spec.Regions = []v1alpha1.Region{{Name: "here"}, {Name: "there", Cluster: "other"}}
		}, 0, "only networks of one cluster"},
	} {
		network := &v1alpha1.ShardNetwork{}
		network.Name, network.Generation = "net", 3
		network.Spec.Lifetime = &v1alpha1.LifetimeSpec{DurationSeconds: 60, Action: v1alpha1.LifetimeStop}
		network.Status.Conditions = []metav1.Condition{{
			Type: v1alpha1.ConditionWithinLifetime, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonStopped, ObservedGeneration: 3,
		}}
		test.change(network)
		err := checkStopped(network, test.pods)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: the error is %v, want %q", name, err, test.want)
		}
	}
}

// Two pods at a time would write to the disk of a node that is named twice.
func TestNodesAreChosenOnce(t *testing.T) {
	t.Parallel()
	plan := &topology.Plan{Network: "net", Nodes: []topology.Validator{{Name: "net-s0-p0"}, {Name: "net-s0-p1"}}}
	nodes, err := chosen(plan, []string{"net-s0-p1", "net-s0-p0", "net-s0-p1"})
	if err != nil || len(nodes) != 2 || nodes[0].Name != "net-s0-p1" || nodes[1].Name != "net-s0-p0" {
		t.Errorf("the nodes are %v (%v)", nodes, err)
	}
}
