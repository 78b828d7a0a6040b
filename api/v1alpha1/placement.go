// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Exclusivity says whether validators may share a machine.
// +kubebuilder:validation:Enum=OneValidatorPerMachine;Shared
type Exclusivity string

const (
	// OneValidatorPerMachine gives every validator a machine of its own.
	OneValidatorPerMachine Exclusivity = "OneValidatorPerMachine"
	// Shared lets validators share machines.
	Shared Exclusivity = "Shared"
)

// RegionAffinity says how validators keep to the region they are planned for.
// +kubebuilder:validation:Enum=Required;None
type RegionAffinity string

const (
	// RegionRequired runs a validator only on machines whose node label
	// topology.kubernetes.io/region is the name of its region.
	RegionRequired RegionAffinity = "Required"
	// RegionNone runs validators anywhere: for clusters whose machines have no
	// region labels.
	RegionNone RegionAffinity = "None"
)

// PlacementSpec says which machines the validators run on.
type PlacementSpec struct {
	// machineType is the machine type that validators need, as in the node
	// label node.kubernetes.io/instance-type; they tolerate the taint
	// shardyard.dev/machine-type of this value. Without it, any machine will do.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	MachineType string `json:"machineType,omitempty"`

	// regions are the machine types of regions that differ from the rest: not every
	// region has every type.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	Regions []RegionPlacement `json:"regions,omitempty"`

	// exclusivity says whether validators may share a machine.
	// +optional
	// +kubebuilder:default=OneValidatorPerMachine
	Exclusivity Exclusivity `json:"exclusivity,omitempty"`

	// regionAffinity says how validators keep to the region they are planned
	// for.
	// +optional
	// +kubebuilder:default=Required
	RegionAffinity RegionAffinity `json:"regionAffinity,omitempty"`

	// nodeTuning is the name of the NodeTuning that the machines of the validators
	// must have. A new network waits for it before it starts its validators.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z]([-a-z0-9]*[a-z0-9])?$`
	NodeTuning string `json:"nodeTuning,omitempty"`
}

// RegionPlacement says which machines the validators of a region run on.
type RegionPlacement struct {
	// name is the name of the region, one of spec.regions.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name,omitempty"`

	// machineType is the machine type that the validators of the region need, in the
	// place of spec.placement.machineType.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$`
	MachineType string `json:"machineType,omitempty"`
}
