// SPDX-License-Identifier: Apache-2.0
//! What a channel carries at most: the size of its messages, and how many of
//! them one peer sends. Both follow from the genesis document, so all nodes of a
//! network have the same.
//!
//! | channel | the largest message | messages of one peer for one block |
//! |---|---|---|
//! | votes, certificates | what simplex says | 8: three, and those of views that end without a block |
//! | blocks | what marshal says | 4: one, where it leads |
//! | chunks | a chunk, or the receipts of one | 2 + `executionLag`: header, body or part, receipts |
//! | endorsements | an endorsement | two for each shard |
//! | witnesses | a witness | one for each shard, and one that it made |
//! | requests | a question or its answer | no number: see below |
//!
//! p2p ends the connection of a peer that sends more than the largest message of
//! all channels; what is too large for its own channel is refused by
//! [`Bounded`] before it is decoded, and ends the connection, too.
//!
//! # Rates
//!
//! Whoever sends more messages than its rate allows is not heard for a while, on
//! any channel, and whoever is about to send more does not send them. So the
//! rate of a channel is [`SLACK`] times what a peer sends of blocks at
//! `minBlockTimeMs`, and never below [`LEAST`]: nobody who follows the protocol
//! notices it, and a flood is so much work and no more.
//!
//! Requests follow no block. Their rates are what somebody needs who catches up
//! with one peer to ask, and answers come on the same channel:
//!
//! | requests for | a second | at once | because one node asks another one |
//! |---|---|---|---|
//! | certificates | 256 | 128 | each view that it missed, and again after 0.1 s |
//! | blocks | 512 | 128 | for 32 blocks at a time, and 16 certificates |
//! | chunks | 1,024 | 256 | for a body, the parts of one, or a height's receipts of all shards |
//! | states | 512 | 128 | for 16 pages at a time |
//! | clients | 4,096 | 256 | for what its own HTTP API takes in, at most |
//!
//! Half of that is for questions ([`questions`]), and half for answers, which are lost
//! where there is no room for them. So a node asks another one half as often, and has
//! half as many questions under way as come at once. What they may take is bounded
//! by [`answering`](crate::answering), and by `clients` for what is asked on behalf of
//! clients.
//!
//! The burst is as many as come with [`SLACK`] blocks. Of votes and certificates it
//! is also what comes when the views of all leaders that can be down end at once: a
//! vote that is not sent comes 2 s later.
//!
//! As many as the bursts of all peers come to are kept by p2p before they are
//! looked at, in one queue for each channel: what comes when it is full is lost,
//! whoever sent it. So whoever reads a channel has to be faster than a third of the
//! peers together may send: their number, times the rate, times what it takes to
//! pass a message over, stays below a second in each second.

use crate::{
    Channels, Identity, Pace, channels, channels::Channel, client_messages::MOST_TOGETHER,
};
use commonware_codec::{FixedSize as _, MaxEncodeSize as _};
use commonware_consensus::{
    marshal::{self, standard::Standard},
    simplex::{self, scheme::ed25519::Scheme},
};
use commonware_cryptography::ed25519::{PublicKey, Signature};
use commonware_p2p::{Blocker, Message, Receiver, Sender, block};
use commonware_resolver::p2p as resolver;
use commonware_runtime::Quota;
use shardnode_primitives::{
    Block, ChunkHeader, Digest, Endorsement, Genesis, Receipt, Transaction,
    witness_size::MAX_WITNESS,
};
use shardnode_state::{Leaf, page::LEAVES};
use shardnode_witness::Manifest;
use std::{
    fmt,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};

/// What is allowed for what one peer sends of a block.
pub const SLACK: u64 = 4;
/// The lowest rate of a channel: views that end at once take more messages than
/// blocks do.
pub const LEAST: u32 = 256;
/// The least and the most of a peer's messages on a channel that wait to be looked
/// at.
const BURST: (u64, u64) = (32, 512);
/// More than the proofs, numbers and lengths that a message has beside what it
/// is sent for.
const FRAMING: usize = 4_096;

/// What a channel carries.
#[derive(Clone, Copy, Debug)]
struct Limit {
    channel: u64,
    size: usize,
    quota: Quota,
}

/// What the channels of a network carry.
#[derive(Clone, Debug)]
pub struct Limits([Limit; channels::ALL.len()]);

impl Limits {
    /// Those of the network of this node.
    #[must_use]
    pub fn of(identity: &Identity) -> Self {
        Self(channels::ALL.map(|channel| Limit {
            channel,
            size: size(identity, channel),
            quota: quota(identity, channel),
        }))
    }

