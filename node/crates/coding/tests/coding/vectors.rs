// SPDX-License-Identifier: Apache-2.0
//! Golden vectors: a coding that changes breaks every network that runs.
//!
//! `vectors.json` holds them in hex. With `UPDATE_VECTORS` in the environment
//! the test writes the file instead of comparing with it.

use crate::{any_of, content, parts};
use commonware_codec::Encode as _;
use commonware_formatting::hex;
use std::{collections::BTreeMap, fs, path::PathBuf};

fn computed() -> BTreeMap<String, String> {
    let mut vectors = BTreeMap::new();
    for (needed, owners) in [(1, 1), (1, 3), (2, 4), (3, 7)] {
        let name = format!("{needed}of{owners}");
        let (root, parts) = parts(any_of(needed, owners), &content(29));
        vectors.insert(format!("{name}.root"), hex(&root.0));
        for part in [&parts[0], &parts[parts.len() - 1]] {
            let key = format!("{name}.part.{}", part.index);
            vectors.insert(key, hex(&part.encode()));
        }
    }
    vectors
}

#[test]
fn codings_are_the_golden_ones() {
    let path = PathBuf::from("tests/coding/vectors.json");
    let computed = computed();
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let written = serde_json::to_string_pretty(&computed).unwrap() + "\n";
        fs::write(&path, written).unwrap();
        return;
    }
    let golden = fs::read_to_string(&path).unwrap();
    let golden: BTreeMap<String, String> = serde_json::from_str(&golden).unwrap();
    assert_eq!(golden, computed);
}
