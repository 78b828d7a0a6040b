// SPDX-License-Identifier: Apache-2.0
//! Cutting validators off for what they send in consensus, though not at once.
//!
//! A validator that lost its disk does not know how it voted. Until it hears
//! what came of those views it begins with the first one again and contradicts
//! itself. Who cuts it off for that also keeps it from hearing, and it may stay
//! where it is for as long as others are silent when it is let in again.
//!
//! Consensus does not tell one offence from another, so the first [`TOLERATED`]
//! have no consequence, whatever they are: a vote that contradicts another of
//! its sender, or has no valid signature, does not count anyway. Whoever goes on
//! is cut off with the next one, and with every one after it.

use commonware_actor::Feedback;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{BlockedSubscription, Blocker};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// Offences of one validator that have no consequence, since the start.
pub const TOLERATED: u32 = 8;

/// A [`Blocker`] that forgives [`TOLERATED`] offences of each validator. Clones
/// count together.
#[derive(Clone, Debug)]
pub struct Lenient<B> {
    blocker: B,
    offences: Arc<Mutex<BTreeMap<PublicKey, u32>>>,
}

impl<B> Lenient<B> {
    /// Cuts off with `blocker`.
    pub fn new(blocker: B) -> Self {
        Self {
            blocker,
            offences: Arc::default(),
        }
    }

    /// Counts an offence, and says whether it is one too many.
    fn exceeds(&self, peer: &PublicKey) -> bool {
        let mut offences = self.offences.lock().unwrap_or_else(PoisonError::into_inner);
        let count = offences.entry(peer.clone()).or_default();
        *count = count.saturating_add(1);
        *count > TOLERATED
    }
}

impl<B: Blocker<PublicKey = PublicKey>> Blocker for Lenient<B> {
    type PublicKey = PublicKey;

    fn block(&mut self, peer: PublicKey) -> Feedback {
        if !self.exceeds(&peer) {
            return Feedback::Ok;
        }
        self.blocker.block(peer)
    }

    fn blocked(&mut self) -> BlockedSubscription<PublicKey> {
        self.blocker.blocked()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use commonware_utils::{NZUsize, channel::ring};

    #[derive(Clone, Default)]
    struct Recorder(Arc<Mutex<Vec<PublicKey>>>);

    impl Blocker for Recorder {
        type PublicKey = PublicKey;

        fn block(&mut self, peer: PublicKey) -> Feedback {
            self.0.lock().unwrap().push(peer);
            Feedback::Ok
        }

        fn blocked(&mut self) -> BlockedSubscription<PublicKey> {
            let (_, nothing) = ring::channel(NZUsize!(1));
            nothing
        }
    }

    #[test]
    fn who_goes_on_is_cut_off_and_nobody_else() {
        let [one, other] = [1, 2].map(|seed| PrivateKey::from_seed(seed).public_key());
        let recorder = Recorder::default();
        let mut lenient = Lenient::new(recorder.clone());
        let mut clone = lenient.clone();
        for _ in 0..TOLERATED / 2 {
            let _ = lenient.block(one.clone());
            let _ = clone.block(one.clone());
        }
        assert_eq!(*recorder.0.lock().unwrap(), []);
        let _ = clone.block(other);
        let _ = lenient.block(one.clone());
        assert_eq!(*recorder.0.lock().unwrap(), [one]);
    }
}
