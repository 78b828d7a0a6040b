// SPDX-License-Identifier: Apache-2.0
//! Where a header says something else than the model, in words.

use crate::plain::{Hash, Header, Place, Sums, Totals};
use std::fmt::Display;

fn hex(hash: &Hash) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The first of these that is not the same.
fn first(values: &[(&str, String, String)]) -> Option<String> {
    let differ = values.iter().find(|(_, chain, model)| chain != model);
    differ.map(|(what, chain, model)| format!("{what}: the chain says {chain}, the model {model}"))
}

fn pair<T: Display + ?Sized>(
    what: &'static str,
    chain: &T,
    model: &T,
) -> (&'static str, String, String) {
    (what, chain.to_string(), model.to_string())
}

fn place(place: Place) -> String {
    format!("shard {} in block {}", place.source, place.block)
}

fn sums(chain: &Sums, model: &Sums) -> Option<String> {
    let root = |what, chain, model| (what, hex(chain), hex(model));
    first(&[
        pair("transfers", &chain.transfers, &model.transfers),
        pair("credits", &chain.credits, &model.credits),
        root("outcomes root", &chain.outcomes_root, &model.outcomes_root),
        root("receipts root", &chain.receipts_root, &model.receipts_root),
        root("state root", &chain.state_root, &model.state_root),
    ])
}

fn totals(chain: &Totals, model: &Totals) -> Option<String> {
    first(&[
        pair("height of the totals", &chain.height, &model.height),
        pair("total transfers", &chain.transfers, &model.transfers),
        pair(
            "total cross-shard transfers",
            &chain.cross_shard,
            &model.cross_shard,
        ),
        pair("total credits", &chain.credits, &model.credits),
        pair("value sent", &chain.sent, &model.sent),
        pair("value received", &chain.received, &model.received),
        pair("balance", &chain.balance, &model.balance),
        pair("value burnt", &chain.burnt, &model.burnt),
        ("next due", place(chain.next_due), place(model.next_due)),
        (
            "state root of the totals",
            hex(&chain.state_root),
            hex(&model.state_root),
        ),
    ])
}

/// The first thing in which a chain's header differs from the model's: of
/// which execution, if it is of one, and what.
#[must_use]
pub fn difference(chain: &Header, model: &Header) -> Option<(Option<u64>, String)> {
    let heights = |header: &Header| {
        let heights: Vec<u64> = header.results.iter().map(|sums| sums.height).collect();
        format!("{heights:?}")
    };
    let header = first(&[
        pair("number of chunks", &chain.sequence, &model.sequence),
        ("heights committed to", heights(chain), heights(model)),
        (
            "heights left uncommitted",
            format!("{:?}", chain.uncommitted),
            format!("{:?}", model.uncommitted),
        ),
    ]);
    if let Some(header) = header {
        return Some((None, header));
    }
    let mut results = chain.results.iter().zip(&model.results);
    results
        .find_map(|(chain, model)| Some((Some(model.height), sums(chain, model)?)))
        .or_else(|| Some((None, totals(&chain.totals, &model.totals)?)))
}
