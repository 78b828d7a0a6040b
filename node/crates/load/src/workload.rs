// SPDX-License-Identifier: Apache-2.0
//! Which accounts pay, and which are paid.
//!
//! A generator pays from its own share of its shard's accounts, and to all
//! accounts of the network.
//!
//! | senders | |
//! |---|---|
//! | `ZipfMandelbrot` | few of the share sign most transfers ([`zipf`](crate::zipf)) |
//! | `Uniform` | all of the share sign equally many |
//!
//! | receivers | |
//! |---|---|
//! | `ZipfMandelbrot` | few of the network are paid most, another order of popularity for every generator |
//! | `Uniform` | all are paid equally often |
//! | `HotAccount` | one is, by all generators: the first of genesis. Its own transfers go to the second |
//! | `OneToOne` | the account after the signer, in the order of genesis: each is paid by one other |
//!
//! `withinShardPercent` is the share of transfers to the signer's own shard. They
//! and those to other shards are each drawn as the receivers say. Without it,
//! shards are paid as their accounts are drawn. With one hot account, or one
//! receiver for each sender, there is no choice to make, and it is refused.

use serde::{Deserialize, Serialize};

/// How senders are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Senders {
    /// Few sign most transfers.
    #[default]
    ZipfMandelbrot,
    /// All sign equally many.
    Uniform,
}

/// How receivers are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Receivers {
    /// Few are paid most.
    #[default]
    ZipfMandelbrot,
    /// All are paid equally often.
    Uniform,
    /// One account is paid by all.
    HotAccount,
    /// Each is paid by one other.
    OneToOne,
}

/// Who pays whom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Workload {
    /// Who pays.
    #[serde(default)]
    pub senders: Senders,
    /// Who is paid.
    #[serde(default)]
    pub receivers: Receivers,
    /// How many in a hundred transfers stay within the signer's shard; as it
    /// comes when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_shard_percent: Option<u8>,
}

/// Why a generator cannot draw a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WorkloadError {
    /// A percentage above 100.
    #[error("withinShardPercent: must be at most 100")]
    Percent,
    /// Nothing is left to choose.
    #[error("withinShardPercent: has no effect with receivers HotAccount or OneToOne")]
    NoChoice,
    /// Nobody else is in the signer's shard.
    #[error("withinShardPercent: the shard has no account other than the sender's")]
    NoneWithin,
    /// Nobody is outside of it.
    #[error("withinShardPercent: must be 100, all accounts belong to the one shard")]
    NoneOutside,
}

/// How many accounts a generator can pay to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Those of its own shard.
    pub within: usize,
    /// Those of other shards.
    pub outside: usize,
}

impl Reach {
    /// Whether a generator can draw a workload.
    pub const fn check(&self, workload: &Workload) -> Result<(), WorkloadError> {
        let Some(percent) = workload.within_shard_percent else {
            return Ok(());
        };
        if percent > 100 {
            return Err(WorkloadError::Percent);
        }
        if matches!(
            workload.receivers,
            Receivers::HotAccount | Receivers::OneToOne
        ) {
            return Err(WorkloadError::NoChoice);
        }
        if percent > 0 && self.within < 2 {
            return Err(WorkloadError::NoneWithin);
        }
        if percent < 100 && self.outside == 0 {
            return Err(WorkloadError::NoneOutside);
        }
        Ok(())
    }
}
