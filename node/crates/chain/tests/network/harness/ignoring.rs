// SPDX-License-Identifier: Apache-2.0
//! A producer that does not care for clients.

use super::Network;
use bytes::Bytes;
use commonware_codec::{Decode as _, Encode as _};
use commonware_cryptography::Signer as _;
use commonware_p2p::{Receiver as _, Recipients, Sender as _};
use commonware_runtime::{Spawner as _, Supervisor as _};
use shardnode_network::{
    channels,
    client_messages::{Answer, ClientMessage, Question},
};
use shardnode_primitives::AccountId;
use shardnode_state::{Account, StateTree};

/// What it does with transactions that it is handed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ignores {
    /// It says that it took them in.
    Politely,
    /// It does not answer.
    Silently,
}

impl Network {
    /// Answers in the place of a node what is asked for clients: it takes every
    /// transaction in and forgets it, has accounts of a block that there will never
    /// be, and knows nothing else.
    pub(super) async fn ignore_clients(&self, index: usize, ignores: Ignores) {
        let me = self.members[index].key.public_key();
        let control = self.oracle.control(me);
        let channel = channels::CLIENT_REQUESTS;
        let registered = control.register(channel, self.quota(channel)).await;
        let (mut sender, mut receiver) = registered.unwrap();
        let tree = StateTree::genesis([(AccountId([9; 32]), Account::default())]).unwrap();
        self.context.child("ignoring").spawn(move |_| async move {
            while let Ok((peer, bytes)) = receiver.recv().await {
                let message = ClientMessage::decode_cfg(Bytes::from(bytes), &(1 << 20));
                let Ok(ClientMessage::Ask(number, question)) = message else {
                    continue;
                };
                if ignores == Ignores::Silently {
                    continue;
                }
                let answer = match question {
                    Question::Submit(_) => Answer::Submitted(0),
                    Question::SubmitAll(all) => Answer::SubmittedAll(vec![0; all.len()]),
                    Question::Outcome(_) => Answer::Outcome(0, u8::MAX),
                    Question::Outcomes(all) => Answer::Outcomes(vec![(0, u8::MAX); all.len()]),
                    Question::Account(id) => Answer::Account(u64::MAX, tree.prove(&id)),
                    _ => Answer::Nothing,
                };
                let reply = ClientMessage::Reply(number, answer).encode();
                sender.send(Recipients::One(peer), reply, false);
            }
        });
    }
}
