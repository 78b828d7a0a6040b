// SPDX-License-Identifier: Apache-2.0

package cost_test

import (
	"testing"

	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/cost"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	// 6 + 0.2 + 12 per hour
	parts := "machines 6.00 per hour, disks 0.00 per hour, clusters 0.20 per hour, traffic 12.00 per hour; " +
		"prices of 2026-08-20. Raise the budget, or ask for less"
	perHour := func(limit int32) *v1alpha1.BudgetSpec { return &v1alpha1.BudgetSpec{USDPerHour: ptr.To(limit)} }
	perRun := func(limit int32) *v1alpha1.BudgetSpec { return &v1alpha1.BudgetSpec{USDPerRun: ptr.To(limit)} }
	cases := map[string]struct {
		budget *v1alpha1.BudgetSpec
		change func(*v1alpha1.ShardNetworkSpec)
		want   *cost.Refusal
	}{
		"no budget":          {nil, lifetime(3600), nil},
		"no budget, unknown": {nil, disk("1Gi", 0, 0), nil},
		"kept to":            {perHour(19), lifetime(3600), nil},
		"exceeded": {perHour(18), lifetime(3600), &cost.Refusal{
			Field: "spec.budget.usdPerHour", Reason: v1alpha1.ReasonBudgetExceeded,
			Words: "the network costs an estimated 18.20 USD per hour, but spec.budget.usdPerHour is 18: " + parts,
		}},
		"run kept to": {perRun(37), lifetime(7200), nil},
		"run exceeded": {perRun(36), lifetime(7200), &cost.Refusal{
			Field: "spec.budget.usdPerRun", Reason: v1alpha1.ReasonBudgetExceeded,
			Words: "the network costs an estimated 36.40 USD for its lifetime of 2h0m0s, but spec.budget.usdPerRun is 36: " + parts,
		}},
		"not known": {perHour(1000), disk("1Gi", 0, 0), &cost.Refusal{
			Field: "spec.budget.usdPerHour", Reason: v1alpha1.ReasonCostUnknown,
			Words: "the cost of the network is not known, so it cannot be kept to spec.budget.usdPerHour 1000: " +
				"disks: there is no price of the cluster's default storage class. State what is missing, or leave out spec.budget",
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := cost.Check(test.budget, estimate(t, test.change))
			if (got == nil) != (test.want == nil) || got != nil && *got != *test.want {
				t.Errorf("the refusal is\n%+v\nwant\n%+v", got, test.want)
			}
		})
	}
}
