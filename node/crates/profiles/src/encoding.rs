// SPDX-License-Identifier: Apache-2.0
//! Makes a file of samples that viewers of profiles read.

use crate::{MAX_BYTES, ProfileError};
use flate2::{Compression, write::GzEncoder};
use pprof::{
    Report,
    protos::{Label, Message as _, Profile},
};
use std::{fmt::Display, io::Write as _};

/// What a profile is of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The network.
    pub network: &'a str,
    /// The node.
    pub node: &'a str,
    /// The finalised block with which it began.
    pub first_height: u64,
    /// The finalised block with which it ended.
    pub last_height: u64,
}

pub(crate) fn encode(report: &Report, subject: &Subject<'_>) -> Result<Vec<u8>, ProfileError> {
    let wrong = |error: &dyn Display| ProfileError::Encoding(error.to_string());
    let mut profile = report.pprof().map_err(|error| wrong(&error))?;
    name(&mut profile, subject);
    let bytes = profile.write_to_bytes().map_err(|error| wrong(&error))?;
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    let compressed = gzip
        .write_all(&bytes)
        .and_then(|()| gzip.finish())
        .map_err(|error| wrong(&error))?;
    if compressed.len() > MAX_BYTES {
        return Err(ProfileError::TooLarge(compressed.len()));
    }
    Ok(compressed)
}

/// Says of a profile, and of each of its samples, what they are of.
fn name(profile: &mut Profile, subject: &Subject<'_>) {
    let table = &mut profile.string_table;
    let mut text = |text: String| {
        table.push(text);
        i64::try_from(table.len() - 1).unwrap_or_default()
    };
    let (key, node) = (text("node".into()), text(subject.node.into()));
    profile.comment = vec![
        text(format!("network: {}", subject.network)),
        text(format!("node: {}", subject.node)),
        text(format!("first height: {}", subject.first_height)),
        text(format!("last height: {}", subject.last_height)),
    ];
    for sample in &mut profile.sample {
        sample.label.push(Label {
            key,
            str: node,
            ..Label::default()
        });
    }
}
