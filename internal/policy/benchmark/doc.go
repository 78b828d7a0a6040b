// SPDX-License-Identifier: Apache-2.0

// Package benchmark decides which step a Benchmark takes next, and says what became of
// its runs. It is pure: what was observed goes in, and a task and a status come out.
package benchmark
