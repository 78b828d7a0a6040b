// SPDX-License-Identifier: Apache-2.0
//! The odds, by dealing.

use super::{EqualStakes, Security, SecurityError};

/// How often an event was seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Committees that it happened to.
    pub committees: u64,
    /// Heights at which it happened to at least one committee.
    pub heights: u64,
}

impl Tally {
    /// Counts one height at which it happened to `committees` committees.
    const fn add(&mut self, committees: usize) {
        self.committees += committees as u64;
        self.heights += (committees > 0) as u64;
    }
}

/// What dealing showed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observed {
    /// Heights dealt.
    pub heights: u64,
    /// Committees dealt: one for each shard and height.
    pub committees: u64,
    /// How often what happened.
    pub tallies: Security<Tally>,
}

/// Deals the heights 0 to `heights - 1` of an epoch with this seed, and counts.
pub fn simulated(
    network: &EqualStakes,
    heights: u64,
    epoch_seed: [u8; 32],
) -> Result<Observed, SecurityError> {
    let deck = network.deck()?;
    let byzantine = |validator: &u32| *validator < network.byzantine();
    let mut tallies = Security::<Tally>::default();
    for height in 0..heights {
        let committees = deck.deal(epoch_seed, height);
        let stalled = committees
            .iter()
            .filter(|committee| committee.is_stalled_by(byzantine));
        tallies.stalled.add(stalled.count());
        let corrupted = committees
            .iter()
            .filter(|committee| committee.is_endorsed_by(byzantine));
        tallies.corrupted.add(corrupted.count());
    }
    Ok(Observed {
        heights,
        committees: heights * u64::from(network.shards()),
        tallies,
    })
}
