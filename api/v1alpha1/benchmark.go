// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// KindBenchmark is the kind of a Benchmark.
const KindBenchmark = "Benchmark"

// Benchmark is an experiment: a network, made for it or named, the load that it
// carries, what is measured for how long and how often, and what has to come out.
//
// The networks of its runs have its name; hence a DNS label that begins with a
// letter, at most 40 characters long.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=bm,categories=shardyard
// +kubebuilder:printcolumn:name="Phase",type=string,JSONPath=`.status.phase`,description="How far the benchmark is"
// +kubebuilder:printcolumn:name="Runs",type=string,JSONPath=`.status.runsSummary`,description="Recorded runs, of all"
// +kubebuilder:printcolumn:name="TPS",type=integer,JSONPath=`.status.transfersPerSecond`,description="Transfers executed per second, from finalised blocks"
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the benchmark is in its phase"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="What happens, or decided"
// +kubebuilder:printcolumn:name="Artifact",type=string,priority=1,JSONPath=`.status.artifact.claimName`,description="The volume claim that holds the result"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="self.metadata.name.size() <= 40",message="metadata.name must be at most 40 characters: validators' names begin with it",fieldPath=".metadata",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that begins with a letter: lower-case letters, digits and '-'",fieldPath=".metadata",reason="FieldValueInvalid"
type Benchmark struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of an object.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the experiment.
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="cannot change: another experiment is another Benchmark",reason="FieldValueForbidden"
	Spec BenchmarkSpec `json:"spec,omitzero"`

	// status is the benchmark as it was last observed.
	//
	// The default tells a new benchmark from an observed one, so that whoever waits
	// for it does not take it for ended before the operator has seen it.
	// +optional
	// +kubebuilder:default:={"observedGeneration":-1}
	Status BenchmarkStatus `json:"status,omitzero"`
}

// BenchmarkList is a list of Benchmarks.
//
// +kubebuilder:object:root=true
type BenchmarkList struct {
	metav1.TypeMeta `json:",inline"`

	// metadata is the standard metadata of a list.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items are the benchmarks.
	Items []Benchmark `json:"items"`
}
