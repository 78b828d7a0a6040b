// SPDX-License-Identifier: Apache-2.0
//! The connections of a node to its peers.

use crate::open_files::{self, HANDSHAKE, Handshakes};
use commonware_cryptography::{
    ChaCha20Poly1305, Signer as _,
    ed25519::{PrivateKey, PublicKey},
};
use commonware_p2p::{
    Address, AddressableManager as _, AddressableTrackedPeers,
    authenticated::lookup::{self, Network},
};
use commonware_runtime::{Handle, Quota, tokio::Context};
use commonware_stream::{
    cups::{self, Cups},
    sake::{self, Sake},
};
use commonware_utils::{NZU32, NZUsize};
use shardnode_clocks::Clocked;
use shardnode_config::Config;
use shardnode_links::{Linked, Table};
use shardnode_network::{Channels, Identity, channels};
use std::{fmt, num::NonZeroUsize, time::Duration};

/// A new connection to a peer is tried at most this often.
const COOLDOWN: Duration = Duration::from_millis(500);
/// One dial a tick, over all peers: 140 peers are dialled within 4 s.
const DIAL: Duration = Duration::from_millis(25);
/// How long a dial may take, handshake included: a pod that was replaced leaves
/// an address that nobody answers at, and its peer is not dialled meanwhile.
const DIAL_TIMEOUT: Duration = Duration::from_secs(2);
/// How long a peer that sent something invalid stays cut off.
const BLOCKED: Duration = Duration::from_secs(30);
/// How far the clocks of peers may differ.
const SYNCHRONY: Duration = Duration::from_secs(5);

/// A peer that reads nothing, or from which nothing comes, for so long is let go:
/// what waits for it lies in memory until then. Peers ping each other every 5 s.
pub const SILENCE: Duration = Duration::from_secs(20);

type Handshaker = Cups<Sake<PrivateKey>, ChaCha20Poly1305>;

/// The sending half of a channel.
pub type Sender = lookup::Sender<PublicKey, Linked<Clocked<Context>>>;
/// The receiving half of a channel.
pub type Receiver = lookup::Receiver<PublicKey>;

/// A node among its peers.
pub struct Joined {
    /// What they say to each other.
    pub channels: Channels<Sender, Receiver>,
    /// Who they are, and who is cut off.
    pub oracle: lookup::Oracle<PublicKey>,
    /// Ends when there are no more connections.
    pub network: Handle<()>,
}

impl fmt::Debug for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Joined").finish_non_exhaustive()
    }
}

/// Listens for the peers of the configuration, and dials them over `links`. No
/// message is larger than `max_message_size`, and `quota` is how many of a peer's
/// a channel carries.
pub fn join(
    context: Clocked<Context>,
    config: &Config,
    links: Table,
    identity: &Identity,
    max_message_size: u32,
    quota: impl Fn(u64) -> Quota,
) -> Joined {
    let p2p = settings(config, identity, max_message_size);
    let context = Linked::new(context, links, SILENCE);
    let (mut network, mut oracle) = Network::new(context, p2p);
    let registered = channels::ALL.map(|channel| network.register(channel, quota(channel)));
    oracle.track(0, peers(config, identity));
    Joined {
        channels: Channels::from_registered(registered),
        oracle,
        network: network.start(),
    }
}

fn settings(
    config: &Config,
    identity: &Identity,
    max_message_size: u32,
) -> lookup::Config<Handshaker> {
    let handshake = Cups::<_, ChaCha20Poly1305>::new(
        Sake {
            signer: config.key.clone(),
            synchrony_bound: SYNCHRONY,
            max_handshake_age: 2 * SYNCHRONY,
            version: sake::Version::V1,
        },
        cups::Version::V1,
    );
    let members = NonZeroUsize::MIN.saturating_add(config.peers.len());
    let mut p2p = lookup::Config::local(
        handshake,
        &identity.namespaces.p2p,
        config.p2p_listen,
        members,
        max_message_size,
        NZUsize!(1_024),
    );
    // Identity is proven by the handshake; addresses of pods change.
    p2p.bypass_ip_check = true;
    p2p.peer_connection_cooldown = COOLDOWN;
    p2p.dial_frequency = DIAL;
    p2p.dial_timeout = DIAL_TIMEOUT;
    p2p.block_duration = BLOCKED;
    p2p.tracked_peer_sets = NZUsize!(1);
    let handshakes = Handshakes::of_node(open_files::soft_limit().unwrap_or_default());
    p2p.handshake_timeout = HANDSHAKE;
    p2p.max_concurrent_handshakes = handshakes.concurrent;
    // All nodes of a laptop share one address, and begin at once.
    p2p.allowed_handshake_rate_per_ip =
        Quota::per_second(handshakes.rate).allow_burst(handshakes.burst);
    p2p.allowed_handshake_rate_per_subnet = Quota::per_second(NZU32!(1_000));
    p2p
}

/// Validators connect to each other, everybody else to them.
fn peers(config: &Config, identity: &Identity) -> AddressableTrackedPeers<PublicKey> {
    let me = (config.key.public_key(), Address::from(config.p2p_listen));
    let (validators, others): (Vec<_>, Vec<_>) = config
        .peers
        .iter()
        .map(|peer| (peer.key.clone(), peer.address()))
        .chain([me])
        .partition(|(key, _)| identity.is_validator(key));
    AddressableTrackedPeers::new(
        validators.try_into().unwrap_or_default(),
        others.try_into().unwrap_or_default(),
    )
}
