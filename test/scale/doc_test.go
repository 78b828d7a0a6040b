// SPDX-License-Identifier: Apache-2.0

// Package scale_test runs the operator on a real control plane with fake
// machines, enough for a network of 70 shards, and checks what it takes against
// ranges.yaml.
//
// HELM names the helm program, OPERATOR the operator's; make scale sets both.
package scale_test
