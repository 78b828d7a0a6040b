// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkPhase is how far a benchmark is.
// +kubebuilder:validation:Enum=Pending;Running;Judging;Succeeded;Failed;Regressed
type BenchmarkPhase string

// The phases of a benchmark. The last three are for good.
const (
	// BenchmarkPending says that no run has begun.
	BenchmarkPending BenchmarkPhase = "Pending"
	// BenchmarkRunning says that runs are made.
	BenchmarkRunning BenchmarkPhase = "Running"
	// BenchmarkJudging says that all runs are recorded, and the result is made, and
	// uploaded.
	BenchmarkJudging BenchmarkPhase = "Judging"
	// BenchmarkSucceeded says that all criteria are met, and nothing that was
	// compared is worse.
	BenchmarkSucceeded BenchmarkPhase = "Succeeded"
	// BenchmarkFailed says that a criterion is not met, that there is no result, or that
	// it is not in its bucket.
	BenchmarkFailed BenchmarkPhase = "Failed"
	// BenchmarkRegressed says that a figure is worse than the baseline's.
	BenchmarkRegressed BenchmarkPhase = "Regressed"
)

// BenchmarkRunPhase is how far a run is.
// +kubebuilder:validation:Enum=Preparing;Recording;Removing;Recorded;Broken
type BenchmarkRunPhase string

// The phases of a run. The last two are for good.
const (
	// RunPreparing says that the network of the run is made.
	RunPreparing BenchmarkRunPhase = "Preparing"
	// RunRecording says that a recorder follows the network, which carries its load
	// once the recorder runs.
	RunRecording BenchmarkRunPhase = "Recording"
	// RunRemoving says that the network is removed.
	RunRemoving BenchmarkRunPhase = "Removing"
	// RunRecorded says that there is a record of the run.
	RunRecorded BenchmarkRunPhase = "Recorded"
	// RunBroken says that the run does not count.
	RunBroken BenchmarkRunPhase = "Broken"
)

// BenchmarkStatus is the benchmark as it was last observed.
type BenchmarkStatus struct {
	// conditions are the latest observations of the benchmark's state. Ready is True
	// once it has succeeded; Stalled is True once it has failed or regressed.
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// observedGeneration is the generation of the spec that this status is about; -1
	// until the benchmark was observed for the first time.
	// +optional
	// +kubebuilder:validation:Minimum=-1
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// phase is how far the benchmark is.
	// +optional
	Phase BenchmarkPhase `json:"phase,omitempty"`

	// runsSummary is the number of recorded runs of all, as tables show it: 2/6.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	RunsSummary string `json:"runsSummary,omitempty"`

	// runs are those that have begun, in the order in which they are made.
	// +optional
	// +listType=map
	// +listMapKey=number
	// +kubebuilder:validation:MaxItems=200
	Runs []BenchmarkRunStatus `json:"runs,omitempty"`

	// nodeImage is the container image of the nodes of all runs, but those of variants
	// that name one: that of the first one, should the operator name another one later.
	// +optional
	// +kubebuilder:validation:MaxLength=512
	NodeImage string `json:"nodeImage,omitempty"`

	// uploadStartTime is when the uploading of the result began, however often it is begun
	// again.
	// +optional
	UploadStartTime *metav1.Time `json:"uploadStartTime,omitempty"`

	// transfersPerSecond is the figure ExecutedPerSecond of all runs together, of two
	// variants of the second. It is empty until the benchmark is judged.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// figures are those of all runs together, of two variants of the second, as far as
	// they are known.
	// +optional
	// +listType=map
	// +listMapKey=figure
	// +kubebuilder:validation:MaxItems=64
	Figures []BenchmarkFigureStatus `json:"figures,omitempty"`

	// verdict are sentences that say what the benchmark came to; the first one
	// decided.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=1024
	Verdict []string `json:"verdict,omitempty"`

	// artifact is where the result is.
	// +optional
	Artifact *BenchmarkArtifact `json:"artifact,omitempty"`

	// artifactURL is where the result is in the bucket of spec.upload, as shardyard report
	// takes it. It is empty as long as it is not there whole.
	// +optional
	// +kubebuilder:validation:MaxLength=4096
	ArtifactURL string `json:"artifactURL,omitempty"`

	// endTime is when the benchmark ended.
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
}

// BenchmarkRunStatus is one run.
type BenchmarkRunStatus struct {
	// number counts the runs, from 1.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	Number int32 `json:"number,omitempty"`

	// variant is the run's variant; empty when the benchmark has none.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	Variant string `json:"variant,omitempty"`

	// repetition counts the runs of a variant, from 1.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Repetition int32 `json:"repetition,omitempty"`

	// phase is how far the run is.
	// +required
	Phase BenchmarkRunPhase `json:"phase,omitempty"`

	// startTime is when the run began: its network is made from then on.
	// +optional
	StartTime *metav1.Time `json:"startTime,omitempty"`

	// networkUID is the network of the run, from the time that it was ready.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	NetworkUID string `json:"networkUID,omitempty"`

	// networkGeneration is the generation that the spec of a network that is named had
	// when the run began: the run counts as long as it has it.
	// +optional
	// +kubebuilder:validation:Minimum=1
	NetworkGeneration int64 `json:"networkGeneration,omitempty"`

	// recorderUID is the pod that records the run. There is no load before.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	RecorderUID string `json:"recorderUID,omitempty"`

	// measuredFrom is the begin of the time that was measured.
	// +optional
	MeasuredFrom *metav1.MicroTime `json:"measuredFrom,omitempty"`

	// measuredTo is the end of the time that was measured.
	// +optional
	MeasuredTo *metav1.MicroTime `json:"measuredTo,omitempty"`

	// transfersPerSecond is the rate of executed transfers over that time, from
	// finalised blocks.
	// +optional
	// +kubebuilder:validation:Minimum=0
	TransfersPerSecond *int64 `json:"transfersPerSecond,omitempty"`

	// fault is why the run does not count. It is empty if it does.
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Fault string `json:"fault,omitempty"`
}

// BenchmarkFigureStatus is a figure of a benchmark.
type BenchmarkFigureStatus struct {
	// figure is the name of the figure, which says its unit.
	// +required
	Figure BenchmarkFigure `json:"figure,omitempty"`

	// value is the figure, as a decimal number.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=40
	Value string `json:"value,omitempty"`
}

// BenchmarkArtifact is where a result is: a folder with result.json, blocks.csv,
// failures.csv, report.html and benchmark.yaml.
type BenchmarkArtifact struct {
	// claimName is the volume claim, in the namespace of the benchmark. It goes with
	// the benchmark that made it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	ClaimName string `json:"claimName,omitempty"`

	// path is the folder, from the root of the volume.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Path string `json:"path,omitempty"`
}
