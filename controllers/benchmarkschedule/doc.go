// SPDX-License-Identifier: Apache-2.0

// Package benchmarkschedule makes a Benchmark at each time of a BenchmarkSchedule,
// keeps the latest, and says what they came to. Running them is the work of package
// benchmark. The benchmark of a time has the name of that time, and what is there is
// read before anything is decided, so an operator that ends between making one and
// noting it makes no second one.
package benchmarkschedule
