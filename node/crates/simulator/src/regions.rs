// SPDX-License-Identifier: Apache-2.0
//! Where nodes are, and what it takes to reach each other.

use std::time::Duration;

/// Regions of a network, which its validators take turns in.
pub const REGIONS: usize = 3;

/// From one node to another in the same region.
const NEAR_MS: u64 = 1;

/// Between two regions, one way: the shortest pair is two coasts apart, the
/// longest half a continent more.
const FAR_MS: [[u64; REGIONS]; REGIONS] = [[NEAR_MS, 20, 35], [20, NEAR_MS, 60], [35, 60, NEAR_MS]];

/// The region of the validator with this place in its network.
#[must_use]
pub const fn region_of(index: usize) -> usize {
    index % REGIONS
}

/// The time of a message from one validator to another.
#[must_use]
pub const fn latency(from: usize, to: usize) -> Duration {
    Duration::from_millis(FAR_MS[region_of(from)][region_of(to)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_take_equally_long() {
        for from in 0..REGIONS {
            for to in 0..REGIONS {
                assert_eq!(latency(from, to), latency(to, from));
            }
            assert_eq!(
                latency(from, from + REGIONS),
                Duration::from_millis(NEAR_MS)
            );
        }
        assert_eq!(latency(0, 4), Duration::from_millis(20));
    }
}