    fn limit(&self, channel: u64) -> &Limit {
        let found = self.0.iter().find(|limit| limit.channel == channel);
        // All channels are there.
        found.unwrap_or(&self.0[0])
    }

    /// The most bytes of a message on this channel.
    #[must_use]
    pub fn size(&self, channel: u64) -> usize {
        self.limit(channel).size
    }

    /// How many messages of one peer this channel carries.
    #[must_use]
    pub fn quota(&self, channel: u64) -> Quota {
        self.limit(channel).quota
    }

    /// The most bytes of a message on any channel.
    #[must_use]
    pub fn max_message_size(&self) -> u32 {
        let largest = self.0.iter().map(|limit| limit.size).max();
        u32::try_from(largest.unwrap_or_default()).unwrap_or(u32::MAX)
    }
}

/// The largest body of a chunk.
pub(crate) const fn most_body(identity: &Identity) -> usize {
    identity.genesis.protocol.max_transactions_per_chunk as usize * Transaction::SIZE
}

/// The largest block, with its certificate.
pub(crate) fn most_block(identity: &Identity) -> usize {
    marshal::max_payload_size::<Standard<Block>, Scheme>(voters(identity), &identity.block_limits())
}

/// The most receipts of one chunk for one shard, with their proof.
pub(crate) const fn most_receipts(identity: &Identity) -> usize {
    FRAMING + identity.genesis.protocol.max_transactions_per_chunk as usize * Receipt::SIZE
}

/// The largest page of a state.
pub(crate) const fn most_page() -> usize {
    FRAMING + LEAVES * Leaf::SIZE
}

/// The largest certificate of consensus.
pub(crate) fn most_certificate(identity: &Identity) -> usize {
    simplex::max_payload_size::<Scheme, Digest>(voters(identity))
}

fn voters(identity: &Identity) -> u32 {
    u32::try_from(identity.genesis.producers.len()).unwrap_or(u32::MAX)
}

fn size(identity: &Identity, channel: u64) -> usize {
    let body = FRAMING + most_body(identity);
    match channel {
        channels::VOTES | channels::CERTIFICATES | channels::CERTIFICATE_REQUESTS => {
            most_certificate(identity)
        }
        channels::BLOCKS | channels::BLOCK_REQUESTS => most_block(identity),
        channels::CHUNKS => {
            let header = ChunkHeader::max_encode_size(identity.genesis.protocol.execution_lag);
            (header + body).max(most_receipts(identity))
        }
        channels::CHUNK_REQUESTS => {
            resolver::MAX_RESPONSE_OVERHEAD + body.max(most_receipts(identity))
        }
        channels::WITNESSES => Manifest::SIZE + Signature::SIZE + FRAMING + MAX_WITNESS,
        channels::ENDORSEMENTS => Endorsement::MAX_ENCODE_SIZE,
        channels::STATE_REQUESTS => resolver::MAX_RESPONSE_OVERHEAD + most_page(),
        // What a client asks for, bodies among it, and hands in.
        _ => (4 * FRAMING + body).max(FRAMING + MOST_TOGETHER * Transaction::SIZE),
    }
}

fn quota(identity: &Identity, channel: u64) -> Quota {
    let genesis = &identity.genesis;
    let shards = u64::from(genesis.layout.shards());
    let blocks = 1_000u64.div_ceil(genesis.protocol.min_block_time_ms.max(1));
    let of_a_block = match channel {
        channels::VOTES | channels::CERTIFICATES => 8,
        channels::BLOCKS => 4,
        channels::CHUNKS => 2 + u64::from(genesis.protocol.execution_lag),
        channels::WITNESSES => shards + 1,
        channels::ENDORSEMENTS => 2 * shards,
        _ => {
            let (rate, burst) = requests(channel);
            return allowed(rate, burst);
        }
    };
    let rate = of_a_block * blocks * SLACK;
    let rate = u32::try_from(rate).unwrap_or(u32::MAX).max(LEAST);
    let at_once = match channel {
        channels::VOTES | channels::CERTIFICATES => {
            (skipped(genesis) + of_a_block).max(of_a_block * SLACK)
        }
        _ => of_a_block * SLACK,
    };
    // Never less than comes with one block.
    let burst = at_once.min(BURST.1).max(of_a_block);
    allowed(rate, burst)
}

