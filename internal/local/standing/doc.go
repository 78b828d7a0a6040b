// SPDX-License-Identifier: Apache-2.0

// Package standing says how each validator of a network stands beside its peers:
// what it did in the last minute and what it missed, by its spans and metrics, by
// what it answers and by finalised blocks, and which one stands out.
//
// A figure stands out if it is more than twice the median of the same figure of
// all others, and more than a floor above it. Figures of few times do not, and what
// nobody told is no figure.
package standing
