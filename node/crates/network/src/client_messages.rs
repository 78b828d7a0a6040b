// SPDX-License-Identifier: Apache-2.0
//! What nodes ask each other on behalf of clients, on
//! [`CLIENT_REQUESTS`](crate::channels::CLIENT_REQUESTS).
//!
//! ```text
//! question = 0x00 ‖ number (8) ‖ 0x00 ‖ transaction
//!                              | 0x01 ‖ account id
//!                              | 0x02 ‖ transaction hash
//!                              | 0x03 ‖ height (8) ‖ body hash
//!                              | 0x04 ‖ varint ‖ transactions
//!                              | 0x05 ‖ varint ‖ transaction hashes
//!                              | 0x06 ‖ transaction hash
//! answer   = 0x01 ‖ number (8) ‖ 0x00 ‖ code (1)
//!                              | 0x01 ‖ height (8) ‖ proof of the account
//!                              | 0x02 ‖ height (8) ‖ outcome (1)
//!                              | 0x03 ‖ varint ‖ body
//!                              | 0x04                        nothing
//!                              | 0x05 ‖ varint ‖ codes
//!                              | 0x06 ‖ varint ‖ (height (8) ‖ outcome (1))s
//!                              | 0x07 ‖ height (8) ‖ outcome (1) ‖ proof of the outcome
//! ```
//!
//! An outcome is that of the transaction in the list of its chunk's
//! [outcomes](shardnode_primitives::outcome). If no chunk has it, it is 128 and the
//! [code](shardnode_primitives::Refusal::code) of what the asked node's pool let go of it
//! for, or else 255, in both with a height of 0.
//!
//! Lists have 1 to [`MOST_TOGETHER`] elements, and the answer to one has as many
//! as its question.

use bytes::{BufMut, Bytes};
use commonware_codec::{
    Buf, EncodeSize, Error, FixedSize as _, RangeCfg, Read, ReadExt as _, Write,
};
use shardnode_primitives::{AccountId, Digest, Transaction, list::read_list, merkle::Proof};
use shardnode_state::AccountProof;

/// The most transactions that one question is about.
pub const MOST_TOGETHER: usize = 200;

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
    /// To take these transactions in, in this order.
    SubmitAll(Vec<Transaction>),
    /// What became of the transactions with these hashes.
    Outcomes(Vec<Digest>),
    /// What became of the transaction with this hash, with a proof.
    ProveOutcome(Digest),
}

impl Question {
    /// How many transactions it hands over.
    #[must_use]
    pub const fn submits(&self) -> usize {
        match self {
            Self::Submit(_) => 1,
            Self::SubmitAll(transactions) => transactions.len(),
            _ => 0,
        }
    }

    /// How many transactions it hands over or lists, or takes as much as: a proof of
    /// one outcome is made of all of its chunk.
    #[must_use]
    pub const fn listed(&self) -> usize {
        match self {
            Self::Account(_) | Self::Outcome(_) | Self::Chunk(..) => 0,
            Self::Submit(_) => 1,
            Self::SubmitAll(transactions) => transactions.len(),
            Self::Outcomes(hashes) => hashes.len(),
            Self::ProveOutcome(_) => MOST_TOGETHER,
        }
    }
}

/// What the asked node answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// 0 if the transaction was taken in, otherwise why not.
    Submitted(u8),
    /// The height of the state, and the account's proof in it.
    Account(u64, AccountProof),
    /// The height of the chunk, and 0 if the transaction was executed,
    /// otherwise why not; 128 and more if no chunk has it and the pool let go of it, 255 if
    /// it is not known.
    Outcome(u64, u8),
    /// The body.
    Chunk(Bytes),
    /// The node has nothing of what it was asked for.
    Nothing,
    /// Of each transaction, what [`Self::Submitted`] says of one.
    SubmittedAll(Vec<u8>),
    /// Of each transaction, what [`Self::Outcome`] says of one.
    Outcomes(Vec<(u64, u8)>),
    /// What [`Self::Outcome`] says of one that is known, and the proof in the list
    /// of its chunk's outcomes.
    ProvenOutcome(u64, u8, Proof),
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
                    Question::SubmitAll(transactions) => {
                        4u8.write(buf);
                        transactions.write(buf);
                    }
                    Question::Outcomes(hashes) => {
                        5u8.write(buf);
                        hashes.write(buf);
                    }
                    Question::ProveOutcome(hash) => {
                        6u8.write(buf);
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
                    Answer::SubmittedAll(codes) => {
                        5u8.write(buf);
                        codes.write(buf);
                    }
                    Answer::Outcomes(outcomes) => {
                        6u8.write(buf);
                        outcomes.write(buf);
                    }
                    Answer::ProvenOutcome(height, code, proof) => {
                        7u8.write(buf);
                        height.write(buf);
                        code.write(buf);
                        proof.write(buf);
                    }
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
            Self::Ask(_, Question::Outcome(_) | Question::ProveOutcome(_)) => Digest::SIZE,
            Self::Ask(_, Question::Chunk(..)) => 8 + Digest::SIZE,
            Self::Ask(_, Question::SubmitAll(transactions)) => transactions.encode_size(),
            Self::Ask(_, Question::Outcomes(hashes)) => hashes.encode_size(),
            Self::Reply(_, Answer::Submitted(_)) => 1,
            Self::Reply(_, Answer::Account(_, proof)) => 8 + proof.encode_size(),
            Self::Reply(_, Answer::Outcome(..)) => 8 + 1,
            Self::Reply(_, Answer::Chunk(body)) => body.encode_size(),
            Self::Reply(_, Answer::Nothing) => 0,
            Self::Reply(_, Answer::SubmittedAll(codes)) => codes.encode_size(),
            Self::Reply(_, Answer::Outcomes(outcomes)) => outcomes.encode_size(),
            Self::Reply(_, Answer::ProvenOutcome(_, _, proof)) => 8 + 1 + proof.encode_size(),
        };
        1 + 8 + 1 + content
    }
}

fn together<T: Read>(buf: &mut impl Buf, cfg: &T::Cfg, smallest: usize) -> Result<Vec<T>, Error> {
    read_list(buf, 1..=MOST_TOGETHER, cfg, smallest)
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
            (0, 4) => Ok(Self::Ask(
                id,
                Question::SubmitAll(together(buf, &(), Transaction::SIZE)?),
            )),
            (0, 5) => Ok(Self::Ask(
                id,
                Question::Outcomes(together(buf, &(), Digest::SIZE)?),
            )),
            (0, 6) => Ok(Self::Ask(id, Question::ProveOutcome(Digest::read(buf)?))),
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
            (1, 5) => Ok(Self::Reply(
                id,
                Answer::SubmittedAll(together(buf, &(), u8::SIZE)?),
            )),
            (1, 6) => Ok(Self::Reply(
                id,
                Answer::Outcomes(together(buf, &((), ()), u64::SIZE + u8::SIZE)?),
            )),
            (1, 7) => Ok(Self::Reply(
                id,
                Answer::ProvenOutcome(u64::read(buf)?, u8::read(buf)?, Proof::read(buf)?),
            )),
            (0 | 1, other) | (other, _) => Err(Error::InvalidEnum(other)),
        }
    }
}
