// SPDX-License-Identifier: Apache-2.0
//! Makes files of signed transfers.

use crate::prepared::{Header, PreparedError, Writer};
use commonware_parallel::{Rayon, Strategy as _};
use commonware_runtime::{Strategizer as _, Supervisor as _, tokio::Context};
use shardnode_load::{
    Accounts, Generator, LoadError, Share, Workload, WorkloadError, accounts::derive,
};
use shardnode_primitives::{Genesis, Namespaces, ShardId, genesis::GenesisAccount};
use std::{num::NonZeroUsize, path::Path, sync::Arc};

/// Accounts that one CPU job derives.
const DERIVE_BATCH: u32 = 1_024;
/// Transfers of one shard that are signed together.
const SIGN_BATCH: u64 = 512;

/// Why a file was not made.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// There is nothing to draw from.
    #[error("transfers cannot be drawn")]
    Load(#[from] LoadError),
    /// The workload cannot be drawn.
    #[error("workload")]
    Workload(#[from] WorkloadError),
    /// The file cannot be written.
    #[error(transparent)]
    File(#[from] PreparedError),
}

/// All genesis accounts of a network.
pub(crate) async fn accounts(strategy: &Rayon, genesis: &Arc<Genesis>) -> Vec<GenesisAccount> {
    let count = genesis.account_count();
    let ranges: Vec<_> = (0..count)
        .step_by(DERIVE_BATCH as usize)
        .map(|first| first..count.min(first.saturating_add(DERIVE_BATCH)))
        .collect();
    let genesis = genesis.clone();
    strategy
        .spawn(ranges.len(), move |strategy| {
            strategy
                .map_collect_vec(ranges, |range| derive(&genesis, range))
                .into_iter()
                .flatten()
                .collect()
        })
        .await
}

/// A generator that draws a workload from a share of the accounts.
pub(crate) fn generator(
    genesis: &Genesis,
    accounts: &[GenesisAccount],
    share: Share,
    seed: u64,
    workload: Workload,
) -> Result<Generator, PrepareError> {
    let accounts = Accounts::from_parts(genesis, share, [accounts.to_vec()]);
    let mut generator = Generator::new(accounts, seed)?;
    generator.set_workload(workload)?;
    Ok(generator)
}

/// Writes a file with so many transfers, equally many of every shard. They take
/// turns, so that whoever reads the file always has some for each.
pub async fn prepare(
    context: &Context,
    threads: NonZeroUsize,
    genesis: Arc<Genesis>,
    workload: Workload,
    count: u64,
    path: &Path,
) -> Result<Header, PrepareError> {
    let strategy = context.child("sign").strategy(threads);
    let accounts = accounts(&strategy, &genesis).await;
    let mut generators = Vec::new();
    for shard in 0..genesis.layout.shards() {
        let share = Share {
            shard: ShardId(shard),
            slot: 0,
            slots: 1,
        };
        generators.push(generator(
            &genesis,
            &accounts,
            share,
            shard.into(),
            workload,
        )?);
    }
    let hash = genesis.hash();
    let namespaces = Arc::new(Namespaces::new(&genesis.network, &hash));
    let mut writer = Writer::create(path, hash, count, workload)?;
    while writer.left() > 0 {
        let mut left = writer.left();
        let mut lists = Vec::new();
        for (others, generator) in (0u64..generators.len() as u64).rev().zip(&mut generators) {
            let each = left.div_ceil(others + 1).min(SIGN_BATCH);
            left -= each;
            let drawn = generator.draw(u32::try_from(each).unwrap_or_default());
            let signer = generator.signer();
            let namespaces = namespaces.clone();
            let signed = strategy
                .spawn(drawn.len(), move |strategy| {
                    strategy
                        .map_collect_vec(drawn, |one| signer.sign(&[one], &namespaces))
                        .into_iter()
                        .flatten()
                        .collect::<Vec<_>>()
                })
                .await;
            lists.push(signed.into_iter());
        }
        loop {
            let turn: Vec<_> = lists.iter_mut().filter_map(Iterator::next).collect();
            if turn.is_empty() {
                break;
            }
            writer.write(&turn)?;
        }
    }
    Ok(writer.finish()?)
}
