// SPDX-License-Identifier: Apache-2.0

// Package benchmarkschedule decides when a BenchmarkSchedule starts a Benchmark, and
// which of those that ended are kept. It is pure: what was observed goes in, and what is
// to be done and a status come out.
package benchmarkschedule
