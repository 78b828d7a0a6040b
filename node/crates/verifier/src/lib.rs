// SPDX-License-Identifier: Apache-2.0
//! Proofs for clients: what a node says, checked with nothing but the genesis
//! document.
//!
//! # What is trusted
//!
//! The genesis document, and that fewer than a third of its producers are
//! byzantine. The document names the producers; they vote in consensus, all
//! alike and for the life of the network. A node that answers, whoever runs
//! it, is not trusted, nor is what it says beside the proof.
//!
//! # What a finalised block is
//!
//! ```text
//! finalised    = finalisation ‖ varint ‖ blocks
//! finalisation = varint epoch ‖ varint view ‖ varint parent's view ‖ block's digest (32)
//!                ‖ voters (8) ‖ a bit for each voter ‖ varint ‖ signatures (64 each)
//! ```
//!
//! *Voters* are the producers in the order of their keys, and the bits, lowest of
//! the first byte first, name those whose signatures follow, in that order. Each
//! signs, by ZIP-215,
//!
//! ```text
//! varint length of the namespace ‖ namespace ‖ the finalisation up to the digest
//! namespace = <network>/<genesis hash>/consensus_FINALIZE
//! ```
//!
//! Of `n` voters it takes all but `floor((n - 1) / 3)`. The first of 1 to
//! [`MOST_BLOCKS`] blocks is the one with the digest, and each is the parent of
//! the one before: a finalised block finalises those before it, and not every
//! block has a certificate of its own. The last is the block that the proof is
//! against.
//!
//! A digest covers all of its block, so a proof has the whole block: one header
//! and its endorsements for each shard. It is what makes a proof of a large
//! network large.
//!
//! # Accounts
//!
//! ```text
//! account = version (1) ‖ finalised ‖ height (8) ‖ proof of the account
//! ```
//!
//! The proof is that of the crate `state`. Its root has to be the one that the
//! block's header of the account's shard commits to for `height`: as one of its
//! results, or as that of its totals. Headers lag behind what was executed: with
//! an `executionLag` of k, the state after the chunk of height `h` is in blocks
//! from `h + k` on, so the height of a proven state is below that of its block.
//!
//! An account is proven to have a balance and a nonce, or not to exist.
//!
//! # Outcomes
//!
//! ```text
//! outcome = version (1) ‖ finalised ‖ height (8) ‖ outcome (1) ‖ proof in the list of outcomes
//! ```
//!
//! The list is that of the crate `execution`, its root the `outcomes_root` of the
//! result for `height` in the block's header of the signer's shard. Only the
//! first header with a result has it: unlike a state, an outcome is proven against
//! one block.
//!
//! A transfer is proven to have been executed at a height, or to have failed there
//! for a reason. Two producers can include the same transfer; it is executed once,
//! and its other copy fails. So that it was executed is the whole truth, that it
//! failed at a height is true of that height alone. That no chunk has it cannot be
//! proven either. In both cases the signer's account says more: a transfer whose
//! nonce is not above the account's cannot be executed any more.
//!
//! # What is not proven
//!
//! That there is no later block. A node can keep its clients in the past with
//! proofs that hold. [`Verifier::account`] takes the least height that the caller
//! would believe, and says when the block was made, by its leader's clock; whoever
//! knows heights from several nodes, or the time, knows more than one node can
//! hide.
//!
//! What a finalised result rests on is in `docs/protocol.md`: a header is
//! finalised with the endorsements of its committee, and voters do not execute
//! what is not of their shard.

mod account;
mod error;
mod finalized;
mod limits;
mod outcome;
mod verifier;

pub use account::ProvenAccount;
pub use error::VerifyError;
pub use finalized::{FinalizedBlock, MOST_BLOCKS};
pub use limits::Limits;
pub use outcome::ProvenOutcome;
pub use verifier::{AccountAt, At, OutcomeAt, Verifier, state_root};

/// The version of both encodings.
const VERSION: u8 = 1;
