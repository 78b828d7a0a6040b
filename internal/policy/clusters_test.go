// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"errors"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/internal/policy/diagnosis"
	"github.com/shardyard/shardyard/internal/policy/observed"
	"github.com/shardyard/shardyard/internal/policy/replacing"
	"github.com/shardyard/shardyard/test/networks"
)

func TestClustersAvailable(t *testing.T) {
	t.Parallel()
	unavailable := away(v1alpha1.ReasonClusterUnavailable, errors.New("EOF"))
	missing := away(v1alpha1.ReasonClusterSecretMissing, errors.New("gone"))
	networks.CheckCondition(t, policy.ClustersAvailable(0, nil, false), metav1.ConditionTrue, v1alpha1.ReasonOwnCluster, "own cluster")
	networks.CheckCondition(t, policy.ClustersAvailable(2, nil, false), metav1.ConditionTrue, v1alpha1.ReasonAllClustersAvailable,
		"2 member clusters")
	networks.CheckCondition(t, policy.ClustersAvailable(2, []policy.LostCluster{unavailable}, false),
		metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable, "the cluster us-east4 cannot be used now: EOF")
	networks.CheckCondition(t, policy.ClustersAvailable(2, []policy.LostCluster{unavailable}, true),
		metav1.ConditionFalse, v1alpha1.ReasonClusterUnavailable, "Nothing of the network is made or changed")
	networks.CheckCondition(t, policy.ClustersAvailable(3, []policy.LostCluster{unavailable, missing}, false),
		metav1.ConditionFalse, v1alpha1.ReasonClusterSecretMissing, "(and so for 1 more of 3 clusters)")
}

// What nobody observes, the node itself may say; what it does not say either is
// not known, and not wrong.
func TestUnobservedNodes(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change func(*observed.Network)
		status metav1.ConditionStatus
		reason string
		want   string
	}{
		"they say that they take part": {
			func(observation *observed.Network) { observation.Nodes[0].SaysReady = true },
			metav1.ConditionTrue, v1alpha1.ReasonAllNodesReady, "all 4 nodes",
		},
		"they say that they do not": {
			func(observation *observed.Network) {
				observation.Nodes[0].NotReady = []string{"no block is finalised yet"}
			},
			metav1.ConditionFalse, v1alpha1.ReasonNodesNotReady, "quickstart-s0-p0 does not take part: no block is finalised yet",
		},
		"they say nothing": {
			func(observation *observed.Network) { observation.Nodes[0].Status = nil },
			metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable, "3 of 4 nodes take part; nothing is known of 1 node ",
		},
		"they never had a pod": {
			func(observation *observed.Network) { networks.NoPod(&observation.Nodes[0]) },
			metav1.ConditionUnknown, v1alpha1.ReasonClusterUnavailable, "nothing is known of 1 node ",
		},
		"another is known to be wrong": {
			func(observation *observed.Network) {
				observation.Nodes[0].Status = nil
				networks.Unscheduled(&observation.Nodes[1], "no room")
			},
			metav1.ConditionFalse, v1alpha1.ReasonUnschedulable, "; nothing is known of 1 node",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 2, 2)
			observation.Nodes[0].Unobserved = true
			test.change(observation)
			networks.CheckCondition(t, diagnosis.NodesReady(observation), test.status, test.reason, test.want)
		})
	}
}

// The nodes of other clusters are replaced while one cannot be used, as long as
// the nodes there say that they take part.
func TestRolloutBesideUnobservedNodes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		silent bool
		want   int
	}{
		"they answer":     {false, 1},
		"they are silent": {true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			observation := networks.Healthy(t, 3, 2)
			for i := range 2 {
				node := &observation.Nodes[i]
				node.Unobserved, node.SaysReady, node.Pod = true, !test.silent, nil
				if test.silent {
					node.Status = nil
				}
			}
			observation.Nodes[4].Outdated = true
			replaced := replacing.NewRollout(observation).Replace
			if len(replaced) != test.want {
				t.Errorf("%d nodes are replaced, want %d", len(replaced), test.want)
			}
		})
	}
}

func TestObjectsRemain(t *testing.T) {
	t.Parallel()
	got := policy.ObjectsRemain(map[string]map[string]int{
		"b": {"Pod": 3},
		"a": {"StatefulSet": 1, "Secret": 2},
	}, nil, errors.New("delete Service x: refused"))
	networks.CheckCondition(t, got, metav1.ConditionFalse, v1alpha1.ReasonObjectsRemain,
		"the cluster a still has 2 Secrets, 1 StatefulSet; the cluster b still has 3 Pods; delete Service x: refused")
	if strings.Contains(got.Message, v1alpha1.FinalizerClusters) {
		t.Errorf("the message advises to give up a cluster that answers: %s", got.Message)
	}
}
