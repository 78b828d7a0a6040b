// SPDX-License-Identifier: Apache-2.0
//! Whole networks in one deterministic process: real nodes on simulated
//! links, storage and time.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod archive;
mod catching_up;
mod damage;
mod harness;
mod misses;
mod pruning;
mod starting;
mod traces;

use commonware_codec::Encode as _;
use commonware_runtime::Clock as _;
use harness::{Fault, Ignores, Network, run, run_with_chunk_validators, run_with_loss};
use shardnode_blocks::ChainView;
use shardnode_network::{channels, client_messages::ClientMessage};
use shardnode_primitives::congestion::{MOST_BEHIND, blocks_behind};
use std::time::Duration;

#[test]
fn transfers_cross_shards_and_supply_is_conserved() {
    run(1, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(25).await;
        network.set_load(0);
        network.drain().await;

        let view = network.view(0);
        assert!(view.transfers() > 500, "{} transfers", view.transfers());
        let crossed = view.cross_shard();
        assert!(crossed > 100, "{crossed} cross-shard transfers");
        let supply = view.supply();
        assert!(supply.conserved(), "{supply:?}");
        assert_eq!(supply.in_flight, 0, "everything sent has arrived");
        let fee = network.genesis.protocol.transfer_fee;
        assert_eq!(supply.burnt, fee * view.transfers());
        assert_eq!(
            view.transfers(),
            network.signed(),
            "every signed transfer is executed once"
        );
        network.check_agreement().await;
    });
}

#[test]
fn equal_seeds_run_equally_and_others_do_not() {
    let story = |seed| {
        run(seed, 2, 2, |mut network| async move {
            network.start_all().await;
            network.set_load(50);
            network.wait_for_height(8).await;
        })
    };
    let first = story(7);
    assert_eq!(first, story(7));
    assert_ne!(first, story(8));
}

#[test]
fn a_killed_node_is_missed_and_catches_up_to_the_same_roots() {
    run(2, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(6).await;
        network.kill(3).await;
        let stopped_at = network.view(0).height();
        network.wait_for_height(stopped_at + 6).await;
        assert!(
            network.view(0).block.missed_chunks() > 0,
            "the dead producer's turns are missed chunks"
        );
        network.start(3).await;
        let back_at = network.view(0).height();
        network.wait_for_height_of(3, back_at + 4).await;
        network.set_load(0);
        network.drain().await;
        network.check_agreement().await;
        assert!(network.view(3).supply().conserved());
    });
}

/// A peer can have an answer of a megabyte for a question of 49 bytes.
#[test]
fn a_peer_gets_no_more_bodies_than_its_share() {
    const WITHIN: Duration = Duration::from_secs(4);
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(2_000);
        network.wait_for_height(6).await;
        network.kill(3).await;
        let received = network.ask_for_bodies(3, 0, 100, WITHIN).await;
        let share = (32 << 20) + 4 * (4 << 20);
        assert!(received > share / 2, "{received} bytes");
        assert!(received <= share, "{received} bytes");
    });
}

/// Whoever catches up asks for bodies, too, and may have as much.
#[test]
fn a_peer_that_asks_as_nodes_do_gets_no_more_bodies_than_its_share() {
    const WITHIN: Duration = Duration::from_secs(4);
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(2_000);
        network.wait_for_height(6).await;
        network.kill(3).await;
        let body = network.newest_body(2);
        let received = network.ask_about_chunks(3, 2, body, 100, WITHIN).await;
        let share = (32 << 20) + 4 * (4 << 20);
        assert!(received > share / 2, "{received} bytes");
        assert!(received <= share, "{received} bytes");
        assert!(network.measured(2, "shardnode_requests_refused_total") > 0);
    });
}

/// Nobody but the shard's producers has a use for its bodies.
#[test]
fn a_peer_gets_no_bodies_of_a_shard_that_is_not_its_own() {
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(6).await;
        network.kill(3).await;
        let body = network.newest_body(0);
        let within = Duration::from_secs(1);
        assert_eq!(network.ask_about_chunks(3, 0, body, 1, within).await, 0);
        assert!(network.measured(0, "shardnode_requests_refused_total") > 0);
    });
}

