// SPDX-License-Identifier: Apache-2.0
//! What the connections of a run send, and what signs it.

use crate::{
    division::Division,
    error::RunError,
    lane::{Drawn, Source},
    options::{Options, Profile},
    prepare::{PrepareError, generator},
    prepared::{Prepared, PreparedError},
    schedule::{Every, Schedule},
};
use commonware_runtime::{Spawner as _, Supervisor as _, tokio::Context};
use shardnode_primitives::{Transaction, genesis::GenesisAccount, highest_nonce};
use std::{
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};
use tokio::sync::mpsc;

/// Requests of a file that wait for their connection.
const PREPARED: usize = 4;

/// What signs the transfers of a connection.
pub(crate) fn draws(
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

/// Reading of a file, to its end.
pub(crate) type Reading = commonware_runtime::Handle<Result<(), PreparedError>>;

/// What each connection sends, and who reads the file for them.
pub(crate) fn sources(
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
