// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// BudgetSpec is what a network may cost at most, in US dollars, by the estimate
// of its cost.
// +kubebuilder:validation:MinProperties=1
type BudgetSpec struct {
	// usdPerHour is the most that the network may cost per hour.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	USDPerHour *int32 `json:"usdPerHour,omitempty"`

	// usdPerRun is the most that the network may cost over its lifetime.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000000
	USDPerRun *int32 `json:"usdPerRun,omitempty"`
}

// CostPartName is a thing that a network pays for.
// +kubebuilder:validation:Enum=Machines;Disks;Clusters;Traffic
type CostPartName string

const (
	// CostPartMachines are the machines of the validators.
	CostPartMachines CostPartName = "Machines"
	// CostPartDisks are the disks of spec.volume.
	CostPartDisks CostPartName = "Disks"
	// CostPartClusters are the control planes of the clusters.
	CostPartClusters CostPartName = "Clusters"
	// CostPartTraffic is what validators send to other regions.
	CostPartTraffic CostPartName = "Traffic"
)

// CostStatus is what the network is estimated to cost while it runs, in US
// dollars and cents. What is not known is absent and not zero.
type CostStatus struct {
	// pricesDate is the day of the prices, as in 2026-08-20.
	// +optional
	// +kubebuilder:validation:MaxLength=10
	PricesDate string `json:"pricesDate,omitempty"`

	// usdPerHour is the sum of all parts. It is absent when one is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	USDPerHour string `json:"usdPerHour,omitempty"`

	// usdPerRun is the sum over the network's lifetime. It is absent without one,
	// and when a part is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	USDPerRun string `json:"usdPerRun,omitempty"`

	// parts are what the network pays for.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=8
	Parts []CostPart `json:"parts,omitempty"`
}

// CostPart is one thing that a network pays for.
type CostPart struct {
	// name says what it is.
	// +required
	Name CostPartName `json:"name,omitempty"`

	// usdPerHour is the price of it. It is absent when it is not known.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	USDPerHour string `json:"usdPerHour,omitempty"`

	// basis says what is paid for and what is assumed, or else why the price is
	// not known.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	Basis string `json:"basis,omitempty"`
}
