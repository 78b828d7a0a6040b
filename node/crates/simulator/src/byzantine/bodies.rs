// SPDX-License-Identifier: Apache-2.0
//! A producer that commits to a body that is invalid, to parts that are of no
//! body, or to a body of transfers that fail.

use super::{StandIns, failing, no_coding};
use crate::lies::{Behaviour, Liar, Outgoing};
use bytes::Bytes;
use commonware_codec::{Encode as _, FixedSize as _};
use commonware_cryptography::{Signer as _, ed25519::PublicKey};
use commonware_parallel::Sequential;
use rand_core::Rng as _;
use shardnode_coding::Share;
use shardnode_execution::body;
use shardnode_network::{channels, chunk_messages::ChunkMessage};
use shardnode_primitives::{
    AccountId, ChunkBody, ChunkContent, ChunkHeader, Digest, Transaction, transaction::Transfer,
};
use std::collections::BTreeMap;

/// What is wrong with a body. All of them keep the rules that can be checked
/// without the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLie {
    /// It is no transactions.
    Junk,
    /// The signature of one transaction does not hold.
    Unsigned,
    /// The parts are of other bytes.
    OtherParts,
    /// The parts are of no bytes at all.
    NoCoding,
    /// It has one transaction more than the header says.
    Shortened,
    /// Nothing: it is valid, and most of its transfers fail.
    Failing,
}

impl BodyLie {
    /// Every way of being invalid.
    pub const ALL: [Self; 5] = [
        Self::Junk,
        Self::Unsigned,
        Self::OtherParts,
        Self::NoCoding,
        Self::Shortened,
    ];

    /// What it counts as.
    #[must_use]
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Junk => "bodies of junk",
            Self::Unsigned => "bodies with a false signature",
            Self::OtherParts => "parts of other bodies",
            Self::NoCoding => "parts of no body",
            Self::Shortened => "bodies longer than stated",
            Self::Failing => "bodies of transfers that fail",
        }
    }
}

/// What goes out instead of a chunk.
struct False {
    content: ChunkContent,
    /// The body, if it is another one.
    body: Option<ChunkBody>,
    /// The parts, if they are others.
    shares: Option<Vec<Share>>,
}

fn junk(liar: &mut Liar<'_>, length: u32) -> Bytes {
    let mut bytes = vec![0; length as usize];
    liar.rng.fill_bytes(&mut bytes);
    bytes.into()
}

/// Transfers of the liar's own account, of which the signature of one does not
/// hold.
fn unsigned(liar: &mut Liar<'_>, transactions: u32) -> Bytes {
    let identity = liar.identity;
    let own = AccountId::of(&identity.key.public_key());
    let signed: Vec<Transaction> = (1..=u64::from(transactions))
        .map(|nonce| {
            let transfer = Transfer {
                signer: own,
                receiver: own,
                amount: 1,
                nonce,
                expires_at: 0,
            };
            transfer.sign(&identity.key, &identity.namespaces)
        })
        .collect();
    let mut bytes = ChunkBody::of(&signed).0.to_vec();
    let victim = liar.rng.next_u64().checked_rem(signed.len() as u64);
    let victim = victim.and_then(|victim| usize::try_from(victim).ok());
    let victim = victim.and_then(|victim| bytes.chunks_exact_mut(Transaction::SIZE).nth(victim));
    if let Some(byte) = victim.and_then(|victim| victim.last_mut()) {
        *byte ^= 1;
    }
    bytes.into()
}

/// The chunk with this content, false like this; `None` if it cannot be.
fn about(
    lie: BodyLie,
    content: &ChunkContent,
    accounts: Option<&failing::Accounts>,
    liar: &mut Liar<'_>,
) -> Option<False> {
    let mut content = content.clone();
    let code = liar.identity.body_code();
    if content.transactions == 0 {
        return None;
    }
    if lie == BodyLie::Shortened {
        content.body_len -= content.body_len / content.transactions;
        content.transactions -= 1;
        return (content.transactions > 0).then_some(False {
            content,
            body: None,
            shares: None,
        });
    }
    let bytes = match lie {
        BodyLie::Unsigned => unsigned(liar, content.transactions),
        BodyLie::Failing => {
            let transfers = accounts?.transfers(liar.identity, content.height);
            let body = ChunkBody::of(&transfers);
            content.transactions = u32::try_from(transfers.len()).ok()?;
            content.body_len = u32::try_from(body.0.len()).ok()?;
            body.0
        }
        _ => junk(liar, content.body_len),
    };
    let body = ChunkBody(bytes);
    let (root, shares) = body::divide(&body, &code, &Sequential).ok()?;
    content.parts_root = root;
    let (body, shares) = match lie {
        BodyLie::OtherParts => (None, shares),
        BodyLie::NoCoding => {
            let (root, shares) = no_coding::commit(&shares, &code, body.0.len())?;
            content.parts_root = root;
            (None, shares)
        }
        _ => {
            content.body_hash = body.hash();
            (Some(body), shares)
        }
    };
    Some(False {
        content,
        body,
        shares: Some(shares),
    })
}

