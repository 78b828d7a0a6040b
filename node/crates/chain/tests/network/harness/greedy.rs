// SPDX-License-Identifier: Apache-2.0
//! A peer that asks for bodies, over and over, and one that sends too much.

use super::Network;
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _, Write};
use commonware_cryptography::Signer as _;
use commonware_p2p::{Receiver as _, Recipients, Sender as _};
use commonware_runtime::Clock as _;
use futures::future::{Either, select};
use shardnode_network::{
    channels,
    chunk_requests::Key,
    client_messages::{Answer, ClientMessage, Question},
};
use std::{pin::pin, time::Duration};

impl Network {
    /// Has a node that does not run ask another for one body, so many times
    /// every 50 ms, and returns the bytes that it is sent within a time.
    pub(crate) async fn ask_for_bodies(
        &self,
        asker: usize,
        asked: usize,
        times: u64,
        within: Duration,
    ) -> usize {
        let view = self.view(asked);
        let shard = self.node(asked).identity.tracked().unwrap();
        let content = &view.block.chunk(shard).unwrap().content;
        let question = Question::Chunk(content.height, content.body_hash);
        let most = content.body_len as usize;
        let me = self.members[asker].key.public_key();
        let to = self.members[asked].key.public_key();
        let control = self.oracle.control(me);
        let channel = control.register(
            channels::CLIENT_REQUESTS,
            self.quota(channels::CLIENT_REQUESTS),
        );
        let (mut sender, mut receiver) = channel.await.unwrap();
        let ends = self.context.current() + within;
        let mut next = self.context.current();
        let mut received = 0;
        loop {
            let wait = pin!(self.context.sleep_until(next.min(ends)));
            let message = pin!(receiver.recv());
            let Either::Right((message, _)) = select(wait, message).await else {
                if next >= ends {
                    return received;
                }
                next += Duration::from_millis(50);
                for number in 0..times {
                    let ask = ClientMessage::Ask(number, question.clone()).encode();
                    sender.send(Recipients::One(to.clone()), ask, false);
                }
                continue;
            };
            let (_, bytes) = message.unwrap();
            match ClientMessage::decode_cfg(Bytes::from(bytes), &most).unwrap() {
                ClientMessage::Reply(_, Answer::Chunk(body)) => received += body.len(),
                ClientMessage::Reply(_, Answer::Nothing) => {}
                other => panic!("{other:?} instead of a body"),
            }
        }
    }
}

/// A question as resolvers ask it: its number, what it is, and its key.
fn question(number: u64, key: &impl Write) -> Vec<u8> {
    let mut bytes = number.to_be_bytes().to_vec();
    bytes.push(0);
    key.write(&mut bytes);
    bytes
}

impl Network {
    /// The key of the body of the newest chunk of the shard of a node.
    pub(crate) fn newest_body(&self, of: usize) -> Key {
        let view = self.view(of);
        let shard = self.node(of).identity.tracked().unwrap();
        let content = &view.block.chunk(shard).unwrap().content;
        Key::Body {
            shard,
            height: content.height,
            hash: content.body_hash,
        }
    }

    /// Has a node that does not run ask another one, as nodes ask each other
    /// about chunks, so many times every 50 ms, and returns the bytes that it is
    /// sent within a time.
    pub(crate) async fn ask_about_chunks(
        &self,
        asker: usize,
        asked: usize,
        key: Key,
        times: u64,
        within: Duration,
    ) -> usize {
        let to = Recipients::One(self.members[asked].key.public_key());
        let control = self.oracle.control(self.members[asker].key.public_key());
        let quota = self.quota(channels::CHUNK_REQUESTS);
        let channel = control.register(channels::CHUNK_REQUESTS, quota);
        let (mut sender, mut receiver) = channel.await.unwrap();
        let ends = self.context.current() + within;
        let mut next = self.context.current();
        let (mut number, mut received) = (0, 0);
        loop {
            let wait = pin!(self.context.sleep_until(next.min(ends)));
            let message = pin!(receiver.recv());
            if let Either::Right((message, _)) = select(wait, message).await {
                let (_, bytes) = message.unwrap();
                // An answer, and not that there is none.
                if bytes.as_ref()[8] == 1 {
                    received += bytes.as_ref().len();
                }
                continue;
            }
            if next >= ends {
                return received;
            }
            next += Duration::from_millis(50);
            for _ in 0..times {
                number += 1;
                sender.send(to.clone(), question(number, &key), false);
            }
        }
    }

    /// What looks like a block that a node proposes.
    pub(crate) fn block_of(&self, leader: usize) -> Vec<u8> {
        let mut block = self.view(0).block.clone();
        block.context.leader = self.members[leader].key.public_key();
        block.encode().to_vec()
    }

    /// Nobody has cut this node off any more.
    pub(crate) async fn forgive(&self, node: usize) {
        let node = self.members[node].key.public_key();
        for (by, cut_off) in self.oracle.blocked().await.unwrap() {
            if cut_off == node {
                self.oracle.unblock(by, cut_off).await.unwrap();
            }
        }
    }

    /// Has a node that does not run send bytes to another one, and returns
    /// whether that cuts it off within a time.
    pub(crate) async fn is_cut_off_for(
        &self,
        sender: usize,
        receiver: usize,
        channel: u64,
        bytes: usize,
        within: Duration,
    ) -> bool {
        let message = vec![0; bytes];
        self.is_cut_off_by(sender, receiver, channel, message, within)
            .await
    }

    /// [`is_cut_off_for`](Self::is_cut_off_for) this message.
    pub(crate) async fn is_cut_off_by(
        &self,
        sender: usize,
        receiver: usize,
        channel: u64,
        message: Vec<u8>,
        within: Duration,
    ) -> bool {
        let from = self.members[sender].key.public_key();
        let to = self.members[receiver].key.public_key();
        let control = self.oracle.control(from.clone());
        let registered = control.register(channel, self.quota(channel));
        let (mut link, _receiver) = registered.await.unwrap();
        link.send(Recipients::One(to.clone()), message, false);
        self.context.sleep(within).await;
        let blocked = self.oracle.blocked().await.unwrap();
        blocked.contains(&(to, from))
    }
}
