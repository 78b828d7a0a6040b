// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// A network starts its validators when its NodeTuning is ready, and not before.
func TestANetworkWaitsForItsTuning(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.Placement.NodeTuning = cluster.namespace
	})
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, v1alpha1.ReasonTuningMissing)
	check(t, network, v1alpha1.ConditionGenesisReady, metav1.ConditionTrue, v1alpha1.ReasonGenesisCreated)
	message := check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
	if want := "the NodeTuning " + cluster.namespace; !strings.Contains(message, want) {
		t.Errorf("the message is %q, want one that says %q", message, want)
	}
	if message := check(t, network, v1alpha1.ConditionReady, metav1.ConditionFalse, v1alpha1.ReasonStarting); !strings.Contains(
		message, "there is no NodeTuning") {
		t.Errorf("the network is not ready because %q, want the cause", message)
	}

	tuning := &v1alpha1.NodeTuning{
		ObjectMeta: metav1.ObjectMeta{Name: cluster.namespace},
		Spec:       v1alpha1.NodeTuningSpec{Settings: v1alpha1.NodeTuningSettings{RmemMaxBytes: 134217728}},
	}
	if err := cluster.client.Create(t.Context(), tuning); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, v1alpha1.ReasonTuningNotReady)
	if sets := cluster.validators(network.Name); sets != 0 {
		t.Errorf("%d validators were made before the machines are tuned", sets)
	}

	cluster.setTuned(tuning, metav1.ConditionTrue)
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMachinesTuned, metav1.ConditionTrue, v1alpha1.ReasonTuned)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)

	// What runs is not held back: another image still rolls out.
	cluster.setTuned(tuning, metav1.ConditionFalse)
	network.Spec.Node.Image = "other:2"
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionMachinesTuned, metav1.ConditionFalse, v1alpha1.ReasonTuningNotReady)
	check(t, network, v1alpha1.ConditionApplied, metav1.ConditionTrue, v1alpha1.ReasonObjectsApplied)
}

// setTuned has a NodeTuning say whether its machines are tuned.
func (c *cluster) setTuned(tuning *v1alpha1.NodeTuning, status metav1.ConditionStatus) {
	c.t.Helper()
	meta.SetStatusCondition(&tuning.Status.Conditions, metav1.Condition{
		Type: v1alpha1.ConditionReady, Status: status, Reason: v1alpha1.ReasonTuned, ObservedGeneration: tuning.Generation,
	})
	if err := c.client.Status().Update(c.t.Context(), tuning); err != nil {
		c.t.Fatal(err)
	}
}

// validators counts the StatefulSets of a network.
func (c *cluster) validators(network string) int {
	c.t.Helper()
	count := 0
	for object := range c.objects(network) {
		if strings.HasPrefix(object, "StatefulSet/") {
			count++
		}
	}
	return count
}
