// SPDX-License-Identifier: Apache-2.0
//! A run: its connections, from the first transfer to the last outcome.

use crate::{
    backoff::Gate,
    client::{Client, RequestError},
    follow::Follower,
    lane::{Drawn, Lane, Shared, Source, WhenFull},
    prepare::{PrepareError, accounts, generator},
    prepared::{Prepared, PreparedError},
    report::{self, Blocks, Facts, Report, Unbalanced},
    schedule::{Every, Schedule},
    tally::Tally,
};
use commonware_runtime::{
    Clock as _, Spawner as _, Strategizer as _, Supervisor as _, tokio::Context,
};
use shardnode_load::{Share, Workload};
use shardnode_primitives::{
    Genesis, Namespaces, ShardId, Transaction, genesis::GenesisAccount, highest_nonce,
};
use std::{
    collections::{BTreeMap, VecDeque},
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{sync::mpsc, time::Instant};

/// How transfers become due.
#[derive(Debug)]
pub enum Profile {
    /// So many connections, each with the next request as soon as the last is
    /// answered, until so many transfers are sent, if there is an end to them.
    Workers {
        /// Connections.
        workers: u32,
        /// Transfers.
        count: Option<u64>,
    },
    /// So many a second.
    Rate(u32),
    /// Users, each with one transfer in a time.
    Users {
        /// How many.
        users: u32,
        /// The time.
        every: Duration,
    },
    /// Those of a file, as fast as they are answered.
    File(Prepared),
}

/// What a run is told.
#[derive(Debug)]
pub struct Options {
    /// The addresses of nodes, as `http://127.0.0.1:26700`.
    pub nodes: Vec<String>,
    /// The network.
    pub genesis: Arc<Genesis>,
    /// How transfers become due.
    pub profile: Profile,
    /// Who pays whom, if no file says so.
    pub workload: Workload,
    /// Connections, of profiles that do not say.
    pub connections: Option<u32>,
    /// The most transfers of a request.
    pub batch: usize,
    /// What is done about a pool that is full.
    pub when_full: WhenFull,
    /// Which part of the accounts, of how many.
    pub part: (u16, u16),
    /// How long transfers are sent.
    pub length: Duration,
    /// How long nothing may happen afterwards.
    pub drain: Duration,
    /// How long an answer may take.
    pub answer_timeout: Duration,
    /// Blocks until a transfer expires.
    pub expire_blocks: u64,
    /// When it begins, in milliseconds since 1970; as soon as it can, if it does
    /// not say.
    pub start_at_ms: Option<u64>,
    /// The CPU time of this process.
    pub cpu_seconds: fn() -> f64,
    /// Processors.
    pub cores: NonZeroUsize,
}

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Requests cannot be made at all.
    #[error("requests cannot be made")]
    Client(#[source] reqwest::Error),
    /// A node does not answer.
    #[error(transparent)]
    Node(#[from] RequestError),
    /// A node is of another network.
    #[error(
        "{node}: is of the network with genesis hash {found}, the genesis document has {expected}"
    )]
    Genesis {
        /// The node's address.
        node: String,
        /// Its network.
        found: String,
        /// The network that was meant.
        expected: String,
    },
    /// Fewer connections than shards.
    #[error("connections: must be at least {shards}, one for each shard")]
    Connections {
        /// The network's shards.
        shards: u32,
    },
    /// Too many parts of accounts.
    #[error("part: with {connections} connections, there can be no {parts} parts of the accounts")]
    Parts {
        /// Connections.
        connections: u32,
        /// Parts.
        parts: u16,
    },
    /// More connections than users.
    #[error("users: must be at least {connections}, the number of connections")]
    Users {
        /// Connections.
        connections: u32,
    },
    /// The accounts cannot be divided among so many.
    #[error("connections: more than there are accounts for in shard {shard}")]
    Accounts {
        /// The shard.
        shard: ShardId,
        /// What is missing.
        #[source]
        source: PrepareError,
    },
    /// The workload cannot be drawn.
    #[error(transparent)]
    Workload(#[from] PrepareError),
    /// The file cannot be read to its end.
    #[error(transparent)]
    File(#[from] PreparedError),
    /// It was to begin in the past.
    #[error("start: {0} ms since 1970 is over: accounts, connections and files were not ready")]
    Late(u64),
    /// Times cannot be counted.
    #[error("times cannot be counted")]
    Times(#[from] hdrhistogram::CreationError),
    /// The counts are wrong.
    #[error(transparent)]
    Unbalanced(#[from] Unbalanced),
    /// A part of the loader ended.
    #[error("{0} ended")]
    Ended(&'static str),
}

/// Connections, if nobody says how many and there are no more shards.
const CONNECTIONS: u32 = 8;
/// Lists of events, or of transfers, that wait to be counted or followed.
const WAITING: usize = 1_024;
/// Blocks after which headers commit to an execution, beside the lag.
const SETTLED: u64 = 2;
/// Between two looks at the chain.
const TICK: Duration = Duration::from_millis(100);
/// Requests of a file that wait for their connection.
const PREPARED: usize = 4;

/// Where the nodes are, and what they track.
struct Nodes {
    all: Vec<String>,
    of: BTreeMap<ShardId, Vec<String>>,
    height: u64,
    transfers: u64,
}

impl Nodes {
    async fn ask(client: &Client, options: &Options) -> Result<Self, RunError> {
        let expected = options.genesis.hash().to_string();
        let mut nodes = Self {
            all: options.nodes.clone(),
            of: BTreeMap::new(),
            height: 0,
            transfers: 0,
        };
        for node in &options.nodes {
            let status = client.status(node).await?;
            if status.genesis_hash != expected {
                return Err(RunError::Genesis {
                    node: node.clone(),
                    found: status.genesis_hash,
                    expected,
                });
            }
            if status.finalized_height >= nodes.height {
                nodes.height = status.finalized_height;
                nodes.transfers = status.transfers;
            }
            if let Some(tracked) = status.tracked {
                let shard = ShardId(tracked.shard);
                nodes.of.entry(shard).or_default().push(node.clone());
            }
        }
        Ok(nodes)
    }

    /// The nodes for a shard: those that track it, or else all.
    fn of(&self, shard: ShardId) -> &[String] {
        self.of.get(&shard).unwrap_or(&self.all)
    }

    /// All nodes, with those for a shard first.
    fn best(&self, shard: ShardId) -> VecDeque<String> {
        let first = self.of(shard);
        let others = self.all.iter().filter(|node| !first.contains(node));
        first.iter().chain(others).cloned().collect()
    }

    /// The `index`th connection of a shard goes to one of them.
    fn pick(&self, shard: ShardId, index: u32) -> String {
        let nodes = self.of(shard);
        // Connections of different shards to nodes that track none go to
        // different nodes.
        let place = index as usize + usize::from(shard.0);
        nodes[place % nodes.len()].clone()
    }
}

/// How the connections divide the shards and their accounts.
#[derive(Clone, Copy, Debug)]
struct Division {
    connections: u32,
    shards: u32,
    part: (u16, u16),
}

impl Division {
    /// The shard that a connection pays from, and its place among the connections
    /// of that shard.
    fn place(&self, connection: u32) -> (ShardId, u32) {
        let shard = u16::try_from(connection % self.shards).unwrap_or_default();
        (ShardId(shard), connection / self.shards)
    }

    /// How many connections pay from a shard.
    fn of_shard(&self, shard: ShardId) -> u32 {
        let before = u32::from(shard.0);
        self.connections
            .saturating_sub(before)
            .div_ceil(self.shards)
    }

    /// The accounts of a connection: no other has one of them, nor has another
    /// part.
    fn share(&self, connection: u32) -> Share {
        let (shard, index) = self.place(connection);
        let (part, parts) = self.part;
        let slot = index * u32::from(parts) + u32::from(part);
        let slots = self.of_shard(shard) * u32::from(parts);
        let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        Share {
            shard,
            slot: small(slot),
            slots: small(slots),
        }
    }
}

fn divide(options: &Options) -> Result<Division, RunError> {
    let shards = u32::from(options.genesis.layout.shards());
    let asked = options.connections.unwrap_or(CONNECTIONS.max(shards));
    let connections = match &options.profile {
        Profile::Workers { workers, .. } => *workers,
        Profile::Users { users, .. } if options.connections.is_none() => asked.min(*users),
        Profile::Users { .. } | Profile::Rate(_) | Profile::File(_) => asked,
    };
    if let Profile::Users { users, .. } = &options.profile
        && *users < connections
    {
        return Err(RunError::Users { connections });
    }
    let by_account = matches!(options.profile, Profile::Rate(_) | Profile::File(_));
    if by_account && connections < shards {
        return Err(RunError::Connections { shards });
    }
    let parts = options.part.1;
    if connections.div_ceil(shards) * u32::from(parts) > u32::from(u16::MAX) {
        return Err(RunError::Parts { connections, parts });
    }
    Ok(Division {
        connections,
        shards,
        part: options.part,
    })
}

/// Runs the load, and says what became of it.
pub async fn run(
    context: &Context,
    mut options: Options,
    mut progress: impl FnMut(Duration, &Tally),
) -> Result<Report, RunError> {
    let client = Client::new(options.answer_timeout).map_err(RunError::Client)?;
    let nodes = Nodes::ask(&client, &options).await?;
    let division = divide(&options)?;
    let settings = settings(&options, division);
    let strategy = context.child("derive").strategy(options.cores);
    let accounts = match options.profile {
        Profile::File(_) => Vec::new(),
        _ => accounts(&strategy, &options.genesis).await,
    };
    let mut tally = Tally::new()?;
    let mut drawn = Vec::new();
    for connection in 0..division.connections {
        drawn.push(draws(
            &options,
            &accounts,
            division,
            connection,
            nodes.height,
        )?);
    }
    drop(accounts);

    let started_at_ms = barrier(context, options.start_at_ms).await?;
    let shared = Arc::new(Shared {
        start: Instant::now(),
        client: client.clone(),
        namespaces: Namespaces::new(&options.genesis.network, &options.genesis.hash()),
        height: AtomicU64::new(nodes.height),
        expire_blocks: options.expire_blocks,
        batch: options.batch,
        when_full: options.when_full,
        drain: options.drain,
    });
    let cpu_before = (options.cpu_seconds)();
    let (events, mut noted) = mpsc::channel(WAITING);
    let (followed, to_follow) = mpsc::channel(WAITING);
    let (sources, reading) = sources(context, &mut options, division);
    let mut gates: BTreeMap<(String, ShardId), Arc<Gate>> = BTreeMap::new();
    let mut lanes = Vec::new();
    for ((connection, source), drawn) in (0..).zip(sources).zip(drawn) {
        let (shard, index) = division.place(connection);
        let node = nodes.pick(shard, index);
        let gate = gates.entry((node.clone(), shard)).or_default().clone();
        let context = context.child("lane");
        let lane = Lane {
            number: connection,
            context: context.child("time"),
            shared: shared.clone(),
            node,
            gate,
            source,
            drawn,
            events: events.clone(),
            followed: followed.clone(),
        };
        lanes.push(context.spawn(move |_| lane.run()));
    }
    drop(followed);
    let follower = Follower {
        context: context.child("follow"),
        shared: shared.clone(),
        client: client.clone(),
        layout: options.genesis.layout,
        nodes: nodes.all.iter().cloned().collect(),
        nodes_of: (0..options.genesis.layout.shards())
            .map(|shard| (ShardId(shard), nodes.best(ShardId(shard))))
            .collect(),
        followed: to_follow,
        events,
    };
    let follower = context.child("follower").spawn(move |_| follower.run());

    // Everybody who counts has an end of the channel, and drops it at the end.
    let mut second = 1;
    while let Some(list) = noted.recv().await {
        for (at, event) in list {
            tally.note(at, &event);
        }
        let now = shared.start.elapsed();
        if now.as_secs() >= second {
            progress(now, &tally);
            second = now.as_secs() + 1;
        }
    }
    for lane in lanes {
        lane.await.map_err(|_| RunError::Ended("a connection"))?;
    }
    let in_flight = follower.await.map_err(|_| RunError::Ended("following"))?;
    if let Some(reading) = reading {
        reading.await.map_err(|_| RunError::Ended("reading"))??;
    }
    let elapsed = shared.start.elapsed();
    let settled = u64::from(options.genesis.protocol.execution_lag) + SETTLED;
    let after = settle(context, &client, &nodes, settled, options.drain).await;
    let sending = match settings.profile {
        report::Profile::File { .. } => elapsed,
        _ => elapsed.min(options.length),
    };
    let facts = Facts {
        network: options.genesis.network.clone(),
        genesis_hash: options.genesis.hash().to_string(),
        settings,
        started_at_ms,
        elapsed_seconds: elapsed.as_secs_f64(),
        sending_seconds: sending.as_secs_f64(),
        cpu_seconds: (options.cpu_seconds)() - cpu_before,
        cores: options.cores.get(),
        blocks: after.map(|(last_height, transfers)| Blocks {
            first_height: nodes.height,
            last_height,
            executed: transfers.saturating_sub(nodes.transfers),
        }),
    };
    Ok(Report::new(facts, tally, in_flight)?)
}

/// Waits until blocks commit to all that is executed now: so many more. Returns
/// the finalised height, and the transfers up to there; `None` if no node answers.
async fn settle(
    context: &Context,
    client: &Client,
    nodes: &Nodes,
    blocks: u64,
    patience: Duration,
) -> Option<(u64, u64)> {
    let begun = Instant::now();
    let (mut first, mut last) = (None, None);
    loop {
        last = last.max(last_status(client, nodes).await);
        first = first.or(last);
        let settled = first.zip(last);
        if settled.is_some_and(|(first, last)| last.0 >= first.0 + blocks)
            || begun.elapsed() >= patience
        {
            return last;
        }
        context.sleep(TICK).await;
    }
}

/// The finalised height, and the transfers up to there, by the nodes that answer.
async fn last_status(client: &Client, nodes: &Nodes) -> Option<(u64, u64)> {
    let mut last = None;
    for node in &nodes.all {
        if let Ok(status) = client.status(node).await {
            last = last.max(Some((status.finalized_height, status.transfers)));
        }
    }
    last
}

/// What signs the transfers of a connection.
fn draws(
    options: &Options,
    accounts: &[GenesisAccount],
    division: Division,
    connection: u32,
    height: u64,
) -> Result<Option<Drawn>, RunError> {
    if matches!(options.profile, Profile::File(_)) {
        return Ok(None);
    }
    let share = division.share(connection);
    let (part, parts) = options.part;
    let seed = u64::from(connection) * u64::from(parts) + u64::from(part);
    let made = generator(&options.genesis, accounts, share, seed, options.workload);
    let mut generator = made.map_err(|source| match source {
        PrepareError::Load(_) => RunError::Accounts {
            shard: share.shard,
            source,
        },
        other => other.into(),
    })?;
    // Above all that was used some blocks ago, whoever used it.
    let used = highest_nonce(height.saturating_sub(2));
    let own: Vec<_> = generator.own_accounts().collect();
    for id in own {
        generator.set_nonce(&id, used);
    }
    Ok(Some(Drawn {
        signer: generator.signer(),
        generator,
        by_user: matches!(options.profile, Profile::Users { .. }),
    }))
}

/// Waits for the beginning, and says when it is.
async fn barrier(context: &Context, start_at_ms: Option<u64>) -> Result<u64, RunError> {
    let now = context.current();
    let Some(at_ms) = start_at_ms else {
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        return Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    };
    let at: SystemTime = UNIX_EPOCH + Duration::from_millis(at_ms);
    let wait = at.duration_since(now).map_err(|_| RunError::Late(at_ms))?;
    context.sleep(wait).await;
    Ok(at_ms)
}

type Reading = commonware_runtime::Handle<Result<(), PreparedError>>;

/// What each connection sends, and who reads the file for them.
fn sources(
    context: &Context,
    options: &mut Options,
    division: Division,
) -> (Vec<Source>, Option<Reading>) {
    let length = options.length;
    let connections = division.connections;
    let open = |every, users| {
        let schedule = |connection| Schedule::new(every, users, connection, connections, length);
        (0..connections)
            .map(|connection| Source::Open(schedule(connection)))
            .collect()
    };
    let profile = std::mem::replace(&mut options.profile, Profile::Rate(0));
    match profile {
        Profile::Workers { count, .. } => {
            let left = count.map(|count| Arc::new(AtomicU64::new(count)));
            let length = if count.is_some() {
                Duration::MAX
            } else {
                length
            };
            let source = |_| Source::Closed {
                left: left.clone(),
                length,
            };
            ((0..connections).map(source).collect(), None)
        }
        Profile::Rate(rate) => (open(Every::at_rate(rate), connections), None),
        Profile::Users { users, every } => (open(Every::of_users(users, every), users), None),
        Profile::File(prepared) => {
            let (senders, sources): (Vec<_>, Vec<_>) = (0..connections)
                .map(|_| {
                    let (sender, receiver) = mpsc::channel(PREPARED);
                    (sender, Source::Prepared(receiver))
                })
                .unzip();
            let layout = options.genesis.layout;
            let batch = options.batch;
            // It waits for the disk.
            let reader = context.child("read").dedicated();
            let read = reader.spawn(move |_| async move {
                hand_out(prepared, &senders, batch, |transaction| {
                    let shard = layout.shard_of(transaction.signer());
                    let among = division.of_shard(shard).max(1);
                    let [.., low, high] = transaction.signer().0;
                    let index = u32::from(u16::from_le_bytes([low, high])) % among;
                    (index * division.shards + u32::from(shard.0)) as usize
                })
                .await
            });
            (sources, Some(read))
        }
    }
}

/// Gives each connection its transfers, in requests, to the last one.
async fn hand_out(
    mut prepared: Prepared,
    connections: &[mpsc::Sender<Vec<Transaction>>],
    batch: usize,
    connection_of: impl Fn(&Transaction) -> usize,
) -> Result<(), PreparedError> {
    let mut lists = vec![Vec::new(); connections.len()];
    loop {
        let transfers = prepared.next(batch as u64)?;
        if transfers.is_empty() {
            break;
        }
        for transaction in transfers {
            let connection = connection_of(&transaction);
            lists[connection].push(transaction);
            if lists[connection].len() >= batch {
                let list = std::mem::take(&mut lists[connection]);
                // One that gave up takes no more.
                let _ = connections[connection].send(list).await;
            }
        }
    }
    for (connection, list) in connections.iter().zip(lists) {
        if !list.is_empty() {
            let _ = connection.send(list).await;
        }
    }
    Ok(())
}

fn settings(options: &Options, division: Division) -> report::Settings {
    let profile = match &options.profile {
        Profile::Workers { workers, .. } => report::Profile::Workers { workers: *workers },
        Profile::Rate(rate) => report::Profile::Rate {
            transfers_per_second: *rate,
        },
        Profile::Users { users, every } => report::Profile::Users {
            users: *users,
            every_ms: u64::try_from(every.as_millis()).unwrap_or(u64::MAX),
        },
        Profile::File(prepared) => report::Profile::File {
            transfers: prepared.header().count,
            checksum: prepared.header().checksum.to_string(),
        },
    };
    let workload = match &options.profile {
        Profile::File(prepared) => prepared.header().workload,
        _ => options.workload,
    };
    report::Settings {
        nodes: options.nodes.clone(),
        profile,
        workload,
        connections: division.connections,
        batch: options.batch,
        when_full: match options.when_full {
            WhenFull::Retry => "Retry",
            WhenFull::Count => "Count",
        },
        part: [options.part.0 + 1, options.part.1],
    }
}
