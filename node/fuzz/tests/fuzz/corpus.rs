// SPDX-License-Identifier: Apache-2.0
//! The saved corpus. Files that start with `golden-` are copies of golden
//! vectors; those that start with `regression-` once failed; libFuzzer found
//! the others.

use crate::vectors;
use commonware_formatting::from_hex;
use shardnode_fuzz::targets;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const GOLDEN: &str = "golden-";

fn node() -> PathBuf {
    PathBuf::from("..")
}

fn folder(target: &str) -> PathBuf {
    node().join("fuzz/corpus").join(target)
}

/// The saved inputs of a target, by file name.
fn saved(target: &str) -> BTreeMap<String, Vec<u8>> {
    let Ok(files) = fs::read_dir(folder(target)) else {
        return BTreeMap::new();
    };
    files
        .map(|file| {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            (name, fs::read(file.path()).unwrap())
        })
        .collect()
}

/// The vectors of one crate's tests: hex by name.
pub(crate) fn vectors_of(file: &str) -> BTreeMap<String, String> {
    let path = node().join(file);
    let text = fs::read_to_string(path).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// All golden vectors and documents, by name.
fn golden() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for (owner, file) in [
        ("primitives", vectors::PRIMITIVES),
        ("verifier", vectors::VERIFIER),
        ("witness", vectors::WITNESS),
    ] {
        for (name, hex) in vectors_of(file) {
            all.insert(format!("{GOLDEN}{owner}-{name}"), from_hex(&hex).unwrap());
        }
    }
    for (name, hex) in vectors::computed() {
        all.insert(format!("{GOLDEN}{name}"), from_hex(&hex).unwrap());
    }
    for name in ["config.json", "peers.json", "genesis.json"] {
        let path = node().join("../internal/nodeconfig/testdata").join(name);
        all.insert(format!("{GOLDEN}{name}"), fs::read(path).unwrap());
    }
    all
}

#[test]
fn every_target_holds_on_its_corpus() {
    for target in targets() {
        let inputs = saved(target.name);
        assert!(!inputs.is_empty(), "{} has no corpus", target.name);
        let mut accepting = BTreeSet::new();
        for bytes in inputs.values() {
            for decoder in &target.decoders {
                if decoder.run(bytes) {
                    accepting.insert(decoder.name);
                }
            }
        }
        for decoder in &target.decoders {
            assert!(
                accepting.contains(decoder.name),
                "{}: no input that {} decodes",
                target.name,
                decoder.name
            );
        }
    }
}

#[test]
fn every_decoder_of_a_codec_has_a_golden_vector() {
    let golden = golden();
    for target in targets() {
        let codecs = target.decoders.iter();
        for codec in codecs.filter(|decoder| decoder.name.contains("::")) {
            // A type can be there under several bounds.
            let same = target.decoders.iter();
            let mut same = same.filter(|other| other.name == codec.name);
            let decoded = same.any(|decoder| golden.values().any(|bytes| decoder.run(bytes)));
            assert!(decoded, "no golden vector of {}", codec.name);
        }
    }
}

#[test]
fn golden_vectors_are_in_the_corpus() {
    let golden = golden();
    for target in targets() {
        let wanted: BTreeMap<_, _> = golden
            .iter()
            .filter(|(_, bytes)| target.run(bytes))
            .map(|(name, bytes)| (name.clone(), bytes.clone()))
            .collect();
        let mut there = saved(target.name);
        there.retain(|name, _| name.starts_with(GOLDEN));
        if std::env::var_os("UPDATE_VECTORS").is_some() {
            write(&folder(target.name), &there, &wanted);
        } else {
            assert!(
                there == wanted,
                "the golden vectors in corpus/{} are not the current ones: make vectors",
                target.name
            );
        }
    }
}

fn write(folder: &Path, old: &BTreeMap<String, Vec<u8>>, new: &BTreeMap<String, Vec<u8>>) {
    fs::create_dir_all(folder).unwrap();
    for name in old.keys().filter(|name| !new.contains_key(*name)) {
        fs::remove_file(folder.join(name)).unwrap();
    }
    for (name, bytes) in new {
        fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
fn every_folder_of_the_corpus_is_a_targets() {
    let names: BTreeSet<_> = targets().iter().map(|target| target.name.into()).collect();
    let folders: BTreeSet<String> = fs::read_dir(folder(""))
        .unwrap()
        .map(|folder| folder.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(folders, names);
}
