// SPDX-License-Identifier: Apache-2.0
//! libFuzzer on the target that the environment variable `FUZZ_TARGET` names.

#![no_main]

use libfuzzer_sys::fuzz_target;
use shardnode_fuzz::Target;
use std::sync::OnceLock;

static TARGET: OnceLock<Target> = OnceLock::new();

/// The target to run. Without one there is nothing to do but say which there
/// are.
fn chosen() -> Target {
    let name = std::env::var("FUZZ_TARGET").unwrap_or_default();
    let mut targets = shardnode_fuzz::targets();
    let names: Vec<_> = targets.iter().map(|target| target.name).collect();
    match names.iter().position(|known| *known == name) {
        Some(index) => targets.swap_remove(index),
        None => panic!("FUZZ_TARGET is \"{name}\", not one of {}", names.join(", ")),
    }
}

fuzz_target!(
    init: TARGET.get_or_init(chosen),
    |bytes: &[u8]| {
        TARGET.get_or_init(chosen).run(bytes);
    }
);
