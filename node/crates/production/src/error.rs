// SPDX-License-Identifier: Apache-2.0
//! Why chunk production ends.

use commonware_storage::metadata;

/// A reason to produce no chunk any more.
#[derive(Debug, thiserror::Error)]
pub enum ProducerError {
    /// The store failed.
    #[error("the record of produced chunks failed")]
    Store(#[from] metadata::Error),
    /// What it holds is no header. To go on without could be to sign a second
    /// chunk of the same height.
    #[error("the record of produced chunks cannot be decoded")]
    Header(#[from] commonware_codec::Error),
}
