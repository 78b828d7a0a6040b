// SPDX-License-Identifier: Apache-2.0

package policy_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/policy"
)

func TestNews(t *testing.T) {
	t.Parallel()
	of := func(kind string, status metav1.ConditionStatus, reason string) *metav1.Condition {
		return &metav1.Condition{Type: kind, Status: status, Reason: reason}
	}
	const (
		nodes, budget, lifetime = v1alpha1.ConditionNodesReady, v1alpha1.ConditionWithinBudget, v1alpha1.ConditionWithinLifetime
		up                      = v1alpha1.ConditionKeepingUp
		yes, no, perhaps        = metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown
	)
	cases := map[string]struct {
		then, now *metav1.Condition
		want      string
	}{
		"the same":                {of(nodes, no, "A"), of(nodes, no, "A"), ""},
		"gone wrong":              {of(nodes, yes, "A"), of(nodes, no, "B"), "Warning"},
		"wrong in another way":    {of(nodes, no, "A"), of(nodes, no, "B"), "Warning"},
		"put right":               {of(nodes, no, "A"), of(nodes, yes, "B"), "Normal"},
		"not known any more":      {of(nodes, yes, "A"), of(nodes, perhaps, "B"), "Normal"},
		"new, and right":          {nil, of(nodes, yes, "A"), "Normal"},
		"new, and not yet":        {nil, of(nodes, no, "A"), ""},
		"no budget":               {nil, of(budget, yes, v1alpha1.ReasonNoBudget), ""},
		"refused at once":         {nil, of(budget, no, v1alpha1.ReasonBudgetExceeded), "Warning"},
		"no lifetime":             {nil, of(lifetime, yes, v1alpha1.ReasonNoLifetime), ""},
		"a lifetime":              {nil, of(lifetime, yes, v1alpha1.ReasonLifetimeRunning), "Normal"},
		"the end is near":         {of(lifetime, yes, "A"), of(lifetime, yes, v1alpha1.ReasonLifetimeEnding), "Warning"},
		"nobody behind, at first": {nil, of(up, yes, v1alpha1.ReasonAllKeepUp), ""},
		"behind at first":         {nil, of(up, no, v1alpha1.ReasonNodeBehind), ""},
		"behind":                  {of(up, yes, v1alpha1.ReasonAllKeepUp), of(up, no, v1alpha1.ReasonNodeBehind), "Warning"},
		"started again":           {of(up, no, v1alpha1.ReasonNodeBehind), of(up, no, v1alpha1.ReasonNodeRestarted), ""},
		"given up":                {of(up, no, v1alpha1.ReasonNodeRestarted), of(up, no, v1alpha1.ReasonHealingGaveUp), "Warning"},
		"not judged for a time":   {of(up, yes, v1alpha1.ReasonAllKeepUp), of(up, perhaps, v1alpha1.ReasonNotJudged), ""},
		"judged again":            {of(up, perhaps, v1alpha1.ReasonNotJudged), of(up, yes, v1alpha1.ReasonAllKeepUp), ""},
		"keeps up again":          {of(up, no, v1alpha1.ReasonNodeRestarted), of(up, yes, v1alpha1.ReasonAllKeepUp), "Normal"},
		"an update is scheduled": {
			of(v1alpha1.ConditionUpdated, yes, v1alpha1.ReasonUpToDate), of(v1alpha1.ConditionUpdated, no, v1alpha1.ReasonAwaitingHeight), "Normal",
		},
		"over at once": {nil, of(lifetime, no, v1alpha1.ReasonStopped), "Warning"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if kind, worth := policy.News(test.then, test.now); kind != test.want || worth != (test.want != "") {
				t.Errorf("the news is %q (%v), want %q", kind, worth, test.want)
			}
		})
	}
}
