// SPDX-License-Identifier: Apache-2.0

// Package tuning is what the operator and the agents that tune machines know of
// each other: what the settings of a NodeTuning come to on a machine, and what
// an agent reports. Package agent, below it, does the work on the machine.
package tuning