/// Commits to other bodies once in `once_in` chunks with transactions, in all of
/// some ways in turn from some one on, and signs the header and the witness's
/// parts accordingly.
pub struct OtherBodies {
    once_in: u64,
    lies: &'static [BodyLie],
    accounts: Option<failing::Accounts>,
    turn: Option<u64>,
    instead: StandIns,
    made: BTreeMap<Digest, False>,
}

impl OtherBodies {
    /// Invalid ones, once in so many chunks with transactions.
    #[must_use]
    pub fn invalid(once_in: u64) -> Self {
        Self::new(once_in, &BodyLie::ALL)
    }

    /// Valid ones, of transfers that fail.
    #[must_use]
    pub fn failing(once_in: u64) -> Self {
        Self::new(once_in, &[BodyLie::Failing])
    }

    fn new(once_in: u64, lies: &'static [BodyLie]) -> Self {
        Self {
            once_in,
            lies,
            accounts: None,
            turn: None,
            instead: StandIns::default(),
            made: BTreeMap::new(),
        }
    }

    fn header(&mut self, liar: &mut Liar<'_>, own: &ChunkHeader) -> Option<ChunkHeader> {
        let Self {
            once_in,
            lies,
            accounts,
            turn,
            instead,
            made,
        } = self;
        instead.of(own, || {
            if own.content.transactions == 0 || !liar.once_in(*once_in) {
                return None;
            }
            let turn = turn.get_or_insert_with(|| liar.rng.next_u64() % lies.len() as u64);
            let lie = *lies.get(usize::try_from(*turn).ok()?)?;
            *turn = (*turn + 1) % lies.len() as u64;
            if lie == BodyLie::Failing && accounts.is_none() {
                *accounts = failing::Accounts::of(liar.identity);
            }
            let about = about(lie, &own.content, accounts.as_ref(), liar)?;
            liar.shared.count(lie.kind());
            let identity = liar.identity;
            let content = about.content.clone();
            let header = ChunkHeader::sign(content, &identity.key, &identity.namespaces);
            if lie != BodyLie::Failing {
                liar.shared.note_bodiless(header.hash());
            }
            made.insert(own.hash(), about);
            Some(header)
        })
    }

    /// The part for the owner with this key.
    fn share(&self, liar: &Liar<'_>, own: &ChunkHeader, owner: &PublicKey) -> Option<Share> {
        let shares = self.made.get(&own.hash())?.shares.as_ref()?;
        let mut producers = liar.identity.genesis.producers.iter();
        let place = producers.position(|producer| producer.key == *owner)?;
        shares.get(place).cloned()
    }
}

impl Behaviour for OtherBodies {
    fn lie(&mut self, liar: &mut Liar<'_>, message: &Outgoing) -> Option<Vec<Outgoing>> {
        if message.channel == channels::WITNESSES {
            return self.instead.part(message, liar);
        }
        let told = liar.chunk_message(message)?;
        let own = told.header()?.clone();
        let false_one = self.header(liar, &own);
        let mut out = self.instead.released(&own, liar);
        let Some(header) = false_one else {
            out.push(message.clone());
            return Some(out);
        };
        match told {
            ChunkMessage::Chunk(_, body) => {
                let made = self.made.get(&own.hash());
                let body = made.and_then(|made| made.body.clone()).unwrap_or(body);
                out.push(message.with(ChunkMessage::Chunk(header, body).encode()));
            }
            ChunkMessage::Part(_, own_share) => out.extend(message.to.iter().map(|owner| {
                let share = self.share(liar, &own, owner);
                let share = share.unwrap_or_else(|| own_share.clone());
                let part = ChunkMessage::Part(header.clone(), share);
                message.with(part.encode()).to(vec![owner.clone()])
            })),
            _ => out.push(message.with(ChunkMessage::Header(header).encode())),
        }
        Some(out)
    }
}
