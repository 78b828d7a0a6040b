// SPDX-License-Identifier: Apache-2.0
//! A peer that asks for bodies, over and over.

use super::Network;
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::Signer as _;
use commonware_p2p::{Receiver as _, Recipients, Sender as _};
use commonware_runtime::Clock as _;
use futures::future::{Either, select};
use shardnode_network::{
    channels,
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
        let channel = control.register(channels::CLIENT_REQUESTS, channels::quota());
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
