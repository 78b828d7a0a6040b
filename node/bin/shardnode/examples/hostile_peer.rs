// SPDX-License-Identifier: Apache-2.0
//! A validator that keeps to no rule: with a valid key it connects to its peers, and
//! does nothing but harm to the first of them. Tests put it in the place of a node,
//! so it is told what a node is told. Each second it says on standard error what it
//! has sent.
//!
//! usage: `hostile_peer ATTACK RATE run --config FILE`

#![allow(clippy::print_stderr)]

use bytes::Bytes;
use clap::{Parser, ValueEnum};
use commonware_codec::{Decode as _, Encode};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_p2p::{CheckedSender as _, LimitedSender as _, Receiver as _, Recipients};
use commonware_runtime::{
    Clock as _, Quota, Runner as _, Spawner as _, Supervisor as _,
    tokio::{self as runtime, Context},
};
use commonware_utils::NZU32;
use shardnode::p2p::{self, Joined, Receiver, Sender};
use shardnode_clocks::{Clocked, Faults};
use shardnode_config::Config;
use shardnode_links::Table;
use shardnode_network::{
    Channels, Identity, Limits,
    chunk_messages::{ChunkMessage, MessageLimits},
    chunk_requests::Key,
};
use std::{
    collections::VecDeque,
    error::Error,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// What it does, on one channel after the other for [`TURN`] each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Attack {
    /// It is connected and says nothing.
    Silence,
    /// It repeats a certificate each second, so that it passes for one that takes part, and
    /// proposes nothing.
    Presence,
    /// It sends what nobody can decode.
    Garbage,
    /// It sends what others sent it, again and again.
    Echo,
    /// It asks for every body, part and receipt that it hears of, again and again.
    Questions,
}

#[derive(Debug, Parser)]
struct Arguments {
    attack: Attack,
    /// Messages a second.
    rate: u64,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run {
        #[arg(long)]
        config: PathBuf,
    },
}

/// How long a channel is attacked before the next one is.
const TURN: Duration = Duration::from_secs(3);
/// Messages go out in batches, one each time.
const TICK: Duration = Duration::from_millis(5);
/// What others sent last on a channel, or what there is to ask.
const REMEMBERED: usize = 64;

type Memory = Arc<Mutex<VecDeque<Bytes>>>;

fn remember(memory: &Memory, message: Bytes) {
    let mut memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
    memory.push_back(message);
    if memory.len() > REMEMBERED {
        memory.pop_front();
    }
}

fn recall(memory: &Memory, place: u64) -> Option<Bytes> {
    let memory = memory.lock().unwrap_or_else(PoisonError::into_inner);
    let length = memory.len().max(1) as u64;
    memory.get(usize::try_from(place % length).ok()?).cloned()
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let Command::Run { config } = arguments.command;
    let config = Config::load(&config)?;
    let identity = Identity::new(config.genesis.clone(), config.key.clone())?;
    // The one place that is sure to be writable.
    let runner = runtime::Runner::new(
        runtime::Config::new()
            .with_worker_threads(1)
            .with_storage_directory(config.data_dir.clone()),
    );
    runner.start(|context| async move {
        let most = Limits::of(&identity).max_message_size();
        // Its own quotas are none.
        let quota = |_| Quota::per_second(NZU32!(1_000_000)).allow_burst(NZU32!(1_024));
        let clock = Clocked::new(context.child("p2p"), Faults::default());
        let joined = p2p::join(clock, &config, Table::default(), &identity, most, quota);
        let victim = config.peers.first().map(|peer| peer.key.clone());
        let order = (arguments.attack, arguments.rate);
        match victim {
            Some(victim) => attack(&context, &identity, joined, victim, order).await,
            None => eprintln!("nobody is there"),
        }
    });
    Ok(())
}

