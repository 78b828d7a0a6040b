// SPDX-License-Identifier: Apache-2.0
//! What the loader reads: files of transfers that were signed before, and answers
//! of nodes.

use super::Target;
use crate::{Budget, Decoder};
use shardnode_loader::{
    answers,
    prepared::{Header, Prepared},
};
use shardnode_primitives::hash::ZERO;
use std::{io::Cursor, path::Path};

/// The target.
#[must_use]
pub fn target() -> Target {
    Target {
        name: "load",
        decoders: vec![
            Decoder::of::<Header>((), drop),
            Decoder::new("prepared transfers", prepared),
            answer("status", |bytes| answers::status(bytes).is_ok()),
            answer("transfers_submit", |bytes| {
                answers::submitted(bytes, 2).is_ok()
            }),
            answer("transfers_outcome", |bytes| {
                answers::outcomes(bytes, 2).is_ok()
            }),
            answer("account_get", |bytes| answers::account(bytes).is_ok()),
        ],
    }
}

fn answer(name: &'static str, read: fn(&[u8]) -> bool) -> Decoder {
    Decoder::new(name, move |bytes| {
        Budget::TEXT.within(name, bytes.len(), || read(bytes))
    })
}

/// A file for the network whose genesis hash is all zeroes. Those that are whole
/// have a good checksum, which no fuzzer finds: what is behind it is in the
/// target `transactions`.
fn prepared(bytes: &[u8]) -> bool {
    Budget::NEXT.within("prepared transfers", bytes.len(), || {
        let length = bytes.len() as u64;
        let opened = Prepared::read(Path::new("file"), Cursor::new(bytes), length, ZERO);
        opened.is_ok_and(|mut file| file.next(u64::MAX).is_ok())
    })
}
