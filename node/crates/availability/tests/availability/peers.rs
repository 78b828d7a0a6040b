// SPDX-License-Identifier: Apache-2.0
//! The peers of an actor under test: who they are, what they send, and who of
//! them is cut off.

use bytes::Bytes;
use commonware_actor::{Feedback, Unreliable};
use commonware_cryptography::{
    Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::{
    BlockedSubscription, Blocker, CheckedSender, LimitedSender, Message, Receiver, Recipients,
};
use commonware_runtime::IoBufs;
use commonware_utils::{NZUsize, channel::ring};
use futures::future::pending;
use shardnode_primitives::{Genesis, GenesisDocument};
use std::{
    collections::VecDeque,
    convert::Infallible,
    fmt,
    num::NonZeroUsize,
    sync::{Arc, Mutex},
    time::SystemTime,
};

/// The key of the validator at this place of genesis.
pub(crate) fn key(place: usize) -> PrivateKey {
    PrivateKey::from_seed(place as u64)
}

/// A network of `shards` times `producers` validators.
pub(crate) fn genesis(shards: u16, producers: u16, mandates: u32) -> Genesis {
    let validators: Vec<_> = (0..shards * producers)
        .map(|index| {
            serde_json::json!({
                "name": format!("n{index}"),
                "publicKey": key(usize::from(index)).public_key().to_string(),
                "role": "producer",
                "shard": index / producers,
                "slot": index % producers,
                "stake": 1_000_000,
            })
        })
        .collect();
    let document = serde_json::json!({
        "network": "test",
        "createdAtMs": 0,
        "seed": "11".repeat(32),
        "shards": shards,
        "accounts": {"perShard": 10, "initialBalance": 1_000},
        "protocol": {
            "executionLag": 1, "minBlockTimeMs": 100, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 200,
            "mandatesPerShard": mandates, "epochLength": 1000, "congestionControl": "Enabled",
            "transferFee": 1, "leastBalance": 1,
        },
        "validators": validators,
    });
    let document: GenesisDocument = serde_json::from_value(document).unwrap();
    document.check().unwrap()
}

/// What a peer sent.
pub(crate) type Sent = (PublicKey, Bytes);

/// Whether something has happened, and after how many messages.
struct Probe {
    happened: Box<dyn FnMut() -> bool + Send>,
    after: Option<usize>,
}

#[derive(Default)]
struct Script {
    messages: VecDeque<Sent>,
    read: usize,
    probe: Option<Probe>,
}

/// What peers sent on a channel: all of it is there at once.
#[derive(Clone, Default)]
pub(crate) struct Feed(Arc<Mutex<Script>>);

impl Feed {
    pub(crate) fn send(&self, messages: impl IntoIterator<Item = Sent>) {
        self.0.lock().unwrap().messages.extend(messages);
    }

    /// Looks, before each message of this channel that is read, whether
    /// something has happened.
    pub(crate) fn watch(&self, happened: impl FnMut() -> bool + Send + 'static) {
        self.0.lock().unwrap().probe = Some(Probe {
            happened: Box::new(happened),
            after: None,
        });
    }

    /// Messages of this channel that were read before it happened; `None` if it
    /// did not happen before the last one.
    pub(crate) fn happened_after(&self) -> Option<usize> {
        self.0.lock().unwrap().probe.as_ref().unwrap().after
    }

    pub(crate) fn unread(&self) -> usize {
        self.0.lock().unwrap().messages.len()
    }
}

impl fmt::Debug for Feed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").finish_non_exhaustive()
    }
}

impl Receiver for Feed {
    type Error = Infallible;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, Infallible> {
        let next = {
            let mut script = self.0.lock().unwrap();
            let read = script.read;
            if let Some(Probe { happened, after }) = &mut script.probe
                && after.is_none()
                && happened()
            {
                *after = Some(read);
            }
            let next = script.messages.pop_front();
            script.read += usize::from(next.is_some());
            next
        };
        match next {
            Some((peer, bytes)) => Ok((peer, bytes.into())),
            None => pending().await,
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        NonZeroUsize::MIN
    }
}

/// Sends to nobody.
#[derive(Clone, Debug)]
pub(crate) struct Nowhere;

impl LimitedSender for Nowhere {
    type PublicKey = PublicKey;
    type Checked<'a> = Self;

    fn check(&mut self, _: Recipients<PublicKey>) -> Result<Self, SystemTime> {
        Ok(Self)
    }
}

impl CheckedSender for Nowhere {
    type PublicKey = PublicKey;

    fn recipients(&self) -> Vec<PublicKey> {
        Vec::new()
    }

    fn send(self, _: impl Into<IoBufs> + Send, _: bool) -> Unreliable<Feedback> {
        Unreliable::new(Feedback::Ok)
    }
}

/// Notes who is cut off.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recorder(Arc<Mutex<Vec<PublicKey>>>);

impl Recorder {
    pub(crate) fn cut_off(&self) -> Vec<PublicKey> {
        self.0.lock().unwrap().clone()
    }
}

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
