// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// A network tells of its archives only if it has some.
func TestStatesArchived(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(func(network *v1alpha1.ShardNetwork) {
		network.Spec.ArchiveNodes, network.Spec.Regions = 1, nil
		network.Spec.Node.Features.SaveUntrackedChunkParts = v1alpha1.SwitchEnabled
	})
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionStatesArchived, metav1.ConditionUnknown, v1alpha1.ReasonNoAnswer)

	other := newCluster(t)
	without := other.create()
	other.mustReconcile(without)
	if found := meta.FindStatusCondition(without.Status.Conditions, v1alpha1.ConditionStatesArchived); found != nil {
		t.Errorf("without archives, the condition is %+v", found)
	}
}
