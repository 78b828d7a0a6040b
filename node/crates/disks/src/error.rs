// SPDX-License-Identifier: Apache-2.0
//! Why a disk refuses to write.

use std::io;

/// The disk has a fault, and is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("No space left on device, by a fault of the disk")]
struct NoRoom;

/// What a full disk answers.
#[must_use]
pub fn full() -> io::Error {
    io::Error::new(io::ErrorKind::StorageFull, NoRoom)
}