/// What one peer sends on a channel of requests, a second and at once.
const fn requests(channel: u64) -> (u32, u64) {
    match channel {
        channels::CERTIFICATE_REQUESTS => (256, 128),
        channels::CHUNK_REQUESTS => (1_024, 256),
        channels::CLIENT_REQUESTS => (4_096, 256),
        _ => (512, 128),
    }
}

/// How fast one node asks another one on a channel of requests, and how many
/// questions are under way at a time.
pub(crate) fn questions(channel: u64) -> Pace {
    let (rate, burst) = requests(channel);
    Pace {
        interval: Duration::from_secs(2) / rate,
        burst: u32::try_from(burst / 2).unwrap_or(u32::MAX),
    }
}

/// What a voter sends on a channel of consensus where the views of all leaders that
/// can be down end one right after the other: a vote or certificate for each of
/// them, and as many once more.
const fn skipped(genesis: &Genesis) -> u64 {
    let down = genesis.producers.len().saturating_sub(1) as u64 / 3;
    2 * down
}

fn allowed(rate: u32, burst: u64) -> Quota {
    let some = |number: u32| NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN);
    let burst = u32::try_from(burst.max(BURST.0)).unwrap_or(u32::MAX);
    Quota::per_second(some(rate)).allow_burst(some(burst))
}

/// The receiving half of a channel that cuts off who sends too large a message.
pub struct Bounded<R, B> {
    receiver: R,
    blocker: B,
    channel: u64,
    most: usize,
}

impl<R, B> fmt::Debug for Bounded<R, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bounded")
            .field("channel", &self.channel)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl<R, B> Receiver for Bounded<R, B>
where
    R: Receiver<PublicKey = PublicKey>,
    B: Blocker<PublicKey = PublicKey>,
{
    type Error = R::Error;
    type PublicKey = PublicKey;

    async fn recv(&mut self) -> Result<Message<PublicKey>, R::Error> {
        loop {
            let (peer, message) = self.receiver.recv().await?;
            let bytes = message.as_ref().len();
            if bytes <= self.most {
                return Ok((peer, message));
            }
            let (channel, most) = (self.channel, self.most);
            block!(
                self.blocker,
                peer,
                channel,
                bytes,
                most,
                "message too large for its channel"
            );
        }
    }

    fn capacity(&self) -> NonZeroUsize {
        self.receiver.capacity()
    }
}