/// A message that is too large for its channel is not even decoded.
#[test]
fn a_peer_that_sends_too_large_a_message_is_cut_off() {
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        network.kill(3).await;
        let within = Duration::from_secs(1);
        let sent = [
            (channels::CERTIFICATE_REQUESTS, 64 << 10, true),
            (channels::BLOCK_REQUESTS, 1 << 20, true),
            (channels::CHUNK_REQUESTS, 1 << 20, true),
            (channels::STATE_REQUESTS, 1 << 20, true),
            (channels::CLIENT_REQUESTS, 1 << 20, true),
        ];
        for (receiver, (channel, bytes, cut_off)) in [0, 1, 2, 0, 1].into_iter().zip(sent) {
            let was = network.is_cut_off_for(3, receiver, channel, bytes, within);
            assert_eq!(was.await, cut_off, "{bytes} bytes on channel {channel}");
            network.forgive(3).await;
        }
    });
}

/// Who proposes no block sends none, and who proposes one sends a whole one.
#[test]
fn a_peer_that_sends_what_is_no_block_of_its_own_is_cut_off() {
    run_with_chunk_validators(3, 2, 2, 1, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        let within = Duration::from_secs(1);
        for sender in [3, 4] {
            network.kill(sender).await;
            let (height, channel) = (network.view(0).height(), channels::BLOCKS);
            for receiver in 0..3 {
                let own = network.block_of(sender);
                for (bytes, cut_off) in [(own, sender == 4), (vec![0; 1_000], true)] {
                    let was = network.is_cut_off_by(sender, receiver, channel, bytes, within);
                    assert_eq!(was.await, cut_off, "node {sender} by node {receiver}");
                }
            }
            network.wait_for_height(height + 4).await;
            network.forgive(sender).await;
            network.start(sender).await;
        }
        network.check_agreement().await;
    });
}

/// On the channel for clients as on every other.
#[test]
fn a_peer_that_sends_what_cannot_be_decoded_is_cut_off() {
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        network.kill(3).await;
        let (channel, within) = (channels::CLIENT_REQUESTS, Duration::from_secs(1));
        for (receiver, message) in [(0, vec![]), (1, vec![0; 64]), (2, vec![9; 10])] {
            let was = network.is_cut_off_by(3, receiver, channel, message, within);
            assert!(was.await);
            network.forgive(3).await;
        }
    });
}

/// Of transactions by themselves nobody says that they were verified.
#[test]
fn a_peer_that_lists_what_does_not_hold_is_cut_off() {
    run(3, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        network.kill(3).await;
        for (question, cut_off) in harness::client::submissions(&network) {
            let message = ClientMessage::Ask(1, question).encode().to_vec();
            let channel = channels::CLIENT_REQUESTS;
            let within = Duration::from_secs(1);
            let was = network.is_cut_off_by(3, 0, channel, message, within);
            assert_eq!(was.await, cut_off);
        }
    });
}

#[test]
fn everybody_killed_at_once_goes_on_where_they_were() {
    for seed in 0..4 {
        run(seed, 2, 2, move |mut network| async move {
            network.start_all().await;
            network.set_load(100);
            network.wait_for_height(5 + seed).await;
            let before = network.view(0).transfers();
            for node in 0..4 {
                network.kill(node).await;
            }
            network.start_all().await;
            network.set_load(100);
            let resumed = network.next_height().await;
            network.wait_for_height(resumed + 6).await;
            network.set_load(0);
            network.drain().await;
            assert!(network.view(0).transfers() > before);
            assert!(network.view(0).supply().conserved());
            network.check_agreement().await;
        });
    }
}

/// Nobody else has the chunks of such a shard.
#[test]
fn the_only_producer_of_a_shard_goes_on_after_it_was_killed() {
    for seed in 0..8 {
        run(seed, 2, 1, move |mut network| async move {
            network.start_all().await;
            for round in 0..4 {
                network.set_load(100);
                let reached = network.next_height().await;
                network
                    .wait_for_height(reached + 2 + (seed + round) % 3)
                    .await;
                for node in 0..2 {
                    network.kill(node).await;
                }
                network.start_all().await;
            }
            let resumed = network.next_height().await;
            network.wait_for_height(resumed + 4).await;
            network.drain().await;
            assert!(network.view(0).supply().conserved());
            network.check_agreement().await;
        });
    }
}

/// The only other node with the bodies of its shard is gone by then.
#[test]
fn a_node_that_was_away_recovers_bodies_from_the_parts_of_others() {
    run(13, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(4).await;
        network.kill(1).await;
        let away = network.view(0).height();
        network.wait_for_height(away + 8).await;
        network.kill(0).await;
        network.start(1).await;
        let reached = network.view(2).height();
        network.wait_for_height_of(1, reached + 4).await;
        let recovered = network.recoveries(1, "recovered");
        assert!(recovered > 0, "nothing was recovered");
        assert_eq!(network.recoveries(1, "invalid"), 0);

        network.start(0).await;
        let back_at = network.view(2).height();
        network.wait_for_height(back_at + 4).await;
        network.set_load(0);
        network.drain().await;
        assert!(network.view(1).supply().conserved());
        network.check_agreement().await;
    });
}

