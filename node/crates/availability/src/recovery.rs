// SPDX-License-Identifier: Apache-2.0
//! Somebody waits for a chunk of the own shard, or for the own part of
//! another shard's: whom to ask, when, and what was collected.
//!
//! Those who hold what is wanted are asked first. What they do not have is
//! recovered: every voter that holds a part of the body is asked for it, and
//! as many parts as suffice give the body, or show that there is none.

use commonware_utils::channel::oneshot;
use shardnode_coding::{Code, CodeError, Part, Share};
use shardnode_primitives::ChunkHeader;
use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};
use tracing::warn;

/// How long those who hold what is wanted have to answer before parts are
/// collected.
pub(crate) const ANSWER: Duration = Duration::from_millis(400);

/// How long parts may take before somebody is told.
const WORTH_A_WORD: Duration = Duration::from_secs(10);

/// Somebody waits for something of the chunk with this header.
pub(crate) struct Awaited<T> {
    pub(crate) header: ChunkHeader,
    pub(crate) replies: Vec<oneshot::Sender<T>>,
    /// When to ask those who hold it; `None` once they are asked.
    pub(crate) ask_at: Option<SystemTime>,
    /// When to collect parts; `None` if not, or once they are asked for.
    pub(crate) collect_at: Option<SystemTime>,
    /// When to tell somebody that it is not to be had.
    tell_at: Option<SystemTime>,
    /// Whether anybody was asked for anything.
    pub(crate) asked: bool,
    collected: BTreeMap<u16, Share>,
    recovering: bool,
}

impl<T> Awaited<T> {
    pub(crate) const fn new(header: ChunkHeader) -> Self {
        Self {
            header,
            replies: Vec::new(),
            ask_at: None,
            collect_at: None,
            tell_at: None,
            asked: false,
            collected: BTreeMap::new(),
            recovering: false,
        }
    }

    /// Adds somebody who waits.
    pub(crate) fn add(&mut self, reply: oneshot::Sender<T>) {
        self.replies.retain(|reply| !reply.is_closed());
        self.replies.push(reply);
    }

    /// Whether anybody still waits.
    pub(crate) fn is_open(&self) -> bool {
        self.replies.iter().any(|reply| !reply.is_closed())
    }

    /// Nobody need be asked any more.
    pub(crate) const fn settle(&mut self) {
        self.ask_at = None;
        self.collect_at = None;
        self.tell_at = None;
    }

    /// When something is to be done next.
    pub(crate) fn deadline(&self) -> Option<SystemTime> {
        self.ask_at
            .into_iter()
            .chain(self.collect_at)
            .chain(self.tell_at)
            .min()
    }

    /// Whether those who hold it are to be asked now.
    pub(crate) fn asks(&mut self, now: SystemTime) -> bool {
        let due = take_due(&mut self.ask_at, now);
        self.asked |= due;
        due
    }

    /// Whether parts are to be asked for now.
    pub(crate) fn collects(&mut self, now: SystemTime) -> bool {
        let due = take_due(&mut self.collect_at, now);
        self.asked |= due;
        if due {
            self.tell_at = Some(now + WORTH_A_WORD);
        }
        due
    }

    /// Says what is missing, once, if parts have been asked for in vain.
    pub(crate) fn tells(&mut self, now: SystemTime, code: &Code) {
        if take_due(&mut self.tell_at, now) && self.is_open() && !self.recovering {
            let content = &self.header.content;
            warn!(
                shard = %content.shard,
                height = content.height,
                parts = self.collected.len(),
                needed = code.needed(),
                "the body of a chunk is at no node that answers: waiting for a producer of the \
                 shard, or for enough producers with parts of it"
            );
        }
    }

    /// Takes in a part of the body. Gives as many as suffice once they are
    /// there, and only once.
    pub(crate) fn collect(
        &mut self,
        code: &Code,
        index: u16,
        share: Share,
    ) -> Result<Option<Vec<Part>>, CodeError> {
        code.check(&self.header.content.parts_root, index, &share)?;
        self.collected.insert(index, share);
        if self.recovering || self.collected.len() < code.needed() {
            return Ok(None);
        }
        self.recovering = true;
        let collected = std::mem::take(&mut self.collected);
        let parts = collected.into_iter().take(code.needed());
        Ok(Some(
            parts.map(|(index, share)| Part { index, share }).collect(),
        ))
    }
}

fn take_due(at: &mut Option<SystemTime>, now: SystemTime) -> bool {
    at.take_if(|at| *at <= now).is_some()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_parallel::Sequential;
    use shardnode_execution::body;
    use shardnode_primitives::{ChunkBody, ShardId, ShardTotals, hash::ZERO};
    use std::{num::NonZeroU16, time::UNIX_EPOCH};

    const CODE: Code = Code::any(NonZeroU16::new(2).unwrap(), NonZeroU16::new(4).unwrap());

    fn wanted() -> (Awaited<()>, Vec<Share>) {
        let totals = ShardTotals::genesis(ZERO, 0);
        let mut header = ChunkHeader::genesis(ShardId(0), totals).unwrap();
        let body = ChunkBody(vec![5; 145].into());
        let (root, shares) = body::divide(&body, &CODE, &Sequential).unwrap();
        header.content.parts_root = root;
        (Awaited::new(header), shares)
    }

    #[test]
    fn enough_parts_are_given_once() {
        let (mut wanted, shares) = wanted();
        let mut collect = |index: u16, place: usize| {
            let parts = wanted.collect(&CODE, index, shares[place].clone());
            parts.map(|parts| parts.map(|parts| parts.len()))
        };
        assert_eq!(collect(0, 0), Ok(None));
        assert_eq!(collect(0, 0), Ok(None), "the same part again");
        assert!(collect(1, 2).is_err(), "another owner's part");
        assert_eq!(collect(3, 3), Ok(Some(2)));
        assert_eq!(collect(2, 2), Ok(None), "it is being recovered");
    }

    #[test]
    fn nobody_is_asked_twice_or_once_all_is_settled() {
        let at = |ms| UNIX_EPOCH + Duration::from_millis(ms);
        let (mut one, _) = wanted();
        assert_eq!(one.deadline(), None);
        one.ask_at = Some(at(10));
        one.collect_at = Some(at(20));
        assert_eq!(one.deadline(), Some(at(10)));
        assert!(!one.asks(at(9)) && !one.asked);
        assert!(one.asks(at(10)) && one.asked);
        assert!(!one.asks(at(11)));
        assert_eq!(one.deadline(), Some(at(20)));
        assert!(one.collects(at(20)));
        assert!(!one.collects(at(21)));
        assert_eq!(one.deadline(), Some(at(20) + WORTH_A_WORD));
        one.settle();
        assert_eq!(one.deadline(), None);
    }
}
