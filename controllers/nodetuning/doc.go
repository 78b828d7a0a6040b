// SPDX-License-Identifier: Apache-2.0

// Package nodetuning runs an agent on every machine that a NodeTuning selects,
// and asks the agents what the kernels read back. Agents leave everything as it
// is when they end; the machines that have settings are noted in the status. Where
// one is no longer selected, an agent without settings puts its old values back,
// and so on all of them before a NodeTuning goes.
package nodetuning
