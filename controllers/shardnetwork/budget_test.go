// SPDX-License-Identifier: Apache-2.0

package shardnetwork

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/shardyard/shardyard/api/v1alpha1"
)

// priced makes the cost of the quickstart known: 4.08 USD per hour.
func priced(network *v1alpha1.ShardNetwork) {
	network.Spec.Regions[0].Name = "us-east1"
	network.Spec.Placement = v1alpha1.PlacementSpec{MachineType: "c4d-highmem-16"}
}

func budget(usdPerHour int32) func(*v1alpha1.ShardNetwork) {
	return func(network *v1alpha1.ShardNetwork) {
		network.Spec.Budget = &v1alpha1.BudgetSpec{USDPerHour: ptr.To(usdPerHour)}
	}
}

// A network that would cost too much, or nobody knows what, is refused before
// anything of it exists.
func TestBudgetRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		changes []func(*v1alpha1.ShardNetwork)
		reason  string
	}{
		"exceeded":  {[]func(*v1alpha1.ShardNetwork){priced, budget(4)}, v1alpha1.ReasonBudgetExceeded},
		"not known": {[]func(*v1alpha1.ShardNetwork){budget(1000)}, v1alpha1.ReasonCostUnknown},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t)
			network := cluster.create(test.changes...)
			cluster.mustReconcile(network)
			words := check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, test.reason)
			for kind, status := range map[string]metav1.ConditionStatus{
				v1alpha1.ConditionReady: metav1.ConditionFalse, v1alpha1.ConditionStalled: metav1.ConditionTrue,
			} {
				if got := check(t, network, kind, status, test.reason); got != words {
					t.Errorf("%s says %q, want %q", kind, got, words)
				}
			}
			check(t, network, v1alpha1.ConditionApplied, metav1.ConditionFalse, v1alpha1.ReasonObjectsPending)
			checkObjects(t, names(cluster.objects(network.Name)), nil)
			cluster.told("Warning " + test.reason + " WithinBudget: " + words)

			// With what it costs allowed, it is made.
			network.Spec.Budget = nil
			if err := cluster.client.Update(t.Context(), network); err != nil {
				t.Fatal(err)
			}
			cluster.mustReconcile(network)
			check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionTrue, v1alpha1.ReasonNoBudget)
			if stalled := meta.FindStatusCondition(network.Status.Conditions, v1alpha1.ConditionStalled); stalled != nil {
				t.Errorf("the network is still stalled: %+v", stalled)
			}
			if network.Status.NodesSummary != "0/4" {
				t.Errorf("%q nodes take part, want 0/4", network.Status.NodesSummary)
			}
			checkObjects(t, names(cluster.objects(network.Name)), quickstartObjects)
		})
	}
}

// A network that is there stays as it is when it is asked to cost more.
func TestBudgetHoldsBackChanges(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(priced, budget(5))
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionTrue, v1alpha1.ReasonBudgetKept)
	before := cluster.objects(network.Name)
	checkObjects(t, names(before), quickstartObjects)

	budget(4)(network)
	network.Spec.Node.Image = "other:2"
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	check(t, network, v1alpha1.ConditionWithinBudget, metav1.ConditionFalse, v1alpha1.ReasonBudgetExceeded)
	for name, object := range cluster.objects(network.Name) {
		if was := before[name]; was == nil || was.GetResourceVersion() != object.GetResourceVersion() {
			t.Errorf("%s was changed", name)
		}
	}
	if cluster.reconciler.memories.of(clientKey(network), network.UID).failures != 0 {
		t.Error("a network over its budget counts as a failure of the operator")
	}
}

// The status says what the estimate does, and leaves out what is not known.
func TestCostStatus(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	network := cluster.create(priced, lifetime(7200, v1alpha1.LifetimeDelete))
	cluster.mustReconcile(network)
	cost := network.Status.Cost
	if cost == nil || cost.PricesDate == "" || cost.USDPerHour != "4.08" || cost.USDPerRun != "8.17" || len(cost.Parts) != 4 {
		t.Errorf("the cost is %+v", cost)
	}

	network.Spec.Placement.MachineType = "new"
	if err := cluster.client.Update(t.Context(), network); err != nil {
		t.Fatal(err)
	}
	cluster.mustReconcile(network)
	cost = network.Status.Cost
	if cost.USDPerHour != "" || cost.USDPerRun != "" {
		t.Errorf("the cost has a sum although a part is not known: %+v", cost)
	}
	for _, part := range cost.Parts {
		if unknown := part.USDPerHour == ""; unknown != (part.Name == v1alpha1.CostPartMachines) {
			t.Errorf("%s cost %q: %s", part.Name, part.USDPerHour, part.Basis)
		}
	}
	if !strings.Contains(cost.Parts[0].Basis, "no price of new in region us-east1") {
		t.Errorf("the reason is %q", cost.Parts[0].Basis)
	}
}
