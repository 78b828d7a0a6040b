// SPDX-License-Identifier: Apache-2.0

// Package scale_test runs the operator on a real control plane with fake
// machines, enough for a network of 70 shards, and checks what it takes against
// ranges.yaml; and on three of them, one for each region of that network.
//
// HELM names the helm program, OPERATOR the operator's, JOIN_CLUSTERS the one
// that joins clusters; make scale and make fleet set them.
package scale_test
