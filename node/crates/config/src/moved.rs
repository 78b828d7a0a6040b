// SPDX-License-Identifier: Apache-2.0
//! A configuration for who takes the place of a node.

use crate::files::Paths;
use serde_json::Value;
use std::{
    io,
    path::{Path, absolute},
};

/// A configuration, which was read before, with another data directory. It names files
/// by absolute paths, so that it can be kept anywhere.
pub(crate) fn moved(text: &str, paths: &Paths, data_dir: &Path) -> io::Result<String> {
    let mut document: Value = serde_json::from_str(text)?;
    for (pointer, path) in [
        ("/genesisFile", Some(paths.genesis.as_path())),
        ("/keyFile", Some(paths.key.as_path())),
        ("/p2p/peersFile", Some(paths.peers.as_path())),
        ("/admin/tokenFile", paths.admin_token.as_deref()),
        ("/dataDir", Some(data_dir)),
    ] {
        if let (Some(path), Some(field)) = (path, document.pointer_mut(pointer)) {
            *field = absolute(path)?.to_string_lossy().into();
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::ConfigFile;
    use serde_json::json;

    #[test]
    fn all_files_are_where_they_were_but_for_the_data() {
        let mut written = json!({
            "network": "net", "node": "net-s0-p0", "region": "local", "role": "producer",
            "genesisFile": "genesis.json", "keyFile": "../keys/validator.key", "dataDir": "data",
            "p2p": {"listen": "127.0.0.1:0", "peersFile": "/etc/peers.json"},
            "http": {"listen": "127.0.0.1:0"},
            "admin": {"listen": "127.0.0.1:0", "tokenFile": "token"},
            "log": {"level": "debug"},
        });
        let text = written.to_string();
        let path = Path::new("/nodes/0/config.json");
        let read_text = |_: &Path| Ok(text.clone());
        let document = ConfigFile::new(path, &read_text).document().unwrap();
        let paths = Paths::of(path, &document);
        let moved = moved(&text, &paths, Path::new("/nodes/0/other")).unwrap();
        written["genesisFile"] = "/nodes/0/genesis.json".into();
        written["keyFile"] = "/nodes/0/../keys/validator.key".into();
        written["admin"]["tokenFile"] = "/nodes/0/token".into();
        written["dataDir"] = "/nodes/0/other".into();
        assert_eq!(serde_json::from_str::<Value>(&moved).unwrap(), written);
    }
}
