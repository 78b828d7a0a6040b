// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// TracingSpec says what the nodes record of what blocks wait for, and where that
// goes.
type TracingSpec struct {
	// endpoint is where every node sends its spans, as OTLP over HTTP in
	// protobuf: a URL without the path /v1/traces, such as
	// http://otel-collector.monitoring.svc:4318. The nodes of all regions must
	// reach it.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^http://[^\s?#@]+$`
	// +kubebuilder:validation:XValidation:rule="isURL(self) && url(self).getHostname() != ''",message="must be a URL with a host",reason="FieldValueInvalid"
	Endpoint string `json:"endpoint,omitempty"`

	// sampleBasisPoints is how many of 10,000 heights are traced. All nodes
	// choose the same ones.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	SampleBasisPoints int32 `json:"sampleBasisPoints,omitempty"`
}
