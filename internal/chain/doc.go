// SPDX-License-Identifier: Apache-2.0

// Package chain is the client of a node's HTTP API, as the node contract
// describes it. It knows what nodes tell, and nothing of how they come to it.
package chain
