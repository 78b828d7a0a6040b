// SPDX-License-Identifier: Apache-2.0
//! A producer that offers states that it does not have.

use super::Network;
use bytes::Bytes;
use commonware_codec::Encode as _;
use commonware_cryptography::Signer as _;
use commonware_resolver::{Consumer, Delivery, p2p};
use commonware_runtime::{Spawner as _, Supervisor as _};
use commonware_utils::{NZDuration, NZUsize, channel::oneshot};
use shardnode_network::{
    channels,
    state_requests::{Key, Offer},
};
use shardnode_primitives::AccountId;
use shardnode_state::{Account, Pages, StateTree};
use std::time::Duration;

/// A channel on which nobody is heard.
pub(crate) const NOBODY: u64 = 1_000;

/// Answers with pages of another state.
#[derive(Clone)]
struct Lies(Pages);

impl p2p::Producer for Lies {
    type Key = Key;

    fn produce(&mut self, key: Key) -> oneshot::Receiver<Bytes> {
        let (reply, response) = oneshot::channel();
        let lie = match key {
            Key::Newest { .. } => {
                let (height, block) = (u64::MAX, u64::MAX);
                Offer { height, block }.encode()
            }
            Key::Page { index, .. } => self.0.page(index).unwrap().encode(),
        };
        assert!(reply.send(lie).is_ok());
        response
    }
}

/// Asks nothing.
#[derive(Clone)]
struct NoQuestions;

impl Consumer for NoQuestions {
    type Key = Key;
    type Value = Bytes;
    type Subscriber = ();
    type Outcome = bool;

    fn deliver(&mut self, delivery: Delivery<Key, ()>, _: Bytes) -> oneshot::Receiver<bool> {
        panic!("nobody asked for {}", delivery.key);
    }
}

impl Network {
    /// Answers in the place of a node what is asked about states.
    pub(super) async fn serve_lies(&self, index: usize) {
        let me = self.members[index].key.public_key();
        let account = |number: u32| {
            let mut id = [9; 32];
            id[..4].copy_from_slice(&number.to_be_bytes());
            (AccountId(id), Account::default())
        };
        let tree = StateTree::genesis((0..4_000).map(account)).unwrap();
        let control = self.oracle.control(me.clone());
        let channel = control.register(
            channels::STATE_REQUESTS,
            self.quota(channels::STATE_REQUESTS),
        );
        let channel = channel.await.unwrap();
        let (engine, mailbox) = p2p::Engine::new(
            self.context.child("lies"),
            p2p::Config {
                peer_provider: self.oracle.manager(),
                blocker: control,
                consumer: NoQuestions,
                producer: Lies(tree.pages()),
                mailbox_size: NZUsize!(16),
                me: Some(me),
                fetch_timeout: NZDuration!(Duration::from_secs(2)),
                fetch_retry_delay: Duration::from_millis(200),
                priority_requests: false,
                priority_responses: false,
            },
        );
        let running = engine.start(channel);
        // An engine that nobody can ask for anything any more ends.
        self.context.child("lying").spawn(move |_| async move {
            let _ended = running.await;
            drop(mailbox);
        });
    }
}
