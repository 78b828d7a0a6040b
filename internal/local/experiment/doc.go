// SPDX-License-Identifier: Apache-2.0

// Package experiment runs benchmarks on this machine: the networks of all runs,
// one after the other or those of two variants side by side, and what follows from
// their records.
package experiment
