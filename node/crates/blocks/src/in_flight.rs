// SPDX-License-Identifier: Apache-2.0
//! Which chunks are in flight: those that can still enter a block, at heights in
//! `(finalised, finalised + HORIZON]`. What is kept of them before a block names
//! them is bounded by height and by number.

/// Heights above the finalised one for which chunks are kept.
pub const HORIZON: u64 = 16;
/// Headers or buckets kept for one shard at one height: an honest producer
/// makes one.
pub const PER_SLOT: usize = 2;

/// Whether chunks at `height` can still enter a block, when the block at
/// `finalized` is the last that is final.
#[must_use]
pub const fn in_flight(height: u64, finalized: u64) -> bool {
    height > finalized && height <= finalized.saturating_add(HORIZON)
}
