// SPDX-License-Identifier: Apache-2.0
//! A producer that does nothing for clients of other nodes.

use crate::lies::{Behaviour, Incoming, Liar, Outgoing};
use commonware_codec::{Decode as _, Encode as _};
use shardnode_network::{
    channels,
    client_messages::{Answer, ClientMessage, Question},
};

/// Says that it took in every transaction that it is handed, and forgets it; and
/// that every transaction was executed that it is asked about.
pub struct IgnoredTransactions;

/// A height at which nothing was executed.
const NEVER: u64 = 0;
/// What stands for a transaction that was taken in, or executed.
const WELL: u8 = 0;

impl IgnoredTransactions {
    /// What the transactions that it took in count as.
    pub(crate) const IGNORED: &str = "ignored transactions";
    /// What it counts as to be asked about some.
    pub(crate) const TOLD: &str = "false outcomes told";
}

impl Behaviour for IgnoredTransactions {
    fn lie(&mut self, _: &mut Liar<'_>, _: &Outgoing) -> Option<Vec<Outgoing>> {
        None
    }

    fn hear(&mut self, liar: &mut Liar<'_>, message: &Incoming) -> Option<Vec<Outgoing>> {
        if message.channel != channels::CLIENT_REQUESTS {
            return None;
        }
        let most = liar.identity.max_chunk_message();
        let asked = ClientMessage::decode_cfg(message.bytes.clone(), &most);
        let Ok(ClientMessage::Ask(number, question)) = asked else {
            return None;
        };
        let (kind, answer) = match question {
            Question::Submit(_) => (Self::IGNORED, Answer::Submitted(WELL)),
            Question::SubmitAll(all) => {
                (Self::IGNORED, Answer::SubmittedAll(vec![WELL; all.len()]))
            }
            Question::Outcome(_) => (Self::TOLD, Answer::Outcome(NEVER, WELL)),
            Question::Outcomes(all) => {
                (Self::TOLD, Answer::Outcomes(vec![(NEVER, WELL); all.len()]))
            }
            _ => return None,
        };
        liar.shared.count(kind);
        Some(vec![Outgoing {
            channel: message.channel,
            to: vec![message.from.clone()],
            bytes: ClientMessage::Reply(number, answer).encode(),
            priority: false,
        }])
    }
}
