// SPDX-License-Identifier: Apache-2.0

// Package topology plans a network: which validator serves which shard, in
// which region, on which machine. It is pure: the same spec always gives the
// same plan, and nothing is read or made.
package topology
