// SPDX-License-Identifier: Apache-2.0
//! Voters that ask for what there is not.

use crate::{
    fixture::{HEIGHT, run},
    peers::genesis,
};
use commonware_runtime::{Spawner as _, Supervisor as _};
use shardnode_execution::body::Shown;
use shardnode_mailboxes::bodies::{CheckedChunk, Message};
use shardnode_network::chunk_requests::Key;
use shardnode_primitives::{ChunkBody, ShardId};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

#[test]
fn what_shows_an_invalid_chunk_is_read_once_however_often_parts_are_asked_for() {
    run(genesis(2, 4, 32), 4, |mut fixture| async move {
        let mut bodies = fixture.bodies.take().unwrap();
        let reads = Arc::new(AtomicUsize::new(0));
        let counted = reads.clone();
        let disk = fixture.context.child("disk").spawn(move |_| async move {
            while let Some(message) = bodies.messages.recv().await {
                match message {
                    Message::Intake { header, reply, .. } => {
                        let chunk = CheckedChunk {
                            header: *header,
                            transactions: Vec::new(),
                            valid: false,
                        };
                        reply.send(Some(Arc::new(chunk))).unwrap();
                    }
                    Message::Shown { reply, .. } => {
                        counted.fetch_add(1, Ordering::Relaxed);
                        let body = Shown::Body(ChunkBody::of(&[]));
                        reply.send(Some(body)).unwrap();
                    }
                    Message::Recall { .. } | Message::Prune { .. } => {}
                }
            }
        });
        let header = fixture.header(1);
        fixture.chunks.send([fixture.sent(&header)]);
        fixture.start();
        fixture.settle().await;
        for index in 0..20 {
            let asked = fixture.mailbox.serve(Key::Part {
                shard: ShardId(1),
                height: HEIGHT,
                index: index % 4,
                root: header.content.parts_root,
            });
            assert!(asked.await.is_err());
            fixture.settle().await;
        }
        assert_eq!(reads.load(Ordering::Relaxed), 1);
        drop(disk);
    });
}
