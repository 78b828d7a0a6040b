// SPDX-License-Identifier: Apache-2.0
//! Golden proofs, which clients in other languages check as well.
//!
//! `vectors.json` holds them in hex, and `cases.json` what each of them is asked
//! about and comes to. With `UPDATE_VECTORS` in the environment the test writes
//! the files instead of comparing with them.

use crate::{
    cases::{Case, Subject, Verdict, all},
    fixture::{Fixture, document},
};
use commonware_codec::Encode as _;
use commonware_cryptography::Digestible as _;
use commonware_formatting::hex;
use serde_json::{Value, json};
use std::{collections::BTreeMap, fs};

fn described(case: &Case) -> Value {
    let mut described = match case.subject {
        Subject::Account(id, least) => {
            json!({"proof": case.name, "account": id.to_string(), "least": least})
        }
        Subject::Outcome(signer, hash) => {
            json!({"proof": case.name, "signer": signer.to_string(), "transfer": hash.to_string()})
        }
    };
    let verdict = match case.verdict {
        Verdict::Account(height, account) => json!({
            "height": height,
            "exists": account.is_some(),
            "balance": account.unwrap_or_default().balance,
            "nonce": account.unwrap_or_default().nonce,
        }),
        Verdict::Outcome(height, outcome) => json!({"height": height, "outcome": outcome}),
        Verdict::Refused(kind) => json!({"refused": kind}),
    };
    for (name, value) in verdict.as_object().unwrap() {
        described[name] = value.clone();
    }
    described
}

fn compare(file: &str, computed: &Value) {
    let path = format!("tests/verifier/{file}");
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let written = serde_json::to_string_pretty(computed).unwrap() + "\n";
        fs::write(path, written).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap();
    let golden: Value = serde_json::from_str(&golden).unwrap();
    assert_eq!(&golden, computed, "{file}; if that is meant: make vectors");
}

#[test]
fn vectors_are_the_golden_ones() {
    let fixture = Fixture::new();
    let cases = all(&fixture);
    let mut proofs: BTreeMap<_, _> = cases
        .iter()
        .map(|case| (case.name, hex(&case.proof)))
        .collect();
    assert_eq!(proofs.len(), cases.len(), "two cases of one name");
    proofs.insert("finalized", hex(&fixture.finalized().encode()));
    compare("vectors.json", &json!(proofs));
    let block = &fixture.blocks[0];
    let described: Vec<_> = cases.iter().map(described).collect();
    compare(
        "cases.json",
        &json!({
            "genesis": document(),
            "genesisHash": fixture.genesis.hash().to_string(),
            "block": {"height": block.height, "hash": block.digest().to_string(), "timestampMs": block.timestamp_ms},
            "cases": described,
        }),
    );
}
