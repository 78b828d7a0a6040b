// SPDX-License-Identifier: Apache-2.0
//! Block time and throughput over the last finalised blocks.

use std::{collections::VecDeque, time::Duration};

/// Finalised blocks that block time and throughput are averaged over.
const BLOCKS: usize = 40;

/// A chain whose last block is older than this many block times stands still.
/// Less is what finality and a missed turn take.
const STALLED: u64 = 4;

#[derive(Clone, Copy, Debug)]
struct Sample {
    timestamp_ms: u64,
    transfers: u64,
}

/// The last finalised blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Window(VecDeque<Sample>);

/// How fast a chain goes; zeroes for fewer than two blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Mean time from one block to the next, in milliseconds.
    pub block_time_ms: f64,
    /// Transfers that the blocks committed to, per second.
    pub tps: f64,
}

impl Window {
    /// Adds a block that committed to `transfers` since genesis.
    pub(crate) fn push(&mut self, timestamp_ms: u64, transfers: u64) {
        self.0.push_back(Sample {
            timestamp_ms,
            transfers,
        });
        if self.0.len() > BLOCKS {
            self.0.pop_front();
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The rates when nothing was finalised for `idle` after the last block.
    ///
    /// They come from the blocks' timestamps. Of a chain that stands still
    /// these know nothing, so there `idle` counts too: as time without
    /// transfers, and as one more block time, the least that the next block
    /// can come to.
    #[expect(clippy::cast_precision_loss, reason = "counts far below 2^52")]
    pub(crate) fn rates(&self, idle: Duration) -> Rates {
        let (Some(first), Some(last)) = (self.0.front(), self.0.back()) else {
            return Rates::default();
        };
        let mut elapsed = last.timestamp_ms.saturating_sub(first.timestamp_ms);
        if elapsed == 0 {
            return Rates::default();
        }
        let mut block_times = self.0.len() as u64 - 1;
        let idle = u64::try_from(idle.as_millis()).unwrap_or(u64::MAX);
        if idle.saturating_mul(block_times) > elapsed.saturating_mul(STALLED) {
            elapsed = elapsed.saturating_add(idle);
            block_times += 1;
        }
        let transfers = last.transfers.saturating_sub(first.transfers);
        Rates {
            block_time_ms: elapsed as f64 / block_times as f64,
            tps: transfers as f64 * 1_000.0 / elapsed as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Blocks every 250 ms with 100 transfers each.
    fn window(blocks: u64) -> Window {
        let mut window = Window::default();
        for block in 0..blocks {
            window.push(1_790_000_000_000 + block * 250, block * 100);
        }
        window
    }

    fn rates(blocks: u64, idle_ms: u64) -> Rates {
        window(blocks).rates(Duration::from_millis(idle_ms))
    }

    #[test]
    fn rates_are_those_of_the_last_blocks() {
        let expected = Rates {
            block_time_ms: 250.0,
            tps: 400.0,
        };
        for blocks in [2, 3, 40, 100] {
            assert_eq!(rates(blocks, 0), expected, "{blocks} blocks");
        }
        // A stop that no block of the window remembers.
        let mut window = window(100);
        for block in 0..39 {
            window.push(1_790_000_900_000 + block * 500, 10_000 + block * 100);
        }
        let first = Rates {
            block_time_ms: (900_000.0 - 99.0 * 250.0 + 38.0 * 500.0) / 39.0,
            tps: 3_900.0 * 1_000.0 / (900_000.0 - 99.0 * 250.0 + 38.0 * 500.0),
        };
        assert_eq!(window.rates(Duration::ZERO), first);
        window.push(1_790_000_900_000 + 39 * 500, 13_900);
        assert_eq!(window.len(), 40);
        let expected = Rates {
            block_time_ms: 500.0,
            tps: 200.0,
        };
        assert_eq!(window.rates(Duration::ZERO), expected);
    }

    #[test]
    fn fewer_than_two_blocks_have_no_rates() {
        for idle in [0, 1_000_000] {
            assert_eq!(rates(0, idle), Rates::default());
            assert_eq!(rates(1, idle), Rates::default());
        }
    }

    #[test]
    fn waiting_for_the_next_block_changes_nothing() {
        for idle in [1, 250, 1_000] {
            assert_eq!(rates(5, idle), rates(5, 0), "{idle} ms");
        }
    }

    #[test]
    fn standing_still_counts() {
        // Five blocks span 1,000 ms with 400 transfers.
        let stalled = Rates {
            block_time_ms: 2_250.0 / 5.0,
            tps: 400_000.0 / 2_250.0,
        };
        assert_eq!(rates(5, 1_250), stalled);
        let stalled = Rates {
            block_time_ms: 80_000.0 / 5.0,
            tps: 5.0,
        };
        assert_eq!(rates(5, 79_000), stalled);
        let forever = window(5).rates(Duration::MAX);
        assert!(forever.tps < 1e-9, "{forever:?}");
    }
}
