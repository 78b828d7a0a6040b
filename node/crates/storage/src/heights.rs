// SPDX-License-Identifier: Apache-2.0
//! Which position of the journal holds the record of a height.
//!
//! Heights increase strictly with positions, by one where no chunk is missed,
//! so one known height narrows down all others: a record `n` positions before
//! one at height `h` is at `h - n` or lower. The heights of records added or
//! recovered since the log was opened are all known; older ones are searched
//! for, and with few missed chunks found at the first read. A height that was
//! read is known from then on, so that no record is read twice in searches.

use std::{collections::VecDeque, ops::RangeInclusive};

/// The heights of a journal's newest records.
#[derive(Debug)]
pub(crate) struct Heights {
    /// Position of the first known height, or of the next record.
    first: u64,
    known: VecDeque<u64>,
    /// Positions below the first known one whose heights were read, with these,
    /// in order.
    learned: Vec<(u64, u64)>,
    last: u64,
}

impl Heights {
    /// A journal whose next record, at `position`, will be above `last`.
    pub(crate) const fn new(position: u64, last: u64) -> Self {
        Self {
            first: position,
            known: VecDeque::new(),
            learned: Vec::new(),
            last,
        }
    }

    /// Notes the next record's height; false if it is not above the last.
    pub(crate) fn push(&mut self, height: u64) -> bool {
        if height <= self.last {
            return false;
        }
        self.known.push_back(height);
        self.last = height;
        true
    }

    /// The height of the last record.
    pub(crate) const fn last(&self) -> u64 {
        self.last
    }

    /// Forgets positions below `oldest`.
    pub(crate) fn forget_below(&mut self, oldest: u64) {
        while self.first < oldest && self.known.pop_front().is_some() {
            self.first += 1;
        }
        self.learned.retain(|(position, _)| *position >= oldest);
    }

    /// Notes the height of the record at `position`, which was read.
    pub(crate) fn learn(&mut self, position: u64, height: u64) {
        let place = self.learned.partition_point(|(at, _)| *at < position);
        let is_new = self
            .learned
            .get(place)
            .is_none_or(|(at, _)| *at != position);
        if position < self.first && is_new {
            self.learned.insert(place, (position, height));
        }
    }

    /// The height of the record at `position`, if it is known.
    pub(crate) fn at(&self, position: u64) -> Option<u64> {
        if let Some(after) = position.checked_sub(self.first) {
            return self.known.get(usize::try_from(after).ok()?).copied();
        }
        let place = self.learned.binary_search_by_key(&position, |(at, _)| *at);
        place.ok().map(|place| self.learned[place].1)
    }

    /// The positions among which the first record at or above `height` is, in
    /// a journal that starts at `oldest`.
    pub(crate) fn seek(&self, height: u64, oldest: u64) -> RangeInclusive<u64> {
        let next = self.known.front().copied().unwrap_or(self.last + 1);
        if height >= next {
            let before = self.known.partition_point(|known| *known < height);
            let position = self.first + before as u64;
            return position..=position;
        }
        let mut range = narrow_below(oldest..=self.first, self.first, next - height);
        let after = self.learned.partition_point(|(_, at)| *at < height);
        if let Some((position, at)) = self.learned.get(after) {
            range = narrow_below(range, *position, at - height);
        }
        if let Some((position, at)) = after.checked_sub(1).and_then(|one| self.learned.get(one)) {
            range = narrow_above(range, *position, height - at);
        }
        range
    }
}

/// `range` given that the record at `position` is `distance` too high.
pub(crate) fn narrow_below(
    range: RangeInclusive<u64>,
    position: u64,
    distance: u64,
) -> RangeInclusive<u64> {
    let (start, end) = range.into_inner();
    start.max(position.saturating_sub(distance))..=end.min(position)
}

/// `range` given that the record at `position` is `distance` too low.
pub(crate) fn narrow_above(
    range: RangeInclusive<u64>,
    position: u64,
    distance: u64,
) -> RangeInclusive<u64> {
    let (start, end) = range.into_inner();
    start.max(position + 1)..=end.min(position.saturating_add(distance))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::{collection::vec, prelude::*};

    /// Searches as the log does; returns the position and the reads it took.
    fn search(heights: &mut Heights, all: &[u64], oldest: u64, height: u64) -> (u64, usize) {
        let mut range = heights.seek(height, oldest);
        let mut probe = *range.start();
        let mut reads = 0;
        while range.start() < range.end() {
            let found = all[usize::try_from(probe).unwrap()];
            reads += usize::from(heights.at(probe).is_none());
            heights.learn(probe, found);
            assert_eq!(heights.at(probe), Some(found));
            range = if found < height {
                narrow_above(range, probe, height - found)
            } else {
                narrow_below(range, probe, found - height)
            };
            probe = range.start() + (range.end() - range.start()) / 2;
        }
        (*range.start(), reads)
    }

    proptest! {
        #[test]
        fn finds_the_first_record_at_or_above(
            gaps in vec(1u64..5, 1..60),
            known in 0usize..60,
            oldest in 0usize..60,
            extra in 0u64..5,
        ) {
            let all: Vec<u64> = gaps
                .iter()
                .scan(0, |height, gap| { *height += gap; Some(*height) })
                .collect();
            let known = known.min(all.len());
            let oldest = oldest.min(all.len());
            let before = known.checked_sub(1).map_or(0, |last| all[last]);
            let mut heights = Heights::new(known as u64, before);
            for height in &all[known..] {
                prop_assert!(heights.push(*height));
                prop_assert!(!heights.push(*height));
            }
            heights.forget_below(oldest as u64);
            prop_assert_eq!(heights.last(), *all.last().unwrap());
            for height in 0..=heights.last() + extra {
                let expected = all[oldest..].partition_point(|one| *one < height) + oldest;
                let (position, reads) = search(&mut heights, &all, oldest as u64, height);
                prop_assert_eq!(position, expected as u64, "height {}", height);
                prop_assert!(reads <= 8, "{} reads", reads);
            }
            // No height is read twice, whichever is looked for.
            for height in 0..=heights.last() + extra {
                let expected = all[oldest..].partition_point(|one| *one < height) + oldest;
                let (position, reads) = search(&mut heights, &all, oldest as u64, height);
                prop_assert_eq!((position, reads), (expected as u64, 0), "height {}", height);
            }
        }

        #[test]
        fn without_gaps_nothing_is_searched(count in 1u64..1_000, height in 1u64..1_000) {
            let heights = Heights::new(count, count);
            let range = heights.seek(height, 0);
            if height <= count {
                prop_assert_eq!(*range.start(), height - 1);
            } else {
                prop_assert_eq!(range, count..=count);
            }
        }
    }
}
