// SPDX-License-Identifier: Apache-2.0
//! Nodes that are started on a disk that has changed.

use crate::harness::{Network, SNAPSHOT_INTERVAL, disk::Damage, run, run_with_retention};
use commonware_runtime::Clock as _;
use std::{
    any::Any,
    panic::catch_unwind,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// Waits until a node has the state of the others, and returns how many executions
/// it repeated and how many states it fetched for that.
async fn recovered(network: &mut Network, index: usize) -> (u64, u64) {
    let at = network.view(0).height();
    network.wait_for_height_of(index, at + 6).await;
    network.set_load(0);
    network.drain().await;
    assert!(network.view(index).supply().conserved());
    network.check_agreement().await;
    (
        network.measured(index, "shardnode_executions_repeated_total"),
        network.measured(index, "shardnode_snapshots_installed_total"),
    )
}

/// The newest record looks as if it was being written when the node was killed. But
/// the chain stood still for so long that it is known that its block was
/// acknowledged: nobody delivers that again.
#[test]
fn an_acknowledged_execution_that_is_gone_is_done_again() {
    for seed in 40..44 {
        run(seed, 2, 2, |mut network| async move {
            network.start_all().await;
            network.set_load(100);
            network.wait_for_height(12).await;
            network.kill(1).await;
            network.kill(2).await;
            network.context.sleep(Duration::from_secs(10)).await;
            network.kill(3).await;
            let newest = Damage::Truncated(1);
            assert!(network.damage(3, "state-records_data", newest).await);
            network.start_all().await;
            network.set_load(100);
            assert_eq!(recovered(&mut network, 3).await, (1, 0));
        });
    }
}

/// All that [`Log`](shardnode_storage::Log) has.
const STATE: [&str; 10] = [
    "state-records_data",
    "state-records_offsets-blobs",
    "state-records_offsets-metadata",
    "state-snapshots-0_data",
    "state-snapshots-0_offsets-blobs",
    "state-snapshots-0_offsets-metadata",
    "state-snapshots-1_data",
    "state-snapshots-1_offsets-blobs",
    "state-snapshots-1_offsets-metadata",
    "state-snapshots-pointers",
];

#[test]
fn a_state_that_is_gone_is_made_again_or_fetched() {
    for (seed, retention, height) in [(46, 1_000, 5), (47, 20, 60)] {
        run_with_retention(seed, (2, 2, 1), retention, move |mut network| async move {
            network.start_all().await;
            network.set_load(50);
            network.wait_for_height(height).await;
            network.kill(3).await;
            for store in STATE {
                let removed = network.damage(3, store, Damage::Removed).await;
                let written = height > SNAPSHOT_INTERVAL || !store.contains("snapshots");
                assert!(removed || !written, "{store} is not there");
            }
            network.start(3).await;
            let (repeated, fetched) = recovered(&mut network, 3).await;
            assert!(repeated > 0 || fetched > 0);
            assert!(fetched <= 1, "{fetched} states");
        });
    }
}

/// The other stores of a producer.
const OTHERS: [&str; 24] = [
    "blocks-key",
    "blocks-metadata",
    "blocks-value",
    "bodies-keys",
    "bodies-metadata",
    "bodies-values",
    "finalizations-key",
    "finalizations-metadata",
    "finalizations-value",
    "marshal-application-metadata",
    "marshal-cache-cache-0-certified-metadata",
    "marshal-cache-cache-0-finalizations-key",
    "marshal-cache-cache-0-finalizations-metadata",
    "marshal-cache-cache-0-finalizations-value",
    "marshal-cache-cache-0-notarizations-key",
    "marshal-cache-cache-0-notarizations-metadata",
    "marshal-cache-cache-0-notarizations-value",
    "marshal-cache-cache-0-notarized-metadata",
    "marshal-cache-cache-0-verified-key",
    "marshal-cache-cache-0-verified-metadata",
    "marshal-cache-cache-0-verified-value",
    "marshal-cache-metadata",
    "produced",
    "simplex",
];

/// All of them.
fn stores() -> impl Iterator<Item = &'static str> {
    OTHERS.into_iter().chain(STATE)
}

