// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the first version of the shardyard.dev API.
//
// The types carry their own validation: OpenAPI bounds and CEL rules that
// controller-gen writes into the CustomResourceDefinitions under config/crd.
// Nothing else validates a manifest; what it may cost is compared with its
// budget.
//
// +kubebuilder:object:generate=true
// +groupName=shardyard.dev
package v1alpha1
