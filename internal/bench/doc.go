// SPDX-License-Identifier: Apache-2.0

// Package bench holds what a run of load is made of: the schedule of the load,
// the measurement of what the chain executed under it, and the audit of what
// the nodes tell.
//
// It is pure. Whoever runs a network asks its nodes and applies the load; times
// and statuses come in as values.
package bench
