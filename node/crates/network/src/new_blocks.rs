// SPDX-License-Identifier: Apache-2.0
//! Which blocks a peer sends as they are proposed.
//!
//! Who proposes a block sends it to everybody, and nobody else sends it: whoever
//! missed it asks for it, on another channel. A block states its leader. Behind
//! the channel all blocks are decoded, encoded again and hashed, one after the
//! other, and votes wait for them. So [`NewBlocks`] stands before that, and lets
//! through
//!
//! - what decodes, is sent by one who votes, and names its sender as the leader;
//! - as many of one sender as its [pace](pace()) allows.
//!
//! Whoever sends anything else than the first is cut off. What comes too fast is
//! passed over, and whoever needs it asks for it.
//!
//! A leader that begins anew can propose two blocks in one view, and one that was
//! not heard for a while is heard all at once: so nothing is said about views, and
//! the pace has a burst.

use crate::{Identity, Pace, limits::SLACK};
use commonware_codec::Decode as _;
use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Blocker, Message, Receiver, block};
use commonware_runtime::{Clock, IoBuf};
use shardnode_primitives::Block;
use std::{
    collections::BTreeMap,
    fmt,
    num::NonZeroUsize,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// Milliseconds for a block of all who vote: what all of them may send together
/// where a chain is slower.
const LEAST: u64 = 16;
/// What all who vote may send at once, and the least and the most of one of them.
const BURSTS: u64 = 512;
const BURST: (u64, u64) = (4, 32);

/// How fast one of so many voters may send blocks.
///
/// Leaders take turns, and blocks are `minBlockTimeMs` apart. With `f` of `n`
/// down, a leader's turn comes with every `n - f` blocks. It may send [`SLACK`]
/// times as many, and one for every `16 n` ms at least, where views end without
/// blocks.
#[must_use]
pub fn pace(voters: u64, min_block_time_ms: u64) -> Pace {
    let voters = voters.max(1);
    let honest = voters - (voters - 1) / 3;
    let turn = honest.saturating_mul(min_block_time_ms) / SLACK;
    let interval = turn.min(voters.saturating_mul(LEAST)).max(1);
    Pace {
        interval: Duration::from_millis(interval),
        burst: (BURSTS / voters).clamp(BURST.0, BURST.1) as u32,
    }
}

/// The receiving half of the channel of blocks.
pub struct NewBlocks<R, C, B> {
    receiver: R,
    identity: Arc<Identity>,
    clock: C,
    blocker: B,
    pace: Pace,
    /// Until when the blocks of each sender take. Senders are voters.
    taken: BTreeMap<PublicKey, SystemTime>,
}

impl<R, C, B> fmt::Debug for NewBlocks<R, C, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewBlocks")
            .field("pace", &self.pace)
            .finish_non_exhaustive()
    }
}

impl<R, C, B> NewBlocks<R, C, B>
where
    C: Clock,
    B: Blocker<PublicKey = PublicKey>,
{
    /// Of what `receiver` receives.
    #[must_use]
    pub fn new(receiver: R, identity: Arc<Identity>, clock: C, blocker: B) -> Self {
        let voters = identity.genesis.producers.len() as u64;
        let pace = pace(voters, identity.genesis.protocol.min_block_time_ms);
        Self {
            receiver,
            identity,
            clock,
            blocker,
            pace,
            taken: BTreeMap::new(),
        }
    }

    /// Whether this is a block, and there is room for it.
    fn admit(&mut self, peer: &PublicKey, message: &IoBuf) -> bool {
        if self.identity.genesis.producer(peer).is_none() {
            block!(self.blocker, peer.clone(), "block from who proposes none");
            return false;
        }
        let error = match Block::read_context(&mut message.clone()) {
            Ok(context) if context.leader != *peer => {
                let leader = context.leader;
                block!(self.blocker, peer.clone(), %leader, "block of another leader");
                return false;
            }
            Ok(_) => {
                let now = self.clock.current();
                let taken = self.taken.entry(peer.clone()).or_insert(now);
                if !self.pace.admits(taken, now) {
                    return false;
                }
                // Once more than needed: little beside the signatures that a vote
                // for it takes.
                match Block::decode_cfg(message.clone(), &self.identity.block_limits()) {
                    Ok(_) => return true,
                    Err(error) => error,
                }
            }
            Err(error) => error,
        };
        block!(self.blocker, peer.clone(), %error, "undecodable block");
        false
    }
}

impl<R, C, B> Receiver for NewBlocks<R, C, B>
where
    R: Receiver<PublicKey = PublicKey>,
    C: Clock,
    B: Blocker<PublicKey = PublicKey>,
{
    type Error = R::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, R::Error> {
        loop {
            let (peer, message) = self.receiver.recv().await?;
            if self.admit(&peer, &message) {
                return Ok((peer, message));
            }
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        self.receiver.capacity()
    }
}
