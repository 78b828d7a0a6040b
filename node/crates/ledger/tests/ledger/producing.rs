// SPDX-License-Identifier: Apache-2.0
//! What the producer of the node is told.

use crate::fixture::{EXECUTED, run};
use shardnode_mailboxes::producer::Message;

/// The next headers may have to commit to them.
#[test]
fn a_producer_is_told_of_the_last_executions_before_a_start() {
    run(70, |mut fixture| async move {
        for height in EXECUTED - 3..=EXECUTED {
            match fixture.told.recv().await {
                Some(Message::Executed(proven, changed)) => {
                    assert_eq!(proven.executed.result.height, height);
                    assert!(changed.is_empty());
                }
                other => panic!("{other:?}"),
            }
        }
    });
}
