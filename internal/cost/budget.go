// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"fmt"
	"strings"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// Refusal is why a network does not keep to its budget.
type Refusal struct {
	// Field is the path of the limit.
	Field string
	// Reason is a reason of the condition WithinBudget.
	Reason string
	// Words say what is wrong, and what to do about it.
	Words string
}

// Check compares an estimate with a budget; nil is a network that keeps to it.
// A cost that is not known keeps to no budget: somebody set it to be safe.
func Check(budget *v1alpha1.BudgetSpec, estimate *Estimate) *Refusal {
	if budget == nil {
		return nil
	}
	limits := []struct {
		field    string
		limit    *int32
		estimate *USD
		per      string
	}{
		{"spec.budget.usdPerHour", budget.USDPerHour, estimate.USDPerHour, "per hour"},
		{"spec.budget.usdPerRun", budget.USDPerRun, estimate.USDPerRun, "for its lifetime of " + estimate.Lifetime.String()},
	}
	for _, limit := range limits {
		switch {
		case limit.limit == nil:
		case limit.estimate == nil:
			return &Refusal{Field: limit.field, Reason: v1alpha1.ReasonCostUnknown, Words: fmt.Sprintf(
				"the cost of the network is not known, so it cannot be kept to %s %d: %s. "+
					"State what is missing, or leave out spec.budget", limit.field, *limit.limit, estimate.missing())}
		case *limit.estimate > USD(*limit.limit):
			return &Refusal{Field: limit.field, Reason: v1alpha1.ReasonBudgetExceeded, Words: fmt.Sprintf(
				"the network costs an estimated %s USD %s, but %s is %d: %s; prices of %s. Raise the budget, or ask for less",
				limit.estimate, limit.per, limit.field, *limit.limit, estimate.parts(), estimate.PricesDate)}
		}
	}
	return nil
}

// missing says why the cost is not known.
func (e *Estimate) missing() string {
	var words []string
	for _, part := range e.Parts {
		if part.USDPerHour == nil {
			words = append(words, fmt.Sprintf("%s: %s", strings.ToLower(string(part.Name)), part.Basis))
		}
	}
	return strings.Join(words, "; ")
}

// parts says what the cost is made of.
func (e *Estimate) parts() string {
	var words []string
	for _, part := range e.Parts {
		words = append(words, fmt.Sprintf("%s %s per hour", strings.ToLower(string(part.Name)), part.USDPerHour))
	}
	return strings.Join(words, ", ")
}
