// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 holds the first version of the shardyard.dev API.
//
// The types carry their own validation: OpenAPI bounds and CEL rules that
// controller-gen writes into the CustomResourceDefinitions under config/crd.
// Nothing else validates a manifest; what it may cost is compared with its
// budget.
//
// Quantities are narrower than the pattern that controller-gen gives them, which
// lets through "1e1.5" and exponents of any length. What is stored and cannot be
// decoded fails whole lists of objects, and with these all that the operator
// watches: their own pattern accepts nothing but what resource.ParseQuantity reads.
// The fields are Schemaless because the two patterns would have to match otherwise,
// and would be two errors of one. A pattern that does not match keeps no rule from
// being evaluated: rules leave out exponents of three digits by themselves, which
// would cost them up to a second each.
//
// +kubebuilder:object:generate=true
// +groupName=shardyard.dev
package v1alpha1
