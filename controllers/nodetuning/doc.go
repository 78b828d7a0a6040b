// SPDX-License-Identifier: Apache-2.0

// Package nodetuning runs an agent on every machine that a NodeTuning selects,
// asks the agents what the kernels read back, and lets no NodeTuning go before
// its machines have their old values back.
package nodetuning
