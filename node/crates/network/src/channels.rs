// SPDX-License-Identifier: Apache-2.0
//! The p2p channels. Every node registers all of them: a message on a channel
//! that the receiver does not have ends the connection. What each of them carries
//! at most is in [`limits`](crate::limits).

use commonware_cryptography::ed25519::PublicKey;
use commonware_p2p::{Receiver, Sender};

/// Consensus votes.
pub const VOTES: u64 = 0;
/// Consensus certificates.
pub const CERTIFICATES: u64 = 1;
/// Missing certificates, on request.
pub const CERTIFICATE_REQUESTS: u64 = 2;
/// New blocks.
pub const BLOCKS: u64 = 3;
/// Missing blocks, on request.
pub const BLOCK_REQUESTS: u64 = 4;
/// Chunks, their headers and parts, and receipts as they are made.
pub const CHUNKS: u64 = 5;
/// Missing chunk bodies, parts of them and receipts, on request.
pub const CHUNK_REQUESTS: u64 = 6;
/// What clients ask of a shard that the asked node does not track.
pub const CLIENT_REQUESTS: u64 = 7;

/// Parts of state witnesses.
pub const WITNESSES: u64 = 8;
/// Endorsements.
pub const ENDORSEMENTS: u64 = 9;

/// Pages of states, on request.
pub const STATE_REQUESTS: u64 = 10;

/// All channels, in the order of their ids.
pub const ALL: [u64; 11] = [
    VOTES,
    CERTIFICATES,
    CERTIFICATE_REQUESTS,
    BLOCKS,
    BLOCK_REQUESTS,
    CHUNKS,
    CHUNK_REQUESTS,
    CLIENT_REQUESTS,
    WITNESSES,
    ENDORSEMENTS,
    STATE_REQUESTS,
];

/// The two halves of one channel.
pub type Channel<S, R> = (S, R);

/// Every channel of a node.
#[derive(Debug)]
pub struct Channels<S, R>
where
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// [`VOTES`].
    pub votes: Channel<S, R>,
    /// [`CERTIFICATES`].
    pub certificates: Channel<S, R>,
    /// [`CERTIFICATE_REQUESTS`].
    pub certificate_requests: Channel<S, R>,
    /// [`BLOCKS`].
    pub blocks: Channel<S, R>,
    /// [`BLOCK_REQUESTS`].
    pub block_requests: Channel<S, R>,
    /// [`CHUNKS`].
    pub chunks: Channel<S, R>,
    /// [`CHUNK_REQUESTS`].
    pub chunk_requests: Channel<S, R>,
    /// [`CLIENT_REQUESTS`].
    pub client_requests: Channel<S, R>,
    /// [`WITNESSES`].
    pub witnesses: Channel<S, R>,
    /// [`ENDORSEMENTS`].
    pub endorsements: Channel<S, R>,
    /// [`STATE_REQUESTS`].
    pub state_requests: Channel<S, R>,
}

impl<S, R> Channels<S, R>
where
    S: Sender<PublicKey = PublicKey>,
    R: Receiver<PublicKey = PublicKey>,
{
    /// Names the channels that were registered in the order of [`ALL`].
    #[must_use]
    pub fn from_registered(channels: [Channel<S, R>; 11]) -> Self {
        let [
            votes,
            certificates,
            certificate_requests,
            blocks,
            block_requests,
            chunks,
            chunk_requests,
            client_requests,
            witnesses,
            endorsements,
            state_requests,
        ] = channels;
        Self {
            votes,
            certificates,
            certificate_requests,
            blocks,
            block_requests,
            chunks,
            chunk_requests,
            client_requests,
            witnesses,
            endorsements,
            state_requests,
        }
    }
}
