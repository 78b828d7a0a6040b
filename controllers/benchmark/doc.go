// SPDX-License-Identifier: Apache-2.0

// Package benchmark makes the runs of a Benchmark, one after the other: a network
// without load, a recorder beside it, the load, and an empty place again; and at the
// end the result of all records. Each reconciliation is one step, which follows from
// the status and from the objects that there are. What begins a measurement comes
// after the note of what measures it, so an operator that ends half-way never has a
// run made a second time, nor a figure of two.
package benchmark
