// SPDX-License-Identifier: Apache-2.0

package reporting_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/controllers/reporting"
)

// A status is of the generation that its summary is of.
func TestObserved(t *testing.T) {
	t.Parallel()
	of := func(kind string, generation int64) metav1.Condition {
		return metav1.Condition{Type: kind, Status: metav1.ConditionTrue, ObservedGeneration: generation}
	}
	for name, test := range map[string]struct {
		conditions []metav1.Condition
		want       bool
	}{
		"nothing is known":       {nil, false},
		"only a part is known":   {[]metav1.Condition{of(v1alpha1.ConditionSteady, 2)}, false},
		"of the spec before":     {[]metav1.Condition{of(v1alpha1.ConditionSteady, 2), of(v1alpha1.ConditionReady, 1)}, false},
		"of the spec as it is":   {[]metav1.Condition{of(v1alpha1.ConditionReady, 2)}, true},
		"a part from before it":  {[]metav1.Condition{of(v1alpha1.ConditionSteady, 1), of(v1alpha1.ConditionReady, 2)}, true},
		"of nobody's generation": {[]metav1.Condition{of(v1alpha1.ConditionReady, 0)}, false},
	} {
		if got := reporting.Observed(test.conditions, 2); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
