// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
	"github.com/shardyard/shardyard/test/networks"
)

func TestReady(t *testing.T) {
	t.Parallel()
	const generation = 2
	setOf := func(generation int64, kind string, status metav1.ConditionStatus) func(*[]metav1.Condition) {
		return func(conditions *[]metav1.Condition) {
			meta.SetStatusCondition(conditions, metav1.Condition{
				Type: kind, Status: status, Reason: "Test", Message: "about " + kind, ObservedGeneration: generation,
			})
		}
	}
	set := func(kind string, status metav1.ConditionStatus) func(*[]metav1.Condition) {
		return setOf(generation, kind, status)
	}
	was := func(reason string) func(*[]metav1.Condition) {
		return func(conditions *[]metav1.Condition) {
			meta.SetStatusCondition(conditions, metav1.Condition{Type: v1alpha1.ConditionReady, Reason: reason})
		}
	}
	scheduled := func(conditions *[]metav1.Condition) {
		meta.SetStatusCondition(conditions, metav1.Condition{
			Type: v1alpha1.ConditionUpdated, Status: metav1.ConditionFalse, Reason: v1alpha1.ReasonAwaitingHeight,
			Message: "the change of spec.tcp waits", ObservedGeneration: generation,
		})
	}
	cases := map[string]struct {
		changes []func(*[]metav1.Condition)
		status  metav1.ConditionStatus
		reason  string
		want    string
	}{
		"all true": {nil, metav1.ConditionTrue, v1alpha1.ReasonRunning, "runs as its spec says"},
		"one false": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionTCPTuned, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about TCPTuned",
		},
		"one unknown": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionProducing, metav1.ConditionUnknown)},
			metav1.ConditionUnknown, v1alpha1.ReasonStarting, "about Producing",
		},
		"false before unknown": {
			[]func(*[]metav1.Condition){
				set(v1alpha1.ConditionProducing, metav1.ConditionUnknown), set(v1alpha1.ConditionUpdated, metav1.ConditionFalse),
			},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about Updated",
		},
		"the first cause": {
			[]func(*[]metav1.Condition){
				set(v1alpha1.ConditionProducing, metav1.ConditionFalse), set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse),
			},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about NodesReady",
		},
		"one missing": {
			[]func(*[]metav1.Condition){func(conditions *[]metav1.Condition) {
				meta.RemoveStatusCondition(conditions, v1alpha1.ConditionUpdated)
			}},
			metav1.ConditionUnknown, v1alpha1.ReasonStarting, "Updated is not known yet",
		},
		"one of the spec before": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), setOf(1, v1alpha1.ConditionUpdated, metav1.ConditionTrue)},
			metav1.ConditionUnknown, v1alpha1.ReasonDegraded, "Updated is not known yet of the spec as it is now",
		},
		"one that was false with the spec before": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), setOf(1, v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonDegraded, "about NodesReady",
		},
		"awaiting the height of the update before": {
			[]func(*[]metav1.Condition){scheduled, func(conditions *[]metav1.Condition) {
				meta.FindStatusCondition(*conditions, v1alpha1.ConditionUpdated).ObservedGeneration = 1
			}},
			metav1.ConditionUnknown, v1alpha1.ReasonStarting, "Updated is not known yet of the spec as it is now",
		},
		"was running": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonDegraded, "about NodesReady",
		},
		"was degraded": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonDegraded), set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonDegraded, "about NodesReady",
		},
		"was starting": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonStarting), set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about NodesReady",
		},
		"over its budget": {
			[]func(*[]metav1.Condition){
				set(v1alpha1.ConditionWithinBudget, metav1.ConditionFalse), set(v1alpha1.ConditionApplied, metav1.ConditionFalse),
			},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about WithinBudget",
		},
		"stopped": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), func(conditions *[]metav1.Condition) {
				for _, condition := range policy.Stopped(mortal(v1alpha1.LifetimeStop), 0, 0) {
					meta.SetStatusCondition(conditions, condition)
				}
			}},
			metav1.ConditionFalse, v1alpha1.ReasonStopped, "it is stopped; its disks are kept",
		},
		"begun again": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonStopped), set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonStarting, "about NodesReady",
		},
		"awaiting the height of an update": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), scheduled},
			metav1.ConditionTrue, v1alpha1.ReasonRunning, "runs as it is to until its update begins: the change of spec.tcp waits",
		},
		"awaiting the height of an update, with a node missing": {
			[]func(*[]metav1.Condition){was(v1alpha1.ReasonRunning), scheduled, set(v1alpha1.ConditionNodesReady, metav1.ConditionFalse)},
			metav1.ConditionFalse, v1alpha1.ReasonDegraded, "about NodesReady",
		},
		"not monitored": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionMonitored, metav1.ConditionFalse)},
			metav1.ConditionTrue, v1alpha1.ReasonRunning, "",
		},
		"not routed": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionRouted, metav1.ConditionFalse)},
			metav1.ConditionTrue, v1alpha1.ReasonRunning, "",
		},
		"not keeping up": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionKeepingUp, metav1.ConditionFalse)},
			metav1.ConditionTrue, v1alpha1.ReasonRunning, "",
		},
		"states not archived": {
			[]func(*[]metav1.Condition){set(v1alpha1.ConditionStatesArchived, metav1.ConditionFalse)},
			metav1.ConditionTrue, v1alpha1.ReasonRunning, "",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var conditions []metav1.Condition
			for _, kind := range []string{
				v1alpha1.ConditionWithinLifetime, v1alpha1.ConditionWithinBudget, v1alpha1.ConditionClustersAvailable,
				v1alpha1.ConditionGenesisReady, v1alpha1.ConditionApplied, v1alpha1.ConditionNodesReady,
				v1alpha1.ConditionProducing, v1alpha1.ConditionTCPTuned, v1alpha1.ConditionUpdated, v1alpha1.ConditionMachinesTuned,
				v1alpha1.ConditionImageCompatible,
			} {
				set(kind, metav1.ConditionTrue)(&conditions)
			}
			for _, change := range test.changes {
				change(&conditions)
			}
			got := policy.Ready(conditions, generation)
			if got.Type != v1alpha1.ConditionReady {
				t.Errorf("the condition is %s", got.Type)
			}
			networks.CheckCondition(t, got, test.status, test.reason, test.want)
		})
	}
}
