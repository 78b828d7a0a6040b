// SPDX-License-Identifier: Apache-2.0
//! When a later state is asked for than the one that this node has.

use std::time::Duration;

/// How long peers have to answer for what an execution takes before a later
/// state is asked for as well.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// Whether `needed` is so far below the finalised tip that there is probably a
/// snapshot which is less work to go on from: more than an `interval` between
/// two snapshots.
pub(crate) const fn is_behind(needed: u64, tip: u64, interval: u64) -> bool {
    needed.saturating_add(interval) < tip
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_behind_where_there_is_a_snapshot_ahead_of_it() {
        for (needed, tip, behind) in [
            (1, 0, false),
            (1, 101, false),
            (1, 102, true),
            (2, 102, false),
            (u64::MAX, 102, false),
        ] {
            assert_eq!(is_behind(needed, tip, 100), behind, "{needed} at {tip}");
        }
    }
}
