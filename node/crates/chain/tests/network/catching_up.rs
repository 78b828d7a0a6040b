// SPDX-License-Identifier: Apache-2.0
//! Producers that need a state that they can no longer execute their way to.

use crate::harness::{Network, run_with_retention};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

/// Blocks for which bodies and receipts are kept.
const RETENTION: u64 = 20;

/// Kills a node and waits until what it misses is no longer kept.
async fn stay_away(network: &mut Network, index: usize) {
    network.wait_for_height(6).await;
    network.kill(index).await;
    let killed_at = network.view(0).height();
    network.wait_for_height(killed_at + RETENTION + 10).await;
}

/// Waits until a node has caught up, and checks that it has the state of the
/// others, by way of a snapshot, and takes part again.
async fn is_back(network: &mut Network, index: usize) {
    let at = network.view(0).height();
    network.wait_for_height_of(index, at + 8).await;
    assert_eq!(
        network.measured(index, "shardnode_snapshots_installed_total"),
        1
    );
    assert_eq!(
        network.measured(index, "shardnode_state_pages_fetched_total"),
        3
    );
    assert!(network.node(index).syncing.borrow().is_none());
    assert!(network.endorsements(index, "endorsed") > 0, "it endorses");
    let produced = network.measured(index, "shardnode_chunks_produced_total");
    assert!(produced > 0, "it produces");
    network.set_load(0);
    network.drain().await;
    assert!(network.view(index).supply().conserved());
    network.check_agreement().await;
}

#[test]
fn a_producer_with_an_empty_disk_gets_the_state_of_another() {
    run_with_retention(21, (2, 2, 1), RETENTION, |mut network| async move {
        network.start_all().await;
        network.set_load(50);
        stay_away(&mut network, 3).await;
        network.wipe(3);
        network.start(3).await;
        is_back(&mut network, 3).await;
        let served = network.measured(2, "shardnode_state_pages_served_total");
        assert!(served >= 3, "{served} pages served");

        // Without its vote nothing would be final any more.
        network.kill(1).await;
        let at = network.view(0).height();
        network.wait_for_height(at + 4).await;
    });
}

#[test]
fn a_producer_that_was_away_too_long_gets_a_later_state() {
    run_with_retention(22, (2, 2, 2), RETENTION, |mut network| async move {
        network.start_all().await;
        network.set_load(50);
        stay_away(&mut network, 2).await;
        network.start(2).await;
        is_back(&mut network, 2).await;

        // And again, from the state that it installed.
        network.kill(2).await;
        network.start(2).await;
        let at = network.view(0).height();
        network.wait_for_height_of(2, at + 4).await;
        assert_eq!(
            network.measured(2, "shardnode_snapshots_installed_total"),
            0
        );
        network.check_agreement().await;
    });
}

#[test]
fn producers_that_lie_about_states_are_passed_over() {
    // Whom a producer asks is drawn by lot, and who answered well wins most.
    let asked = (23..63).any(|seed| pages_of_liars(seed) > 0);
    assert!(asked, "no liar was asked");
}

/// How many wrong pages a producer got on its way to the right state.
fn pages_of_liars(seed: u64) -> u64 {
    let refused = Arc::new(AtomicU64::new(0));
    let seen = refused.clone();
    run_with_retention(seed, (1, 4, 1), RETENTION, |mut network| async move {
        network.lie_about_states(&[1, 2]);
        network.start_all().await;
        network.set_load(30);
        stay_away(&mut network, 3).await;
        network.wipe(3);
        network.start(3).await;
        is_back(&mut network, 3).await;
        let refused = network.measured(3, "shardnode_state_pages_refused_total");
        seen.store(refused, Ordering::Relaxed);
    });
    refused.load(Ordering::Relaxed)
}

#[test]
fn a_producer_that_is_killed_while_it_fetches_starts_over() {
    run_with_retention(24, (2, 2, 1), RETENTION, |mut network| async move {
        network.start_all().await;
        network.set_load(50);
        stay_away(&mut network, 3).await;
        network.wipe(3);
        network.start(3).await;
        let mut syncing = network.node(3).syncing.clone();
        let begun = syncing
            .wait_for(|progress| progress.is_some_and(|progress| progress.fetched > 0))
            .await
            .unwrap()
            .unwrap();
        assert_eq!((begun.fetched, begun.pages), (1, Some(3)));
        network.kill(3).await;
        network.start(3).await;
        is_back(&mut network, 3).await;
    });
}
