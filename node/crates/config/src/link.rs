// SPDX-License-Identifier: Apache-2.0
//! What is between this node's region and others.

use crate::{document::LinkDocument, error::ConfigError, files::ConfigFile};
use shardnode_links::Conditions;
use std::{
    collections::BTreeMap, fmt::Display, num::NonZeroU64, ops::RangeInclusive, time::Duration,
};

/// One way. With more, peers would not finish their handshake in the time that
/// a dial has.
const DELAY_MILLISECONDS: RangeInclusive<u64> = 1..=300;
/// With more, TCP as it is would carry next to nothing.
const LOSS_BASIS_POINTS: RangeInclusive<u16> = 1..=1_000;
const BANDWIDTH_MEGABITS_PER_SECOND: RangeInclusive<u64> = 1..=100_000;

/// The conditions by region.
pub(crate) fn check(
    file: ConfigFile<'_>,
    documents: &[LinkDocument],
) -> Result<BTreeMap<String, Conditions>, ConfigError> {
    let mut links = BTreeMap::new();
    for (index, document) in documents.iter().enumerate() {
        let place = format!("links[{index}]");
        let field = |name: &str| format!("{place}.{name}");
        let region = &document.region;
        if region.is_empty() {
            return Err(file.wrong(field("region"), "must not be empty"));
        }
        let delay = within(
            file,
            document.delay_milliseconds,
            &DELAY_MILLISECONDS,
            || field("delayMilliseconds"),
        )?;
        let loss = within(file, document.loss_basis_points, &LOSS_BASIS_POINTS, || {
            field("lossBasisPoints")
        })?;
        let bandwidth = within(
            file,
            document.bandwidth_megabits_per_second,
            &BANDWIDTH_MEGABITS_PER_SECOND,
            || field("bandwidthMegabitsPerSecond"),
        )?;
        let conditions = Conditions {
            delay: Duration::from_millis(delay.unwrap_or_default()),
            loss_basis_points: loss.unwrap_or_default(),
            bandwidth: bandwidth
                .and_then(|megabits| NonZeroU64::new(megabits.saturating_mul(1_000_000))),
        };
        if conditions == Conditions::default() {
            return Err(file.wrong(place, "must have a delay, a loss or a bandwidth"));
        }
        if links.insert(region.clone(), conditions).is_some() {
            return Err(file.wrong(field("region"), format!("is \"{region}\" once more")));
        }
    }
    Ok(links)
}

/// A value that is not left out is in its range.
fn within<T: Copy + PartialOrd + Display>(
    file: ConfigFile<'_>,
    value: Option<T>,
    range: &RangeInclusive<T>,
    field: impl Fn() -> String,
) -> Result<Option<T>, ConfigError> {
    match value {
        Some(value) if !range.contains(&value) => {
            let reason = format!("must be {} to {}", range.start(), range.end());
            Err(file.wrong(field(), reason))
        }
        value => Ok(value),
    }
}
