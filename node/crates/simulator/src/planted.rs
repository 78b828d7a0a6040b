// SPDX-License-Identifier: Apache-2.0
//! Mistakes on purpose, to see that the checks notice.

/// A mistake of the oracle or of a check. Were it a node that makes it, the two
/// would differ just the same; that they do is shown with nodes that do
/// (`tests/planted`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// The model is not told of one transfer.
    DroppedTransfer,
    /// The model is told of one transfer twice.
    DoubledTransfer,
    /// The model is not told of one account of genesis.
    LostValue,
    /// One node's block is another one.
    OtherBlock,
    /// Committees are those of other heights.
    OtherCommittees,
    /// Nobody has anything to check.
    NoDuties,
    /// Dead producers are thought to be alive.
    NobodyDead,
    /// No block is seen before all is calm.
    NoBlocks,
}
