// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
	"github.com/shardyard/shardyard/internal/policy/condition"
)

// WithinBudget says whether the estimated cost of a network is known to be
// within its budget.
func WithinBudget(budget *v1alpha1.BudgetSpec, estimate *cost.Estimate) metav1.Condition {
	if budget == nil {
		return condition.New(v1alpha1.ConditionWithinBudget, metav1.ConditionTrue, v1alpha1.ReasonNoBudget, "the spec has no budget")
	}
	if refusal := cost.Check(budget, estimate); refusal != nil {
		return condition.New(v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, refusal.Reason, refusal.Words)
	}
	message := fmt.Sprintf("the network costs an estimated %s USD per hour", estimate.USDPerHour)
	if estimate.USDPerRun != nil {
		message += fmt.Sprintf(" and %s USD for its lifetime of %s", estimate.USDPerRun, estimate.Lifetime)
	}
	return condition.New(v1alpha1.ConditionWithinBudget, metav1.ConditionTrue, v1alpha1.ReasonBudgetKept,
		message+"; prices of "+estimate.PricesDate)
}