/// Memory alone would have lost them.
#[test]
fn saved_parts_outlive_those_who_hold_them() {
    run(14, 2, 2, |mut network| async move {
        network.save_parts = true;
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(4).await;
        network.kill(1).await;
        let away = network.view(0).height();
        network.wait_for_height(away + 8).await;
        let reached = network.view(0).height();
        for node in [0, 2, 3] {
            network.kill(node).await;
        }
        for node in [1, 2, 3] {
            network.start(node).await;
        }
        network.wait_for_height_of(1, reached + 2).await;
        assert!(network.recoveries(1, "recovered") > 0);

        network.start(0).await;
        network.drain().await;
        assert!(network.view(1).supply().conserved());
        network.check_agreement().await;
    });
}

#[test]
fn lossy_links_lose_no_transfer() {
    run_with_loss(3, 2, 2, 0.97, |mut network| async move {
        network.start_all().await;
        network.set_load(50);
        network.wait_for_height(15).await;
        network.set_load(0);
        network.drain().await;
        let view = network.view(0);
        assert_eq!(view.transfers(), network.signed());
        assert!(view.supply().conserved());
        network.check_agreement().await;
    });
}

/// A shard of three producers, and messages that get lost, so that chunks are
/// missed and another producer's header commits to what was executed.
#[test]
fn each_transfer_is_counted_by_the_node_that_produced_its_chunk() {
    run_with_loss(10, 2, 3, 0.9, |mut network| async move {
        network.start_all().await;
        network.set_load(40);
        network.wait_for_height(30).await;
        network.set_load(0);
        network.drain().await;
        let view = network.view(0);
        assert!(view.block.missed_chunks() > 0, "some chunks are missed");
        network.wait_for_height(view.height()).await;
        let produced = network.produced_transfers();
        assert!(produced.iter().all(|count| *count > 0), "{produced:?}");
        assert_eq!(produced.iter().sum::<u64>(), view.transfers());
        let shards = view.block.chunks.iter();
        for (producers, header) in produced.chunks(3).zip(shards) {
            let executed = header.content.totals.transfers;
            assert_eq!(producers.iter().sum::<u64>(), executed);
        }
        assert_eq!(produced, network.transfers_by_signer().await);
    });
}

#[test]
fn a_partition_stops_the_chain_and_healing_resumes_it() {
    run(4, 2, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(50);
        network.wait_for_height(5).await;
        network.apply(Fault::Partition(vec![0, 1])).await;
        // What was in flight may still be finalised; after that nothing is.
        network.context.sleep(Duration::from_secs(5)).await;
        let stuck = network.view(0).height().max(network.view(2).height());
        network.context.sleep(Duration::from_secs(20)).await;
        let now = network.view(0).height().max(network.view(2).height());
        assert_eq!(now, stuck, "no half has a quorum");
        network.apply(Fault::Heal).await;
        network.wait_for_height(stuck + 5).await;
        network.check_agreement().await;
    });
}

#[test]
fn more_shards_than_one_pair() {
    run(5, 4, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(40);
        network.wait_for_height(12).await;
        network.set_load(0);
        network.drain().await;
        let view = network.view(5);
        assert_eq!(view.transfers(), network.signed());
        assert!(view.supply().conserved());
        network.check_agreement().await;
    });
}

