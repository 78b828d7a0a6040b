// SPDX-License-Identifier: Apache-2.0

// Package proof checks what nodes say of accounts and transfers, with nothing but
// the genesis document: that a proof is of a block that the network's producers
// have finalised, and of what that block commits to. The node's crate verifier
// specifies the proofs and what they rest on; its golden ones are checked here as
// well.
package proof
