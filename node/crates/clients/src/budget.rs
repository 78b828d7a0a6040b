// SPDX-License-Identifier: Apache-2.0
//! What the questions of one peer may take of this node.
//!
//! No correct node has more questions under way than [`QUESTIONS`] in all, nor
//! asks one peer for more than [`BODIES`] bodies at a time. Bodies that were
//! answered with lie in memory until the peer has read them, and it may never
//! do: [`BYTES`] of them at once, and [`RATE`] more with every second. While a
//! body is looked for it counts as the largest that there can be.
//!
//! Transactions count by their number as well, alone and in lists: no correct node
//! has more than [`LISTED`] of them under way. What is computed for a peer takes
//! [`turns`](crate::turns) beside that.

use commonware_cryptography::ed25519::PublicKey;
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

/// Questions of one peer that are being answered, at most.
pub(crate) const QUESTIONS: usize = 1_024;
/// Transactions that these questions hand over or list, at most.
pub(crate) const LISTED: usize = 8_192;
/// Those of the questions that are answered with a body.
pub(crate) const BODIES: usize = 8;
/// Bytes of bodies that a peer may be sent at once.
const BYTES: u64 = 32 << 20;
/// Bytes of bodies that it may be sent in a second, over time.
const RATE: u64 = 4 << 20;

/// What all peers take.
#[derive(Debug, Default)]
pub(crate) struct Budgets(BTreeMap<PublicKey, Budget>);

#[derive(Debug, Default)]
struct Budget {
    questions: usize,
    listed: usize,
    bodies: usize,
    /// Bytes sent and not yet made up for, as of `at`.
    bytes: u64,
    at: Option<SystemTime>,
}

impl Budget {
    /// Makes up for what was sent.
    fn recover(&mut self, now: SystemTime) {
        let passed = self.at.and_then(|at| now.duration_since(at).ok());
        let passed = passed.map_or(Duration::ZERO, |passed| passed);
        let recovered =
            RATE.saturating_mul(passed.as_millis().try_into().unwrap_or(u64::MAX)) / 1_000;
        self.bytes = self.bytes.saturating_sub(recovered);
        self.at = Some(now);
    }
}

impl Budgets {
    /// Whether a peer's question is to be answered; if so, [`Self::answered`]
    /// has to follow. `listed` is how many transactions it is about, and `body` the
    /// most bytes of the body that is asked for.
    pub(crate) fn take(
        &mut self,
        peer: &PublicKey,
        listed: usize,
        body: Option<u64>,
        now: SystemTime,
    ) -> bool {
        let budget = self.0.entry(peer.clone()).or_default();
        budget.recover(now);
        if budget.questions >= QUESTIONS || budget.listed + listed > LISTED {
            return false;
        }
        if let Some(most) = body {
            let bytes = budget.bytes.saturating_add(most);
            if budget.bodies >= BODIES || bytes > BYTES {
                return false;
            }
            budget.bodies += 1;
            budget.bytes = bytes;
        }
        budget.questions += 1;
        budget.listed += listed;
        true
    }

    /// A question is answered; if it was for a body, so many of the most bytes
    /// were not needed.
    pub(crate) fn answered(&mut self, peer: &PublicKey, listed: usize, spared: Option<u64>) {
        let Some(budget) = self.0.get_mut(peer) else {
            return;
        };
        budget.questions = budget.questions.saturating_sub(1);
        budget.listed = budget.listed.saturating_sub(listed);
        if let Some(spared) = spared {
            budget.bodies = budget.bodies.saturating_sub(1);
            budget.bytes = budget.bytes.saturating_sub(spared);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};

    /// The largest body.
    const MOST: u64 = 1 << 20;

    fn peer(seed: u64) -> PublicKey {
        PrivateKey::from_seed(seed).public_key()
    }

    fn at(second: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(second)
    }

    /// How many of so many questions are taken.
    fn taken(budgets: &mut Budgets, seed: u64, body: Option<u64>, asked: usize) -> usize {
        (0..asked)
            .filter(|_| budgets.take(&peer(seed), 0, body, at(1)))
            .count()
    }

    #[test]
    fn questions_under_way_are_bounded_by_peer() {
        let mut budgets = Budgets::default();
        assert_eq!(taken(&mut budgets, 1, None, 2 * QUESTIONS), QUESTIONS);
        assert_eq!(taken(&mut budgets, 2, Some(MOST), 2 * BODIES), BODIES);
        let rest = QUESTIONS - BODIES;
        assert_eq!(taken(&mut budgets, 2, None, 2 * QUESTIONS), rest);
        budgets.answered(&peer(2), 0, Some(MOST));
        assert_eq!(taken(&mut budgets, 2, Some(MOST), 2), 1);
        assert_eq!(taken(&mut budgets, 1, None, 1), 0);
    }

    #[test]
    fn what_is_listed_counts_by_its_number() {
        let mut budgets = Budgets::default();
        let (one, other) = (peer(1), peer(2));
        assert!(budgets.take(&one, LISTED, None, at(1)));
        assert!(!budgets.take(&one, 1, None, at(1)));
        // What lists nothing is answered all the same, and so are others.
        assert!(budgets.take(&one, 0, None, at(1)));
        assert!(budgets.take(&other, LISTED, None, at(1)));
        budgets.answered(&one, LISTED, None);
        assert!(budgets.take(&one, LISTED, None, at(1)));
    }

    #[test]
    fn bytes_come_back_with_time() {
        let mut budgets = Budgets::default();
        let one = peer(1);
        for _ in 0..BYTES / MOST {
            assert!(budgets.take(&one, 0, Some(MOST), at(1)));
            budgets.answered(&one, 0, Some(0));
        }
        assert!(!budgets.take(&one, 0, Some(MOST), at(1)));
        // What is small is answered all the same, and so are others.
        assert!(budgets.take(&one, 0, None, at(1)));
        assert!(budgets.take(&peer(2), 0, Some(MOST), at(1)));
        for _ in 0..RATE / MOST {
            assert!(budgets.take(&one, 0, Some(MOST), at(2)));
            budgets.answered(&one, 0, Some(0));
        }
        assert!(!budgets.take(&one, 0, Some(MOST), at(2)));
        // A clock that was set back gives nothing, and what was not needed does.
        assert!(!budgets.take(&one, 0, Some(MOST), at(1)));
        budgets.answered(&one, 0, Some(MOST));
        assert!(budgets.take(&one, 0, Some(MOST), at(1)));
    }
}
