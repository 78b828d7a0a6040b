// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkScheduleStatus is the schedule as it was last observed.
type BenchmarkScheduleStatus struct {
	// conditions are the latest observations of the schedule's state. Ready says
	// whether the next benchmark is started when it is due, and OnTime whether one was
	// at the latest time. What benchmarks come to is no condition: see lastResult.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about; -1
	// until the schedule was observed for the first time.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// timetable is the schedule and the time zone that the times below are of. It is
	// empty while the schedule is suspended.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Timetable string `json:"timetable,omitempty"`

	// consideredTime is up to when times of the schedule are done with: at each of
	// them, a benchmark was started, or it was counted as missed, or none was due.
	// +optional
	ConsideredTime *metav1.Time `json:"consideredTime,omitempty"`

	// lastScheduleTime is when the latest benchmark was due that was started.
	// +optional
	LastScheduleTime *metav1.Time `json:"lastScheduleTime,omitempty"`

	// nextScheduleTime is when the next benchmark is due. It is empty while the
	// schedule is suspended.
	// +optional
	NextScheduleTime *metav1.Time `json:"nextScheduleTime,omitempty"`

	// active is the benchmark that is under way.
	// +optional
	Active *ActiveBenchmark `json:"active,omitempty"`

	// lastSuccessfulTime is when the latest benchmark ended that succeeded.
	// +optional
	LastSuccessfulTime *metav1.Time `json:"lastSuccessfulTime,omitempty"`

	// missedRuns is how many times of the schedule passed without a benchmark, since
	// the schedule was made.
	// +optional
	// +kubebuilder:validation:Minimum=0
	MissedRuns *int64 `json:"missedRuns,omitempty"`

	// lastResult is the latest benchmark that ended: the first of history.
	// +optional
	LastResult *ScheduledBenchmark `json:"lastResult,omitempty"`

	// history are the latest benchmarks that ended, the latest first. They may be
	// deleted already: see the limits of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	History []ScheduledBenchmark `json:"history,omitempty"`
}

// ActiveBenchmark is a benchmark of a schedule that is under way.
type ActiveBenchmark struct {
	// name is the benchmark's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// uid tells it from others of its name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=64
	UID string `json:"uid,omitempty"`

	// scheduleTime is when it was due.
	// +required
	ScheduleTime metav1.Time `json:"scheduleTime,omitzero"`
}

// ScheduledBenchmark is a benchmark of a schedule that ended.
type ScheduledBenchmark struct {
	// name is the benchmark's name.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name,omitempty"`

	// scheduleTime is when it was due.
	// +required
	ScheduleTime metav1.Time `json:"scheduleTime,omitzero"`

	// endTime is when it ended.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`

	// phase is what it came to.
	// +required
	Phase BenchmarkPhase `json:"phase,omitempty"`

	// reason is that of its condition Ready.
	// +optional
	// +kubebuilder:validation:MaxLength=128
	Reason string `json:"reason,omitempty"`

	// message are the words of that condition: what decided.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Message string `json:"message,omitempty"`

	// runsSummary is the number of recorded runs of all.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RunsSummary string `json:"runsSummary,omitempty"`

	// transfersPerSecond is the figure ExecutedPerSecond of all runs together, of two
	// variants of the second. It is empty when there is none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// blockTimeMilliseconds is the figure BlockTimeMilliseconds of these runs.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	BlockTimeMilliseconds string `json:"blockTimeMilliseconds,omitempty"`

	// cpuMicrosecondsPerTransfer is the figure CPUMicrosecondsPerTransfer of these
	// runs.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	CPUMicrosecondsPerTransfer string `json:"cpuMicrosecondsPerTransfer,omitempty"`
}
