// SPDX-License-Identifier: Apache-2.0

// Package summary says in few words what a run, and a benchmark, came to: as many
// as fit into the termination message of a pod.
package summary
