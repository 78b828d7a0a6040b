// SPDX-License-Identifier: Apache-2.0
//! Why there is no profile.

use crate::MAX_BYTES;
use std::io;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The folder for what has no place in memory cannot be used.
    #[error("the folder for samples cannot be used")]
    Folder(#[source] io::Error),
    /// Samples cannot be taken, or not be read.
    #[error("samples cannot be taken")]
    Samples(#[source] pprof::Error),
    /// Another one of allocations goes on.
    #[error("a profile of allocations is taken already")]
    Ongoing,
    /// The file cannot be made.
    #[error("the profile cannot be written: {0}")]
    Encoding(String),
    /// The file is larger than anybody reads.
    #[error("the profile has {0} bytes, more than {MAX_BYTES}")]
    TooLarge(usize),
}
