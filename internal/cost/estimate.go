// SPDX-License-Identifier: Apache-2.0

package cost

import (
	"time"

	"github.com/shardyard/shardyard/api/v1alpha1"
	"github.com/shardyard/shardyard/internal/topology"
)

// Estimate is what a network costs while it runs.
type Estimate struct {
	// PricesDate is the day of the prices.
	PricesDate string `json:"pricesDate"`
	// USDPerHour is the sum of all parts; nil when one of them is not known.
	USDPerHour *USD `json:"usdPerHour,omitempty"`
	// USDPerRun is the sum over the lifetime of the network; nil when the network
	// has no end or the sum is not known.
	USDPerRun *USD `json:"usdPerRun,omitempty"`
	// Parts are what the network pays for.
	Parts []Part `json:"parts"`
	// NotIncluded is what the estimate leaves out.
	NotIncluded string `json:"notIncluded"`

	// Lifetime is how long a run is; 0 when the network has no end.
	Lifetime time.Duration `json:"-"`
}

// notIncluded is what no manifest says.
const notIncluded = "boot disks, machines beside the validators', load balancers, stored results, discounts and taxes"

// Part is one thing that a network pays for.
type Part struct {
	Name v1alpha1.CostPartName `json:"name"`
	// USDPerHour is the price of it; nil when it is not known.
	USDPerHour *USD `json:"usdPerHour,omitempty"`
	// Basis says what is paid for and what is assumed, or else why the price is
	// not known.
	Basis string `json:"basis"`
}

// New estimates the cost of a plan, which is that of the network.
func New(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) *Estimate {
	estimate := &Estimate{
		PricesDate:  prices.Date,
		NotIncluded: notIncluded,
		Parts: []Part{
			machines(network, plan, prices),
			disks(network, plan, prices),
			clusters(network, plan, prices),
			traffic(network, plan, prices),
		},
	}
	if lifetime := network.Spec.Lifetime; lifetime != nil {
		estimate.Lifetime = time.Duration(lifetime.DurationSeconds) * time.Second
	}
	var sum USD
	for _, part := range estimate.Parts {
		if part.USDPerHour == nil {
			return estimate
		}
		sum += *part.USDPerHour
	}
	estimate.USDPerHour = &sum
	if estimate.Lifetime > 0 {
		perRun := sum * USD(estimate.Lifetime.Hours())
		estimate.USDPerRun = &perRun
	}
	return estimate
}

// known is a part with a price.
func known(name v1alpha1.CostPartName, perHour float64, basis string) Part {
	amount := USD(perHour)
	return Part{Name: name, USDPerHour: &amount, Basis: basis}
}

// unknown is a part without one.
func unknown(name v1alpha1.CostPartName, why string) Part {
	return Part{Name: name, Basis: why}
}

// nowhere says why it is not known what things cost where the validators run;
// empty when it is.
func nowhere(network *v1alpha1.ShardNetwork, plan *topology.Plan, prices *Prices) string {
	if network.Spec.Placement.RegionAffinity == v1alpha1.RegionNone {
		return "spec.placement.regionAffinity is None, which leaves open where validators run"
	}
	if len(network.Spec.Regions) == 0 {
		return "there are no spec.regions, which leaves open where validators run"
	}
	for _, region := range plan.Regions {
		if !prices.covers(region.Name) {
			return "there are no prices of region " + region.Name
		}
	}
	return ""
}
