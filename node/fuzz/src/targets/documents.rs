// SPDX-License-Identifier: Apache-2.0
//! The files that a node is started with.
//!
//! Every input is each of them once, beside good ones in the other places.

use super::Target;
use crate::{
    Budget, Decoder,
    documents::{ADMIN_TOKEN, CONFIG, GENESIS, KEY, PEERS},
};
use shardnode_config::Config;
use std::{io, path::Path, str};

/// The target.
#[must_use]
pub fn target() -> Target {
    Target {
        name: "documents",
        decoders: [
            "config.json",
            "peers.json",
            "genesis.json",
            "validator.key",
            "admin.token",
        ]
        .map(|replaced| Decoder::new(replaced, move |bytes| load(replaced, bytes)))
        .into(),
    }
}

/// Whether a node starts with `content` in place of one of its files.
fn load(replaced: &str, content: &[u8]) -> bool {
    // Other bytes fail when the file is read.
    let Ok(content) = str::from_utf8(content) else {
        return false;
    };
    let read_text = |path: &Path| match path.to_str() {
        Some(name) if name == replaced => Ok(content.to_owned()),
        Some("config.json") => Ok(CONFIG.into()),
        Some("peers.json") => Ok(PEERS.into()),
        Some("genesis.json") => Ok(GENESIS.into()),
        Some("validator.key") => Ok(KEY.into()),
        Some("admin.token") => Ok(ADMIN_TOKEN.into()),
        _ => Err(io::ErrorKind::NotFound.into()),
    };
    Budget::TEXT
        .within(replaced, content.len(), || {
            Config::load_with(Path::new("config.json"), read_text)
        })
        .is_ok()
}
