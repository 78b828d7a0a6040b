// SPDX-License-Identifier: Apache-2.0
//! No decoder is left out: the sources are searched for them.

use shardnode_fuzz::targets;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Files that read text with serde, and what of the targets reads it.
const TEXT: [(&str, &str); 17] = [
    ("crates/config/src/document.rs", "config.json"),
    ("crates/config/src/files.rs", "config.json"),
    ("bin/shardnode/src/load.rs", "genesis.json"),
    ("crates/load/src/target.rs", "PUT /admin/load"),
    ("crates/load/src/workload.rs", "PUT /admin/load"),
    ("crates/loader/src/answers.rs", "transfers_submit"),
    ("crates/primitives/src/genesis.rs", "genesis.json"),
    ("crates/rpc/src/clock.rs", "PUT /admin/clock"),
    ("crates/rpc/src/disk.rs", "PUT /admin/disk"),
    ("crates/rpc/src/json.rs", "POST /rpc"),
    ("crates/rpc/src/jsonrpc.rs", "POST /rpc"),
    ("crates/rpc/src/links.rs", "PUT /admin/links"),
    ("crates/rpc/src/log.rs", "PUT /admin/log"),
    ("crates/rpc/src/methods.rs", "POST /rpc"),
    ("crates/rpc/src/process.rs", "PUT /admin/process"),
    ("crates/rpc/src/profile.rs", "PUT /admin/profile"),
    ("crates/rpc/src/types.rs", "config.json"),
];

fn node() -> PathBuf {
    PathBuf::from("..")
}

/// The Rust sources of the node, the simulator's excepted: it decodes only
/// what its own nodes sent.
fn sources() -> BTreeMap<String, String> {
    let mut sources = BTreeMap::new();
    let mut folders = vec![node().join("bin"), node().join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = relative(&path);
            let skipped = ["/tests", "/benches", "crates/simulator"];
            if skipped.iter().any(|end| name.ends_with(end)) {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if name.ends_with(".rs") {
                sources.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    sources
}

fn relative(path: &Path) -> String {
    let path = path.strip_prefix(node()).unwrap();
    path.to_str().unwrap().into()
}

/// The path of a type that is defined in the module of `file`.
fn path_of(file: &str, name: &str) -> String {
    let (owner, module) = file
        .strip_prefix("crates/")
        .and_then(|file| file.split_once("/src/"))
        .unwrap();
    let module = module.strip_suffix(".rs").unwrap();
    let modules = module.split('/').filter(|module| *module != "lib");
    let owner = format!("shardnode_{owner}");
    let path: Vec<_> = std::iter::once(owner.as_str())
        .chain(modules)
        .chain([name])
        .collect();
    path.join("::")
}

#[test]
fn every_codec_is_in_a_target() {
    let targets = targets();
    let decoders = targets.iter().flat_map(|target| &target.decoders);
    let known: BTreeSet<String> = decoders
        .map(|decoder| decoder.name.to_owned())
        .filter(|name| name.contains("::"))
        .collect();
    let mut found = BTreeSet::new();
    for (file, source) in sources() {
        for line in source.lines() {
            if let Some((_, rest)) = line.split_once(" Read for ") {
                let name = rest.split([' ', '<', '{']).next().unwrap();
                found.insert(path_of(&file, name));
            }
        }
    }
    let missing: Vec<_> = found.difference(&known).collect();
    assert!(missing.is_empty(), "in no target: {missing:?}");
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "not found in the sources: {gone:?}");
}

#[test]
fn every_file_that_reads_text_is_behind_a_target() {
    let found: BTreeSet<String> = sources()
        .into_iter()
        .filter(|(_, source)| source.contains("Deserialize"))
        .map(|(file, _)| file)
        .collect();
    let known: BTreeSet<String> = TEXT.iter().map(|(file, _)| (*file).into()).collect();
    assert_eq!(found, known);
    let targets = targets();
    for (file, reader) in TEXT {
        let decoders = targets.iter().flat_map(|target| &target.decoders);
        let mut names = decoders.map(|decoder| decoder.name);
        assert!(names.any(|name| name == reader), "{file}: no {reader}");
    }
}