impl<S, R> Channels<S, R>
where
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// The same channels, with `blocker` cutting off who sends more than they
    /// carry.
    #[must_use]
    pub fn bounded<B>(self, limits: &Limits, blocker: &B) -> Channels<S, Bounded<R, B>>
    where
        B: Blocker<PublicKey = PublicKey>,
    {
        let bound = |channel: u64, (sender, receiver): Channel<S, R>| {
            let bounded = Bounded {
                receiver,
                blocker: blocker.clone(),
                channel,
                most: limits.size(channel),
            };
            (sender, bounded)
        };
        Channels {
            votes: bound(channels::VOTES, self.votes),
            certificates: bound(channels::CERTIFICATES, self.certificates),
            certificate_requests: bound(channels::CERTIFICATE_REQUESTS, self.certificate_requests),
            blocks: bound(channels::BLOCKS, self.blocks),
            block_requests: bound(channels::BLOCK_REQUESTS, self.block_requests),
            chunks: bound(channels::CHUNKS, self.chunks),
            chunk_requests: bound(channels::CHUNK_REQUESTS, self.chunk_requests),
            client_requests: bound(channels::CLIENT_REQUESTS, self.client_requests),
            witnesses: bound(channels::WITNESSES, self.witnesses),
            endorsements: bound(channels::ENDORSEMENTS, self.endorsements),
            state_requests: bound(channels::STATE_REQUESTS, self.state_requests),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use commonware_codec::Encode as _;
    use commonware_cryptography::{Signer as _, ed25519::PrivateKey};
    use shardnode_primitives::{ChunkBody, GenesisDocument, ShardId, ShardTotals, hash::ZERO};

    fn identity(shards: u16, min_block_time_ms: u64) -> Identity {
        let key = |place: u16| PrivateKey::from_seed(place.into());
        let validators: Vec<_> = (0..2 * shards)
            .map(|place| {
                serde_json::json!({
                    "name": format!("n{place}"), "role": "producer", "stake": 1_000_000,
                    "publicKey": key(place).public_key().to_string(),
                    "shard": place / 2, "slot": place % 2,
                })
            })
            .collect();
        let document: GenesisDocument = serde_json::from_value(serde_json::json!({
            "network": "test", "createdAtMs": 0, "seed": "11".repeat(32), "shards": shards,
            "accounts": {"perShard": 10, "initialBalance": 1_000},
            "protocol": {
                "executionLag": 1, "minBlockTimeMs": min_block_time_ms, "chunkWaitMs": 1_000,
                "maxTransactionsPerChunk": 6_000, "mandatesPerShard": 68, "epochLength": 1000,
                "congestionControl": "Enabled",
                "transferFee": 1, "leastBalance": 1,
            },
            "validators": validators,
        }))
        .unwrap();
        Identity::new(document.check().unwrap(), key(0)).unwrap()
    }

    #[test]
    fn rates_are_those_of_blocks_with_slack() {
        for (shards, time, channel, rate, burst) in [
            (2, 1_000, channels::VOTES, 256, 32),
            (10, 1_000, channels::VOTES, 256, 32),
            (70, 1_000, channels::VOTES, 256, 100),
            (70, 100, channels::VOTES, 320, 100),
            (70, 100, channels::CERTIFICATES, 320, 100),
            (2, 1_000, channels::ENDORSEMENTS, 256, 32),
            (70, 1_000, channels::ENDORSEMENTS, 560, 512),
            (70, 300, channels::ENDORSEMENTS, 2_240, 512),
            (300, 1_000, channels::ENDORSEMENTS, 2_400, 600),
            (70, 1_000, channels::WITNESSES, 284, 284),
            (70, 50, channels::CHUNKS, 256, 32),
            (70, 10, channels::CHUNKS, 1_200, 32),
            (70, 10, channels::BLOCK_REQUESTS, 512, 128),
            (70, 10, channels::CERTIFICATE_REQUESTS, 256, 128),
            (70, 10, channels::CHUNK_REQUESTS, 1_024, 256),
            (2, 1_000, channels::CLIENT_REQUESTS, 4_096, 256),
        ] {
            let quota = Limits::of(&identity(shards, time)).quota(channel);
            let per_second = 1_000_000_000 / quota.replenish_interval().as_nanos();
            let per_second = u32::try_from(per_second).unwrap();
            assert!(
                per_second.abs_diff(rate) <= rate / 100,
                "{per_second} instead of {rate} on channel {channel}"
            );
            assert_eq!(quota.burst_size().get(), burst, "channel {channel}");
        }
    }

    /// Each of them ends with a vote and a certificate of every voter.
    #[test]
    fn views_of_all_leaders_that_can_be_down_may_end_at_once() {
        for shards in [1, 2, 20, 70, 300] {
            let identity = identity(shards, 1_000);
            let down = (u32::from(2 * shards) - 1) / 3;
            for channel in [channels::VOTES, channels::CERTIFICATES] {
                let burst = Limits::of(&identity).quota(channel).burst_size().get();
                assert!(burst > 2 * down, "{burst} for {down} leaders that are down");
            }
        }
    }

    /// A limit that an honest message exceeds would cut its sender off.
    #[test]
    fn the_largest_honest_messages_fit() {
        use crate::chunk_messages::ChunkMessage;
        let identity = identity(2, 1_000);
        let limits = Limits::of(&identity);
        let totals = ShardTotals::genesis(ZERO, 0);
        let mut header = ChunkHeader::genesis(ShardId(0), totals).unwrap();
        header.content.uncommitted = vec![1];
        let body = ChunkBody(Bytes::from(vec![0; most_body(&identity)]));
        let chunk = ChunkMessage::Chunk(header.clone(), body).encode();
        assert!(chunk.len() <= limits.size(channels::CHUNKS));
        assert!(chunk.len() + 10_000 > limits.size(channels::CHUNKS));
        let endorsement = Endorsement::sign(&header, &identity.key, &identity.namespaces);
        assert_eq!(
            endorsement.encode().len(),
            limits.size(channels::ENDORSEMENTS)
        );
        // A page has all its leaves, and a hash for each level above it.
        assert!(8 + LEAVES * Leaf::SIZE + 32 * 32 < most_page());
        let witnesses = limits.size(channels::WITNESSES);
        assert_eq!(limits.max_message_size() as usize, witnesses);
        for channel in channels::ALL {
            assert!(limits.size(channel) <= witnesses);
        }
        for small in [
            channels::VOTES,
            channels::CERTIFICATES,
            channels::STATE_REQUESTS,
        ] {
            assert!(limits.size(small) < 100_000, "channel {small}");
        }
    }
}
