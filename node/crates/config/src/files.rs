// SPDX-License-Identifier: Apache-2.0
//! Reads the files of a configuration.

use crate::{
    document::{ConfigDocument, PeersDocument},
    error::ConfigError,
    peer::Peers,
};
use commonware_cryptography::ed25519::PrivateKey;
use commonware_formatting::from_hex;
use serde::de::DeserializeOwned;
use shardnode_primitives::{Genesis, GenesisDocument, genesis::private_key};
use shardnode_rpc::AdminToken;
use std::{
    io,
    path::{Path, PathBuf},
};

/// Gives the text of a file.
pub(crate) type ReadText<'a> = &'a dyn Fn(&Path) -> io::Result<String>;

/// The configuration file, and how it and what it names are read.
#[derive(Clone, Copy)]
pub(crate) struct ConfigFile<'a> {
    path: &'a Path,
    read_text: ReadText<'a>,
}

impl<'a> ConfigFile<'a> {
    pub(crate) const fn new(path: &'a Path, read_text: ReadText<'a>) -> Self {
        Self { path, read_text }
    }

    /// What is wrong with one of its fields.
    pub(crate) fn wrong(self, field: impl Into<String>, reason: impl Into<String>) -> ConfigError {
        ConfigError {
            file: self.path.into(),
            field: Some(field.into()),
            reason: reason.into(),
        }
    }

    pub(crate) fn document(self) -> Result<ConfigDocument, ConfigError> {
        let text = (self.read_text)(self.path)
            .map_err(|error| whole(self.path, format!("cannot be read: {error}")))?;
        let document: ConfigDocument = parse(self.path, &text)?;
        let admin = document.admin.as_ref();
        for (field, path) in [
            ("genesisFile", Some(document.genesis_file.as_path())),
            ("keyFile", Some(document.key_file.as_path())),
            ("p2p.peersFile", Some(document.p2p.peers_file.as_path())),
            ("dataDir", Some(document.data_dir.as_path())),
            (
                "admin.tokenFile",
                admin.map(|admin| admin.token_file.as_path()),
            ),
        ] {
            if path.is_some_and(|path| path.as_os_str().is_empty()) {
                return Err(self.wrong(field, "must not be empty"));
            }
        }
        Ok(document)
    }

    /// The text of a file that `field` names.
    fn read(self, field: &str, path: &Path) -> Result<String, ConfigError> {
        (self.read_text)(path).map_err(|error| {
            let reason = format!("{} cannot be read: {error}", path.display());
            self.wrong(field, reason)
        })
    }
}

/// The paths of a configuration, relative ones beside its file.
pub(crate) struct Paths {
    pub(crate) genesis: PathBuf,
    pub(crate) peers: PathBuf,
    pub(crate) key: PathBuf,
    pub(crate) admin_token: Option<PathBuf>,
    pub(crate) data: PathBuf,
}

impl Paths {
    pub(crate) fn of(config: &Path, document: &ConfigDocument) -> Self {
        let folder = config.parent().unwrap_or_else(|| Path::new(""));
        let admin = document.admin.as_ref();
        Self {
            genesis: folder.join(&document.genesis_file),
            peers: folder.join(&document.p2p.peers_file),
            key: folder.join(&document.key_file),
            admin_token: admin.map(|admin| folder.join(&admin.token_file)),
            data: folder.join(&document.data_dir),
        }
    }
}

pub(crate) fn genesis(config: ConfigFile<'_>, path: &Path) -> Result<Genesis, ConfigError> {
    let text = config.read("genesisFile", path)?;
    let document: GenesisDocument = parse(path, &text)?;
    document.check().map_err(|error| ConfigError {
        file: path.into(),
        field: Some(error.field),
        reason: error.reason,
    })
}

pub(crate) fn peers(config: ConfigFile<'_>, path: &Path) -> Result<Peers, ConfigError> {
    let text = config.read("p2p.peersFile", path)?;
    let document: PeersDocument = parse(path, &text)?;
    Peers::parse(path, &document.peers)
}

pub(crate) fn key(config: ConfigFile<'_>, path: &Path) -> Result<PrivateKey, ConfigError> {
    let text = config.read("keyFile", path)?;
    // The error does not repeat the content, which is a secret.
    hex_32(text.trim_ascii())
        .map(private_key)
        .ok_or_else(|| whole(path, "must be 64 hex digits"))
}

pub(crate) fn admin_token(config: ConfigFile<'_>, path: &Path) -> Result<AdminToken, ConfigError> {
    let text = config.read("admin.tokenFile", path)?;
    AdminToken::new(text.trim_ascii()).map_err(|error| whole(path, error.to_string()))
}

/// 32 bytes, as 64 hex digits and nothing else.
pub(crate) fn hex_32(text: &str) -> Option<[u8; 32]> {
    if !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    from_hex(text)?.try_into().ok()
}

fn whole(file: &Path, reason: impl Into<String>) -> ConfigError {
    ConfigError {
        file: file.into(),
        field: None,
        reason: reason.into(),
    }
}

fn parse<T: DeserializeOwned>(file: &Path, text: &str) -> Result<T, ConfigError> {
    // Serde alone would also take an array, with the fields in order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(whole(file, "must be a JSON object"));
    }
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let document = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let path = error.path().to_string();
        let is_value = error.inner().is_data();
        ConfigError {
            file: file.into(),
            field: (is_value && path != ".").then_some(path),
            reason: reason(error.inner()),
        }
    })?;
    deserializer
        .end()
        .map_err(|error| whole(file, error.to_string()))?;
    Ok(document)
}

/// A wrong value is found by its field, a text that is not JSON by its line.
fn reason(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    match text.strip_suffix(&place) {
        Some(reason) if error.is_data() => reason.into(),
        _ => text,
    }
}
