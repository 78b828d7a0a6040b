// SPDX-License-Identifier: Apache-2.0
//! What peers ask for from records that are in memory no more.

use crate::fixture::{EXECUTED, OTHER, OWN, credited, root, run, sent};
use shardnode_primitives::hash::ZERO;

#[test]
fn a_question_with_another_root_costs_no_read() {
    run(0, |fixture| async move {
        for height in 0..=EXECUTED + 1 {
            assert_eq!(fixture.ask(height, ZERO).await, None);
            assert_eq!(fixture.ask_credited(height, ZERO).await, None);
        }
        assert!(fixture.reads.take().is_empty());
        for height in [1, EXECUTED] {
            let answer = fixture.ask(height, root(OWN, height)).await;
            assert_eq!(answer, Some(sent(height)));
            let answer = fixture.ask_credited(height, root(OTHER, height)).await;
            assert_eq!(answer, Some(credited(height)));
        }
    });
}

#[test]
fn a_record_from_before_the_snapshot_is_read_once() {
    run(70, |fixture| async move {
        for _ in 0..3 {
            for height in 0..=70 {
                assert_eq!(fixture.ask(height, ZERO).await, None);
            }
        }
        let reads = fixture.reads.take();
        assert!(reads.len() <= 70, "{reads:?}");
        let answer = fixture.ask(5, root(OWN, 5)).await;
        assert_eq!(answer, Some(sent(5)));
    });
}

#[test]
fn what_several_peers_ask_for_is_read_once() {
    run(0, |fixture| async move {
        for height in 1..=4 {
            for _ in 0..5 {
                let answer = fixture.ask(height, root(OWN, height)).await;
                assert_eq!(answer, Some(sent(height)));
                let answer = fixture.ask_credited(height, root(OTHER, height)).await;
                assert_eq!(answer, Some(credited(height)));
            }
        }
        assert_eq!(fixture.reads.take(), vec![1, 2, 3, 4]);
    });
}

#[test]
fn what_is_in_memory_waits_for_no_record() {
    run(0, |fixture| async move {
        fixture.reads.hold(true);
        let reading = fixture.mailbox.serve(1, OTHER, root(OWN, 1));
        // As many wait as may, and nobody after them.
        let mut waiting = Vec::new();
        for _ in 0..30 {
            waiting.extend((0..10).map(|_| fixture.mailbox.serve(2, OTHER, root(OWN, 2))));
            let answer = fixture.ask(EXECUTED, root(OWN, EXECUTED)).await;
            assert_eq!(answer, Some(sent(EXECUTED)));
        }
        assert!(fixture.reads.take().is_empty());
        fixture.reads.hold(false);
        assert_eq!(reading.await.unwrap().to_vec(), sent(1));
        let answers = futures::future::join_all(waiting).await;
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 256);
        assert_eq!(fixture.reads.take(), vec![1, 2]);
    });
}

#[test]
fn a_damaged_record_is_not_served_and_ends_nothing() {
    run(70, |fixture| async move {
        for height in [3, 71] {
            fixture.reads.damage(height);
        }
        for _ in 0..3 {
            assert_eq!(fixture.ask(3, root(OWN, 3)).await, None);
            assert_eq!(fixture.ask_credited(71, root(OTHER, 71)).await, None);
        }
        assert_eq!(fixture.reads.take(), vec![3, 71], "each is tried once");
        assert_eq!(fixture.ask(4, root(OWN, 4)).await, Some(sent(4)));
        assert!(fixture.answers().await);
        drop(fixture.handle);
    });
}