/// Chunk validators that have never seen a shard's state re-execute its chunks
/// from witnesses. While too many of them are down nothing is endorsed, and
/// the chain goes on without chunks.
#[test]
fn chunks_are_endorsed_by_those_who_hold_no_state() {
    run_with_chunk_validators(12, 2, 1, 8, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(12).await;
        for node in 2..10 {
            let endorsed = network.endorsements(node, "endorsed");
            assert!(endorsed > 0, "chunk validator {node} endorsed nothing");
            assert_eq!(network.endorsements(node, "refused"), 0);
        }
        for stake in network.view(0).endorsed.iter().flatten() {
            assert!(3 * stake.endorsed > 2 * stake.mandated, "{stake:?}");
        }

        for node in 4..10 {
            network.kill(node).await;
        }
        // What was endorsed before may still enter a block.
        let killed_at = network.next_height().await;
        network.wait_for_height(killed_at + 2).await;
        let transfers = network.view(0).transfers();
        let missed = network.view(0).block.missed_chunks();
        let height = network.view(0).height();
        network.wait_for_height(height + 4).await;
        let view = network.view(0);
        assert_eq!(view.transfers(), transfers, "nothing is endorsed");
        let gone = 2 * (view.height() - height);
        assert_eq!(view.block.missed_chunks() - missed, gone);

        network.start_all().await;
        let back_at = network.view(0).height();
        network.wait_for_height(back_at + 8).await;
        network.set_load(0);
        network.drain().await;
        let view = network.view(0);
        assert!(view.transfers() > transfers, "chunks are back");
        assert_eq!(view.transfers(), network.signed());
        assert!(view.supply().conserved());
        network.check_agreement().await;
    });
}

/// A shard whose only producer is down is sent nothing more once it is behind,
/// everything else goes on, and what waited arrives once it is back.
#[test]
fn senders_hold_back_from_a_shard_that_stands_still() {
    run_with_chunk_validators(21, 4, 1, 4, |mut network| async move {
        network.start_all().await;
        network.set_load(60);
        // What a killed node has in its pool is gone.
        network.node(3).load.as_ref().unwrap().set_rate(0);
        network.wait_for_height(6).await;
        network.kill(3).await;
        let killed_at = network.view(0).height();
        network.wait_for_height(killed_at + 8).await;

        let view = network.view(0);
        let behind = blocks_behind(&view.block.chunks[3].content.totals, view.height(), 1);
        assert!(behind > MOST_BEHIND, "{behind} blocks behind");
        let waiting = |network: &Network| -> u64 {
            (0..3)
                .map(|node| network.node(node).metrics.production.waiting())
                .sum()
        };
        assert!(waiting(&network) > 0, "transfers to it wait");
        let sent = |view: &ChainView| view.cross_shard();
        let (transfers, crossed) = (view.transfers(), sent(&view));
        network.wait_for_height(view.height() + 4).await;
        let view = network.view(0);
        assert!(view.transfers() > transfers, "others go on");
        assert!(sent(&view) > crossed, "and between them");

        network.start(3).await;
        let back_at = network.view(0).height();
        network.wait_for_height(back_at + 6).await;
        network.set_load(0);
        network.drain().await;
        let view = network.view(0);
        assert_eq!(waiting(&network), 0);
        assert_eq!(view.transfers(), network.signed(), "none was lost");
        assert!(view.supply().conserved());
        network.check_agreement().await;
    });
}

#[test]
fn a_lag_of_two_keeps_the_same_promises() {
    harness::run_with_lag(6, 2, |mut network| async move {
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(12).await;
        network.kill(1).await;
        let at = network.view(0).height();
        network.wait_for_height(at + 5).await;
        network.start(1).await;
        network.set_load(0);
        network.drain().await;
        assert!(network.view(0).supply().conserved());
        network.check_agreement().await;
    });
}

#[test]
fn a_client_sees_its_transfer_through_any_node() {
    run(9, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        harness::client::transfer_is_seen_everywhere(&network).await;
    });
}

/// Two producers a shard, of one of which clients expect nothing good. Eight turns of
/// each later the other one has been handed what it left out.
#[test]
fn what_a_producer_ignores_goes_to_the_next() {
    for ignores in [Ignores::Politely, Ignores::Silently] {
        run(10, 2, 2, |mut network| async move {
            network.ignore_clients_of(0, ignores);
            network.start_all().await;
            network.wait_for_height(3).await;
            harness::client::transfers_are_executed(&network, 2, 60).await;
        });
    }
}

#[test]
fn what_nobody_pays_for_any_more_is_in_no_chunk() {
    run(13, 2, 2, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        harness::client::emptied_accounts_fill_no_chunk(&network).await;
    });
}

#[test]
fn what_a_producer_lost_with_its_pool_comes_back() {
    run(11, 3, 1, |mut network| async move {
        network.start_all().await;
        network.wait_for_height(3).await;
        harness::client::lost_transfers_are_executed(network).await;
    });
}

#[test]
fn what_everybody_ignores_expires() {
    run(12, 2, 1, |mut network| async move {
        network.ignore_clients_of(0, Ignores::Politely);
        network.start_all().await;
        network.wait_for_height(3).await;
        harness::client::ignored_transfers_expire(&network, 1).await;
    });
}
