// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"k8s.io/apimachinery/pkg/api/resource"
)

// NodeResources are the CPU and memory of each node, as for any container.
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.cpu) || !has(self.limits.cpu) || string(self.requests.cpu).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.requests.cpu)) || string(self.limits.cpu).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.limits.cpu)) || quantity(string(self.requests.cpu)).compareTo(quantity(string(self.limits.cpu))) <= 0",message="must not exceed limits.cpu",fieldPath=".requests.cpu",reason="FieldValueInvalid"
// +kubebuilder:validation:XValidation:rule="!has(self.requests) || !has(self.limits) || !has(self.requests.memory) || !has(self.limits.memory) || string(self.requests.memory).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.requests.memory)) || string(self.limits.memory).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self.limits.memory)) || quantity(string(self.requests.memory)).compareTo(quantity(string(self.limits.memory))) <= 0",message="must not exceed limits.memory",fieldPath=".requests.memory",reason="FieldValueInvalid"
type NodeResources struct {
	// requests are what a machine sets aside for each node.
	// +optional
	Requests *ResourceAmounts `json:"requests,omitempty"`

	// limits are what a node may use at most.
	// +optional
	Limits *ResourceAmounts `json:"limits,omitempty"`
}

// ResourceAmounts are amounts of CPU and memory.
// +kubebuilder:validation:MinProperties=1
type ResourceAmounts struct {
	// cpu is an amount of CPU in cores: "10m" to "1024".
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('10m')) >= 0 && quantity(string(self)).compareTo(quantity('1024')) <= 0",message="must be between 10m and 1024 cores",reason="FieldValueInvalid"
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// memory is an amount of memory in bytes: "64Mi" to "16Ti".
	// +optional
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:XValidation:rule="string(self).matches('[eE][+-]?[0-9]{3}') || !isQuantity(string(self)) || quantity(string(self)).compareTo(quantity('64Mi')) >= 0 && quantity(string(self)).compareTo(quantity('16Ti')) <= 0",message="must be between 64Mi and 16Ti",reason="FieldValueInvalid"
	Memory *resource.Quantity `json:"memory,omitempty"`
}
