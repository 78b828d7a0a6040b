// SPDX-License-Identifier: Apache-2.0
//! A run: its connections, from the first transfer to the last outcome.

use crate::{
    backoff::Gate,
    client::Client,
    division::{Division, divide},
    error::RunError,
    follow::Follower,
    lane::{Lane, Shared, WhenFull},
    nodes::Nodes,
    options::{Options, Profile},
    prepare::accounts,
    report::{self, Blocks, Facts, Report},
    sources::{draws, sources},
    tally::Tally,
};
use commonware_runtime::{
    Clock as _, Spawner as _, Strategizer as _, Supervisor as _, tokio::Context,
};
use shardnode_primitives::{Namespaces, ShardId};
use std::{
    collections::BTreeMap,
    sync::{Arc, atomic::AtomicU64},
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{sync::mpsc, time::Instant};

/// Lists of events, or of transfers, that wait to be counted or followed.
const WAITING: usize = 1_024;
/// How long before the first transfer the nodes are asked how far the chain is.
const LOOK: Duration = Duration::from_secs(1);

/// Runs the load, and says what became of it.
pub async fn run(
    context: &Context,
    mut options: Options,
    mut progress: impl FnMut(Duration, &Tally),
) -> Result<Report, RunError> {
    let client = Client::new(options.answer_timeout).map_err(RunError::Client)?;
    let mut nodes = Nodes::ask(&client, &options).await?;
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

    if let Some(at_ms) = options.start_at_ms {
        let left = remaining(context, at_ms)?;
        context.sleep(left.saturating_sub(LOOK)).await;
        nodes.ask_again(context, &client, left.min(LOOK) / 2).await;
    }
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
    let lag = u64::from(options.genesis.protocol.execution_lag);
    let after = nodes.settle(context, &client, lag, options.drain).await;
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

/// Waits for the beginning, and says when it is.
async fn barrier(context: &Context, start_at_ms: Option<u64>) -> Result<u64, RunError> {
    let Some(at_ms) = start_at_ms else {
        let since = context
            .current()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        return Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX));
    };
    context.sleep(remaining(context, at_ms)?).await;
    Ok(at_ms)
}

/// How long it is until then.
fn remaining(context: &Context, at_ms: u64) -> Result<Duration, RunError> {
    let at: SystemTime = UNIX_EPOCH + Duration::from_millis(at_ms);
    at.duration_since(context.current())
        .map_err(|_| RunError::Late(at_ms))
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
