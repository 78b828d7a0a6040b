// SPDX-License-Identifier: Apache-2.0

// Package explorer answers what is on a chain: blocks, chunks with their
// transactions, what became of these, and accounts. It asks a node for each
// answer, keeps nothing, changes nothing, and says nothing that the node did not.
package explorer