/// What became of a node whose store was damaged: nothing where there was nothing
/// to damage, else that it has the state of the others in the end, or its last
/// words.
fn outcome(store: &'static str, damage: Damage) -> Option<Result<(), String>> {
    let damaged = Arc::new(AtomicBool::new(true));
    let noted = damaged.clone();
    let ended = catch_unwind(move || {
        run(48, 2, 2, |mut network| async move {
            network.start_all().await;
            network.set_load(50);
            network.wait_for_height(12).await;
            network.kill(3).await;
            let other = match damage {
                Damage::Swapped(other) => Some(other),
                _ => None,
            };
            if let Some(other) = other {
                network.kill(other).await;
            }
            if !network.damage(3, store, damage).await {
                noted.store(false, Ordering::Relaxed);
                return;
            }
            if let Some(other) = other {
                network.start(other).await;
            }
            network.start(3).await;
            recovered(&mut network, 3).await;
        })
    });
    let ended = ended.map(|_| ()).map_err(|panic| words(&*panic));
    damaged.load(Ordering::Relaxed).then_some(ended)
}

fn words(panic: &dyn Any) -> String {
    let literal = panic.downcast_ref::<&str>().map(|words| (*words).into());
    panic.downcast_ref().cloned().or(literal).unwrap()
}

/// How the words begin with which a node ends that cannot go on: why it does not
/// start, what consensus could not open or read, or that its votes are not its own.
const LAST_WORDS: [&str; 4] = [
    "called `Result::unwrap()` on an `Err` value: ",
    "node 3 stopped: ",
    "failed to ",
    "replaying notarize from another signer",
];

/// What became of nodes: how many went on, and how many ended and said why.
#[derive(Debug, Default)]
struct Ends {
    good: u32,
    said: u32,
}

impl Ends {
    /// Damages a store and counts what became of the node;
    /// false where there was nothing to damage.
    fn count(&mut self, store: &'static str, damage: Damage) -> bool {
        match outcome(store, damage) {
            None => return false,
            Some(Ok(())) => self.good += 1,
            Some(Err(words)) => {
                let last = LAST_WORDS.iter().any(|last| words.starts_with(last));
                assert!(last, "{store} {damage:?}: {words}");
                self.said += 1;
            }
        }
        true
    }
}

/// A node goes on with the state of the others, or ends and says why: it never has
/// another state, and never waits for good.
#[test]
fn whatever_is_damaged_is_made_good_or_said() {
    let mut ends = Ends::default();
    for store in stores() {
        assert!(ends.count(store, Damage::Removed), "{store} is not there");
        for damage in [Damage::Flipped(24), Damage::Truncated(1)] {
            ends.count(store, damage);
        }
    }
    assert!(ends.good > 40 && ends.said > 20, "{ends:?}");
}

/// As much is so of stores of several files of which one is gone.
#[test]
fn a_file_that_is_gone_is_made_good_or_said() {
    let mut ends = Ends::default();
    for store in stores() {
        for file in 0.. {
            if !ends.count(store, Damage::FileRemoved(file)) {
                break;
            }
        }
    }
    assert!(ends.good > 10, "{ends:?}");
}

/// As much is so of files that are another node's, of the same shard or another.
#[test]
fn files_of_another_node_are_made_good_or_said() {
    let mut ends = Ends::default();
    for store in stores() {
        for other in [0, 2] {
            ends.count(store, Damage::Swapped(other));
        }
    }
    assert!(ends.good > 40 && ends.said > 2, "{ends:?}");
}

/// And of every range of every file.
#[test]
#[ignore = "takes minutes: a network for each range of each file"]
fn whichever_range_is_damaged_is_made_good_or_said() {
    const RANGES: u64 = 16;
    let mut ends = Ends::default();
    for store in stores() {
        for file in 0.. {
            let damaged: Vec<bool> = (0..RANGES)
                .map(|range| {
                    let damage = Damage::FlippedWithin {
                        file,
                        range,
                        ranges: RANGES,
                    };
                    ends.count(store, damage)
                })
                .collect();
            if !damaged.contains(&true) {
                break;
            }
        }
        println!("{store}: {ends:?} so far");
    }
    assert!(ends.good > 500 && ends.said > 30, "{ends:?}");
}
