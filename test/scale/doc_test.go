// SPDX-License-Identifier: Apache-2.0

// Package scale_test runs the operator on a real control plane with fake machines,
// enough for a network of 70 shards, and then for a benchmark of one, and checks what
// it takes against ranges.yaml; the same with the most validators that a network may
// have, against ranges-large.yaml; and on three control planes, one for each region.
// Pods of benchmarks run what they would run; those of nodes are stood in for.
//
// HELM names the helm program, OPERATOR the operator's, SHARDYARD the command
// line's, which joins clusters; make scale and make fleet set them.
package scale_test
