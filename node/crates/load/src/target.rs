// SPDX-License-Identifier: Apache-2.0
//! What a generator is told.
//!
//! Signing costs about as much CPU time as all else that a producer does with a
//! transfer. A generator that has no load can be told to sign transfers before
//! they are due: they are its *stock*, and a load with signing `Before` takes
//! them from there, so that what is measured of the node is without signing.
//!
//! | `signing` | a transfer that is due |
//! |---|---|
//! | `Live` | is signed then |
//! | `Before` | is taken from the stock, in the order in which they were drawn |
//!
//! A stock is of one workload and one generator, whose nonces go on from it. So
//! it is gone with the next stock, with signing `Live`, whose nonces are above its
//! own, and with the process: what is left of it could not be told from what the
//! chain has already executed.

use crate::{Workload, WorkloadError};
use serde::{Deserialize, Serialize};

/// The most transfers of a stock: 15.3 GB.
pub const MAX_STOCK: u32 = 100_000_000;

/// When transfers are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signing {
    /// When they are due.
    #[default]
    Live,
    /// Before they are due.
    Before,
}

/// What a generator is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Target {
    /// The transfers that are due in a second.
    pub transfers_per_second: u32,
    /// Which.
    #[serde(default)]
    pub workload: Workload,
    /// When they are signed.
    #[serde(default)]
    pub signing: Signing,
    /// How many to sign now, before any are due; the stock stays as it is when
    /// absent.
    #[serde(default)]
    pub stock: Option<u32>,
}

/// Why a generator does not do what it is told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The workload cannot be drawn.
    #[error("workload.{0}")]
    Workload(#[from] WorkloadError),
    /// A stock of none, or of too many.
    #[error("stock: must be from 1 to {MAX_STOCK}")]
    Size,
    /// A stock that nothing would be taken from.
    #[error("stock: has no effect with signing Live")]
    Unused,
    /// What is signed now is signed for the load.
    #[error("stock: transfers are signed before only while transfersPerSecond is 0")]
    Loaded,
    /// There is no stock.
    #[error("signing: no transfers were signed before")]
    NoStock,
    /// There is one for another load.
    #[error("signing: the transfers that were signed before are of another workload")]
    OtherWorkload,
    /// The stock is not whole.
    #[error("signing: {signed} of {transfers} transfers are signed yet")]
    Unfinished {
        /// How many are.
        signed: u32,
        /// How many are to be.
        transfers: u32,
    },
    /// The disk failed.
    #[error("signing: the transfers that were signed before cannot be kept: {0}")]
    Failed(String),
}

/// The transfers that a generator signs, or has signed, before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stock {
    /// How many it was told to sign.
    pub transfers: u32,
    /// Which.
    pub workload: Workload,
    /// How many it has signed.
    pub signed: u32,
    /// How many of them are still to be taken.
    pub left: u32,
    /// Why the disk does not keep them; `None` if it does.
    pub failure: Option<String>,
}

impl Stock {
    /// Whether a load of a workload can be taken from it.
    pub fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        if self.workload != *workload {
            return Err(TargetError::OtherWorkload);
        }
        if let Some(failure) = &self.failure {
            return Err(TargetError::Failed(failure.clone()));
        }
        if self.signed < self.transfers {
            return Err(TargetError::Unfinished {
                signed: self.signed,
                transfers: self.transfers,
            });
        }
        Ok(())
    }
}
