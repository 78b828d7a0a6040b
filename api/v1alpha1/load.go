// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// LoadProfile names the way a load changes over time.
// +kubebuilder:validation:Enum=Ramp
type LoadProfile string

// LoadProfileRamp raises the load in steps.
const LoadProfileRamp LoadProfile = "Ramp"

// LoadSpec is a load of native transfers that the validators sign themselves.
// It is a union: profile says which of the other fields is set.
//
// +union
// +kubebuilder:validation:XValidation:rule="self.profile != 'Ramp' || has(self.ramp)",message="is required when profile is Ramp",fieldPath=".ramp",reason="FieldValueRequired"
type LoadSpec struct {
	// profile is the way the load changes over time.
	// +required
	// +unionDiscriminator
	Profile LoadProfile `json:"profile,omitempty"`

	// ramp holds the steps of profile Ramp.
	// +optional
	Ramp *RampLoad `json:"ramp,omitempty"`
}

// RampLoad is a load in steps. The rate of the last step is kept once all
// steps have run.
type RampLoad struct {
	// steps are the rates, one after the other.
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Steps []RampStep `json:"steps,omitempty"`
}

// RampStep is one rate, held for some time.
type RampStep struct {
	// transfersPerSecond is the rate of the whole network, divided evenly among
	// its producers. A producer signs at most 1000000 transfers per second.
	// +required
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// durationSeconds is how long the rate is held before the next step.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=604800
	DurationSeconds int32 `json:"durationSeconds,omitempty"`
}
