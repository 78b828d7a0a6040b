// SPDX-License-Identifier: Apache-2.0

// Package supervision keeps the validators of a network of this machine running: it
// starts them, again when they end, and stops them, has faults happen to them, lends
// them to benchmarks, and says how they are.
package supervision
