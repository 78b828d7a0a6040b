// SPDX-License-Identifier: Apache-2.0
//! How many files the process may open, and how many of them are stored ones.
//!
//! A process has a soft limit of open files, often 1,024, and may raise it to
//! its hard limit itself. Every connection is an open file too, and consensus
//! panics when its storage cannot open one, so stored files are bounded to a
//! quarter of what there is.
//!
//! Whoever reaches the p2p port may connect, too, and takes a file until it has
//! shown who it is or [`HANDSHAKE`] is over. So many such connections are there
//! at a time, an eighth of what there is ([`Handshakes`]), and one address begins
//! half of them in that time: it keeps nobody else out.

use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::gauge::ConstGauge,
};
use rlimit::Resource;
use shardnode_open_files::OpenCount;
use std::{
    fmt, io,
    num::{NonZeroU32, NonZeroUsize},
    time::Duration,
};
use tracing::{info, warn};

/// Stored files get this part of what the process may open. One that is read
/// past the page cache takes two.
const PART: u64 = 4;
/// Handshakes get this part of it.
const HANDSHAKES: u64 = 8;
/// More would spare hardly any opening: few stores are in use at a time.
const MOST: u64 = 256;
/// With less, the files that stores write to would leave none to read from.
const LEAST: u64 = 32;

/// How long a peer has to show who it is.
pub const HANDSHAKE: Duration = Duration::from_secs(5);

/// Connections to the p2p port of whom it is not known yet who they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshakes {
    /// At a time.
    pub concurrent: NonZeroU32,
    /// Those of one address that begin at once.
    pub burst: NonZeroU32,
    /// And in a second, over time.
    pub rate: NonZeroU32,
}

impl Handshakes {
    /// Those of a process that may open so many files.
    #[must_use]
    pub fn of_node(files: u64) -> Self {
        let concurrent = (files / HANDSHAKES).clamp(8, 512);
        let half = concurrent / 2;
        let some = |number: u64| {
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
        };
        Self {
            concurrent: some(concurrent),
            burst: some(half / 2),
            rate: some(half / 2 / HANDSHAKE.as_secs()),
        }
    }
}

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
    fn handshakes_get_an_eighth_within_bounds_and_one_address_half_of_that() {
        for (limit, concurrent) in [
            (0, 8),
            (256, 32),
            (1_024, 128),
            (1_048_576, 512),
            (u64::MAX, 512),
        ] {
            let handshakes = Handshakes::of_node(limit);
            assert_eq!(handshakes.concurrent.get(), concurrent, "{limit}");
            let Handshakes { burst, rate, .. } = handshakes;
            let begun = u64::from(burst.get()) + u64::from(rate.get()) * HANDSHAKE.as_secs();
            assert!(begun <= u64::from(concurrent / 2) + 5, "{limit}: {begun}");
        }
    }

    /// Stored files count twice. What remains is for peers and everything else.
    #[test]
    fn all_who_open_files_leave_some_for_peers() {
        for limit in [256, 1_024, 4_096, 1_048_576] {
            let stored = 2 * stored_files(limit).get();
            let http = crate::http::Bounds::of_node(limit).connections;
            let handshakes = Handshakes::of_node(limit).concurrent.get();
            let taken = (stored + http) as u64 + u64::from(handshakes);
            assert!(taken <= limit - limit / 8, "{limit}: {taken}");
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
