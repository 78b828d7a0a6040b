// SPDX-License-Identifier: Apache-2.0

// Package replacing decides which nodes of a network to replace, to start again, to let
// go from their machines or to give a new disk, and when: whose turn it is, and what the
// others wait for. It is pure.
package replacing
