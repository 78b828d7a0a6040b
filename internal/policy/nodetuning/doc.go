// SPDX-License-Identifier: Apache-2.0

// Package nodetuning says whether the machines of a NodeTuning have its settings, and
// what to do about those that have not. It is pure: what was observed goes in, and
// conditions and lists for a status come out.
package nodetuning
