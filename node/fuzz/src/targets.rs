// SPDX-License-Identifier: Apache-2.0
//! The targets, one module each.

pub mod api;
pub mod blocks;
pub mod documents;
pub mod messages;
pub mod parts;
pub mod receipts;
pub mod records;
pub mod state;
pub mod transactions;
pub mod witness;

use crate::Decoder;

/// The most transactions of a chunk that genesis allows, and so the most
/// receipts of a bucket.
const MOST: u32 = 65_536;
/// The longest execution lag that genesis allows.
const LAG: u8 = 4;

/// Decoders of one subject, which share their inputs.
#[derive(Debug)]
pub struct Target {
    /// Names the target, and its folder in the corpus.
    pub name: &'static str,
    /// What every input goes through.
    pub decoders: Vec<Decoder>,
}

impl Target {
    /// Gives the bytes to every decoder, and says whether they were good for
    /// any.
    ///
    /// # Panics
    ///
    /// If something does not hold that should hold of any bytes.
    pub fn run(&self, bytes: &[u8]) -> bool {
        self.decoders
            .iter()
            .fold(false, |good, decoder| decoder.run(bytes) | good)
    }
}

/// All targets.
#[must_use]
pub fn targets() -> Vec<Target> {
    vec![
        api::target(),
        blocks::target(),
        documents::target(),
        messages::target(),
        parts::target(),
        receipts::target(),
        records::target(),
        state::target(),
        transactions::target(),
        witness::target(),
    ]
}
