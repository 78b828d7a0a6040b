// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeTuningStatus is the tuning as it was last observed: what the kernels read
// back, never what was asked of them.
type NodeTuningStatus struct {
	// conditions are the latest observations of the tuning's state.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is
	// about; -1 until the tuning was observed for the first time.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// machinesWanted is the number of machines that are selected.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MachinesWanted *int32 `json:"machinesWanted,omitempty"`

	// machinesTuned is the number of machines that read back every setting.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MachinesTuned *int32 `json:"machinesTuned,omitempty"`

	// machines are those that have settings of this tuning, or may have. Their old
	// values are put back when they are no longer selected, or the tuning goes. On
	// machines that it has no room for, nothing is set.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=5000
	Machines []TunedMachine `json:"machines,omitempty"`

	// settings are the settings of the spec, and how many machines have them.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	Settings []SettingSummary `json:"settings,omitempty"`

	// exceptions are the first settings of machines, in the order of their names,
	// that are not just applied.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Exceptions []SettingException `json:"exceptions,omitempty"`

	// exceptionsOmitted is how many more there are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	ExceptionsOmitted int32 `json:"exceptionsOmitted,omitempty"`
}

// TunedMachine is a machine that has settings of a tuning, or may have.
type TunedMachine struct {
	// name is the name of the machine's Node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// settingsHash identifies the settings that the machine read back not long
	// ago, all of them. It is empty when it does not.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	SettingsHash string `json:"settingsHash,omitempty"`
}

// SettingState says how a setting of a machine is.
// +kubebuilder:validation:Enum=Applied;Unavailable;Drifted
type SettingState string

const (
	// SettingApplied is a setting that the machine reads back as it is wanted.
	SettingApplied SettingState = "Applied"
	// SettingUnavailable is a setting that the machine does not take.
	SettingUnavailable SettingState = "Unavailable"
	// SettingDrifted is a setting that was applied, that somebody else changed
	// not long ago, and that was put right.
	SettingDrifted SettingState = "Drifted"
)

// SettingSummary is how many machines have a setting.
type SettingSummary struct {
	// name is the field of spec.settings.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name,omitempty"`

	// applied is the number of machines that read it back as it is wanted.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Applied int32 `json:"applied"`

	// drifted is the number of machines where somebody else changed it not long
	// ago, and where it was put right.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Drifted int32 `json:"drifted"`

	// unavailable is the number of machines that do not take it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Unavailable int32 `json:"unavailable"`
}

// SettingException is a setting of one machine that is not just applied.
type SettingException struct {
	// machine is the name of the machine's Node.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Machine string `json:"machine,omitempty"`

	// setting is the field of spec.settings.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Setting string `json:"setting,omitempty"`

	// state says how the setting is.
	// +required
	State SettingState `json:"state,omitempty"`

	// message are the words of the machine's kernel, or what was found.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Message string `json:"message,omitempty"`
}
