// SPDX-License-Identifier: Apache-2.0
//! How many files the process may open, and how many of them are stored ones.
//!
//! A process has a soft limit of open files, often 1,024, and may raise it to
//! its hard limit itself. Every connection is an open file too, and consensus
//! panics when its storage cannot open one, so stored files are bounded to a
//! quarter of what there is.

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::gauge::ConstGauge,
};
use rlimit::Resource;
use shardnode_open_files::OpenCount;
use std::{fmt, io, num::NonZeroUsize};
use tracing::{info, warn};

/// Stored files get this part of what the process may open. One that is read
/// past the page cache takes two.
const PART: u64 = 4;
/// More would spare hardly any opening: few stores are in use at a time.
const MOST: u64 = 256;
/// With less, the files that stores write to would leave none to read from.
const LEAST: u64 = 32;

/// How many files the process may open; nothing where that is not known.
pub fn soft_limit() -> Option<u64> {
    let (soft, _) = Resource::NOFILE.get().ok()?;
    Some(soft)
}

/// Lets the process open as many files as it can be let, says so in the log,
/// and returns how many stored ones may be open.
#[must_use]
pub fn raise_limit() -> NonZeroUsize {
    match raise() {
        Ok((before, limit)) => {
            let stored = stored_files(limit);
            info!(before, limit, stored, "limit of open files");
            stored
        }
        Err(error) => {
            let limit = soft_limit();
            let stored = stored_files(limit.unwrap_or_default());
            warn!(
                limit,
                stored, "limit of open files cannot be raised: {error}"
            );
            stored
        }
    }
}

/// The limit before and after.
fn raise() -> io::Result<(u64, u64)> {
    let (soft, hard) = Resource::NOFILE.get()?;
    if soft < hard {
        Resource::NOFILE.set(hard, hard)?;
    }
    Ok((soft, hard))
}

/// How many stored files may be open in a process that may open so many.
fn stored_files(limit: u64) -> NonZeroUsize {
    let stored = (limit / PART).clamp(LEAST, MOST);
    usize::try_from(stored)
        .ok()
        .and_then(NonZeroUsize::new)
        .unwrap_or(NonZeroUsize::MIN)
}

/// `shardnode_stored_files_open`.
#[derive(Debug)]
pub struct StoredFiles(pub OpenCount);

impl Collector for StoredFiles {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let open = ConstGauge::new(i64::try_from(self.0.get()).unwrap_or(i64::MAX));
        open.encode(encoder.encode_descriptor(
            "stored_files_open",
            "Stored files that are open",
            None,
            open.metric_type(),
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::{encoding::text, registry::Registry};

    #[test]
    fn stored_files_get_a_quarter_within_bounds() {
        for (limit, stored) in [
            (0, 32),
            (128, 32),
            (256, 64),
            (1_024, 256),
            (1_048_576, 256),
            (u64::MAX, 256),
        ] {
            assert_eq!(stored_files(limit).get(), stored, "{limit}");
        }
    }

    #[test]
    fn the_limit_is_raised_to_the_hard_one() {
        let (_, hard) = Resource::NOFILE.get().unwrap();
        let lowered = hard.min(512);
        Resource::NOFILE.set(lowered, hard).unwrap();
        assert_eq!(raise().unwrap(), (lowered, hard));
        assert_eq!(soft_limit(), Some(hard));
        // Once more changes nothing.
        assert_eq!(raise_limit(), stored_files(hard));
        assert_eq!(soft_limit(), Some(hard));
    }

    #[test]
    fn the_metric_has_the_name_of_the_node_contract() {
        let mut registry = Registry::with_prefix("shardnode");
        registry.register_collector(Box::new(StoredFiles(OpenCount::default())));
        let mut encoded = String::new();
        text::encode(&mut encoded, &registry).unwrap();
        assert!(
            encoded.contains("\nshardnode_stored_files_open 0\n"),
            "{encoded}"
        );
    }
}
