// SPDX-License-Identifier: Apache-2.0
//! What nodes ask each other on behalf of clients, on
//! [`CLIENT_REQUESTS`](crate::channels::CLIENT_REQUESTS).
//!
//! ```text
//! question = 0x00 ‖ number (8) ‖ 0x00 ‖ transaction
//!                              | 0x01 ‖ account id
//!                              | 0x02 ‖ transaction hash
//!                              | 0x03 ‖ height (8) ‖ body hash
//! answer   = 0x01 ‖ number (8) ‖ 0x00 ‖ code (1)
//!                              | 0x01 ‖ height (8) ‖ proof of the account
//!                              | 0x02 ‖ height (8) ‖ outcome (1)
//!                              | 0x03 ‖ varint ‖ body
//!                              | 0x04                        nothing
//! ```

use bytes::{BufMut, Bytes};
use commonware_codec::{
    Buf, EncodeSize, Error, FixedSize as _, RangeCfg, Read, ReadExt as _, Write,
};
use shardnode_primitives::{AccountId, Digest, Transaction};
use shardnode_state::AccountProof;

/// What a node asks for a client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// To take this transaction in.
    Submit(Transaction),
    /// The account, with a proof.
    Account(AccountId),
    /// What became of the transaction with this hash.
    Outcome(Digest),
    /// The body with this hash of the chunk at this height.
    Chunk(u64, Digest),
}

/// What the asked node answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 0 if the transaction was taken in, otherwise why not.
    Submitted(u8),
    /// The height of the state, and the account's proof in it.
    Account(u64, AccountProof),
    /// The height of the chunk, and 0 if the transaction was executed,
    /// otherwise why not; 255 if it is not known.
    Outcome(u64, u8),
    /// The body.
    Chunk(Bytes),
    /// The node has nothing of what it was asked for.
    Nothing,
}

/// A question or its answer. The number is the asker's choice and names the
/// question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientMessage {
    /// A question.
    Ask(u64, Question),
    /// Its answer.
    Reply(u64, Answer),
}

impl Write for ClientMessage {
    fn write(&self, buf: &mut impl BufMut) {
        match self {
            Self::Ask(id, question) => {
                0u8.write(buf);
                id.write(buf);
                match question {
                    Question::Submit(transaction) => {
                        0u8.write(buf);
                        transaction.write(buf);
                    }
                    Question::Account(account) => {
                        1u8.write(buf);
                        account.write(buf);
                    }
                    Question::Outcome(hash) => {
                        2u8.write(buf);
                        hash.write(buf);
                    }
                    Question::Chunk(height, hash) => {
                        3u8.write(buf);
                        height.write(buf);
                        hash.write(buf);
                    }
                }
            }
            Self::Reply(id, answer) => {
                1u8.write(buf);
                id.write(buf);
                match answer {
                    Answer::Submitted(code) => {
                        0u8.write(buf);
                        code.write(buf);
                    }
                    Answer::Account(height, proof) => {
                        1u8.write(buf);
                        height.write(buf);
                        proof.write(buf);
                    }
                    Answer::Outcome(height, code) => {
                        2u8.write(buf);
                        height.write(buf);
                        code.write(buf);
                    }
                    Answer::Chunk(body) => {
                        3u8.write(buf);
                        body.write(buf);
                    }
                    Answer::Nothing => 4u8.write(buf),
                }
            }
        }
    }
}

impl EncodeSize for ClientMessage {
    fn encode_size(&self) -> usize {
        let content = match self {
            Self::Ask(_, Question::Submit(_)) => Transaction::SIZE,
            Self::Ask(_, Question::Account(_)) => AccountId::SIZE,
            Self::Ask(_, Question::Outcome(_)) => Digest::SIZE,
            Self::Ask(_, Question::Chunk(..)) => 8 + Digest::SIZE,
            Self::Reply(_, Answer::Submitted(_)) => 1,
            Self::Reply(_, Answer::Account(_, proof)) => 8 + proof.encode_size(),
            Self::Reply(_, Answer::Outcome(..)) => 8 + 1,
            Self::Reply(_, Answer::Chunk(body)) => body.encode_size(),
            Self::Reply(_, Answer::Nothing) => 0,
        };
        1 + 8 + 1 + content
    }
}

impl Read for ClientMessage {
    /// The most bytes a chunk body can have.
    type Cfg = usize;
    fn read_cfg(buf: &mut impl Buf, most: &usize) -> Result<Self, Error> {
        let kind = u8::read(buf)?;
        let id = u64::read(buf)?;
        match (kind, u8::read(buf)?) {
            (0, 0) => Ok(Self::Ask(id, Question::Submit(Transaction::read(buf)?))),
            (0, 1) => Ok(Self::Ask(id, Question::Account(AccountId::read(buf)?))),
            (0, 2) => Ok(Self::Ask(id, Question::Outcome(Digest::read(buf)?))),
            (0, 3) => Ok(Self::Ask(
                id,
                Question::Chunk(u64::read(buf)?, Digest::read(buf)?),
            )),
            (1, 0) => Ok(Self::Reply(id, Answer::Submitted(u8::read(buf)?))),
            (1, 1) => Ok(Self::Reply(
                id,
                Answer::Account(u64::read(buf)?, AccountProof::read(buf)?),
            )),
            (1, 2) => Ok(Self::Reply(
                id,
                Answer::Outcome(u64::read(buf)?, u8::read(buf)?),
            )),
            (1, 3) => Ok(Self::Reply(
                id,
                Answer::Chunk(Bytes::read_cfg(buf, &RangeCfg::from(0..=*most))?),
            )),
            (1, 4) => Ok(Self::Reply(id, Answer::Nothing)),
            (0 | 1, other) | (other, _) => Err(Error::InvalidEnum(other)),
        }
    }
}
