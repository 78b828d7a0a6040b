// SPDX-License-Identifier: Apache-2.0
//! Makes a file of samples that viewers of profiles read.

use crate::{MAX_BYTES, ProfileError};
use flate2::{Compression, write::GzEncoder};
use pprof::protos::{Label, Message as _, Profile};
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

/// Makes the file of a profile that lost so many samples.
pub(crate) fn encode(
    mut profile: Profile,
    subject: &Subject<'_>,
    lost: usize,
) -> Result<Vec<u8>, ProfileError> {
    name(&mut profile, subject, lost);
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

/// Why there is no file.
pub(crate) fn wrong(error: &dyn Display) -> ProfileError {
    ProfileError::Encoding(error.to_string())
}

/// Says of a profile, and of each of its samples, what they are of.
fn name(profile: &mut Profile, subject: &Subject<'_>, lost: usize) {
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
    if lost > 0 {
        profile.comment.push(text(format!("lost samples: {lost}")));
    }
    for sample in &mut profile.sample {
        sample.label.push(Label {
            key,
            str: node,
            ..Label::default()
        });
    }
}
