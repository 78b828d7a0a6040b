// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindBenchmarkSchedule is the kind of a BenchmarkSchedule.
const KindBenchmarkSchedule = "BenchmarkSchedule"

// BenchmarkSchedule makes a Benchmark at the times of a schedule, always the same
// one, and keeps what the latest came to. Between them nothing runs.
//
// A benchmark is named after its schedule and its time, in minutes since 1970; hence
// a DNS label that begins with a letter, at most 31 characters long.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bms,categories=shardyard
// +kubebuilder:printcolumn:name="Schedule",type=string,JSONPath=`.spec.schedule`,description="When benchmarks are started, in the time zone of the spec"
// +kubebuilder:printcolumn:name="State",type=string,JSONPath=`.spec.state`,description="Whether benchmarks are started"
// +kubebuilder:printcolumn:name="Active",type=string,JSONPath=`.status.active.name`,description="The benchmark that is under way"
// +kubebuilder:printcolumn:name="Last-result",type=string,JSONPath=`.status.lastResult.phase`,description="What the latest benchmark that ended came to"
// +kubebuilder:printcolumn:name="TPS",type=integer,JSONPath=`.status.lastResult.transfersPerSecond`,description="Transfers that it executed per second, from finalised blocks"
// +kubebuilder:printcolumn:name="Last-run",type=date,JSONPath=`.status.lastScheduleTime`,description="How long ago the latest benchmark was due that was started"
// +kubebuilder:printcolumn:name="Timezone",type=string,priority=1,JSONPath=`.spec.timeZone`,description="The time zone of the schedule"
// +kubebuilder:printcolumn:name="Missed",type=integer,priority=1,JSONPath=`.status.missedRuns`,description="Times of the schedule at which none was started"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What comes next, or what keeps benchmarks from being started"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 31",message="metadata.name must be at most 31 characters: the names of its benchmarks begin with it",fieldPath=".metadata",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: lower-case letters, digits and '-'",fieldPath=".metadata",reason="FieldValueInvalid"
type BenchmarkSchedule struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is which benchmark is started, and when.
	// +required
	Spec BenchmarkScheduleSpec `json:"spec,omitzero"`

	// status is the schedule as it was last observed.
	//
	// The default tells a new schedule from an observed one, so that whoever waits
	// for it does not take it for ready before the operator has seen it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status BenchmarkScheduleStatus `json:"status,omitzero"`
}

// BenchmarkScheduleList is a list of BenchmarkSchedules.
//
// +kubebuilder:object:root=true
type BenchmarkScheduleList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the schedules.
	Items []BenchmarkSchedule `json:"items"`
}