async fn attack(
    context: &Context,
    identity: &Identity,
    joined: Joined,
    victim: PublicKey,
    (attack, rate): (Attack, u64),
) {
    eprintln!("{} attacks by {attack:?}", identity.key.public_key());
    let limits = MessageLimits::of(&identity.genesis);
    let shards = identity.genesis.layout.shards();
    let questions = Memory::default();
    let channels = pairs(joined.channels).map(|(sender, mut receiver)| {
        let memory = Memory::default();
        let (heard, questions) = (memory.clone(), questions.clone());
        drop(context.child("listen").spawn(move |_| async move {
            while let Ok((_, message)) = receiver.recv().await {
                let message = Bytes::copy_from_slice(message.as_ref());
                for key in keys(&message, limits, shards) {
                    remember(&questions, key);
                }
                remember(&heard, message);
            }
        }));
        (sender, memory)
    });
    if attack == Attack::Silence {
        std::future::pending::<()>().await;
    }
    let (mut sent, mut taken, mut said) = (0, 0, 0);
    let started = context.current();
    loop {
        let elapsed = elapsed(context, started);
        let turn = elapsed.as_secs() / TURN.as_secs();
        // Votes come last: whoever repeats those of others is cut off at once.
        let place = usize::try_from(turn + 1).unwrap_or_default() % channels.len();
        let (sender, memory) = &channels[place];
        let (sender, memory) = match attack {
            // The channel of certificates.
            Attack::Presence => (&channels[1].0, &channels[1].1),
            // The channel on which chunks are asked for.
            Attack::Questions => (&channels[6].0, &questions),
            _ => (sender, memory),
        };
        let due = match attack {
            Attack::Presence => elapsed.as_secs(),
            _ => rate * u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX) / 1_000,
        };
        while sent < due {
            sent += 1;
            let message = match attack {
                Attack::Garbage => Some(Bytes::copy_from_slice(&sent.to_le_bytes().repeat(25))),
                Attack::Presence | Attack::Echo => recall(memory, sent),
                // The number of the question, and that it is one.
                Attack::Questions => recall(memory, sent)
                    .map(|key| [&sent.to_be_bytes()[..], &[0], &key].concat().into()),
                Attack::Silence => None,
            };
            let Some(message) = message else { continue };
            if let Ok(checked) = sender.clone().check(Recipients::One(victim.clone())) {
                taken += checked.recipients().len();
                checked.send(message, false);
            }
        }
        if elapsed.as_secs() > said {
            said = elapsed.as_secs();
            eprintln!("second {said}, channel {place}: {taken} messages sent");
        }
        context.sleep(TICK).await;
    }
}

fn elapsed(context: &Context, since: SystemTime) -> Duration {
    context.current().duration_since(since).unwrap_or_default()
}

/// What can be asked about the chunk that a message is about.
fn keys(message: &Bytes, limits: MessageLimits, shards: u16) -> Vec<Bytes> {
    let Ok(message) = ChunkMessage::decode_cfg(message.clone(), &limits) else {
        return Vec::new();
    };
    let Some(header) = message.header() else {
        return Vec::new();
    };
    let content = &header.content;
    let (shard, height) = (content.shard, content.height);
    let hash = content.body_hash;
    let mut keys = vec![Key::Body {
        shard,
        height,
        hash,
    }];
    keys.extend((0..shards * 2).map(|index| Key::Part {
        shard,
        height,
        index,
        root: content.parts_root,
    }));
    keys.extend(content.results.iter().flat_map(|result| {
        (0..shards).map(|destination| Key::Bucket {
            source: shard,
            height: result.height,
            destination: shardnode_primitives::ShardId(destination),
            root: result.receipts_root,
        })
    }));
    keys.iter().map(Encode::encode).collect()
}

/// The channels in the order of their ids.
fn pairs(channels: Channels<Sender, Receiver>) -> [(Sender, Receiver); 11] {
    [
        channels.votes,
        channels.certificates,
        channels.certificate_requests,
        channels.blocks,
        channels.block_requests,
        channels.chunks,
        channels.chunk_requests,
        channels.client_requests,
        channels.witnesses,
        channels.endorsements,
        channels.state_requests,
    ]
}
