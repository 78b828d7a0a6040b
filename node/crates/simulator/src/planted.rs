// SPDX-License-Identifier: Apache-2.0
//! Mistakes on purpose, to see that the checks notice.

/// A mistake of the replay or of a check. Were it a node that makes it, the two
/// would differ just the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// One receipt is not credited.
    DroppedReceipt,
    /// One transfer is executed twice.
    DoubledTransfer,
    /// One receipt is forgotten on its way.
    LostValue,
    /// One node's block is another one.
    OtherBlock,
    /// Committees are those of other heights.
    OtherCommittees,
    /// Nobody has anything to check.
    NoDuties,
    /// Dead producers are thought to be alive.
    NobodyDead,
}
