// SPDX-License-Identifier: Apache-2.0
//! A runtime whose storage keeps at most so many files open.
//!
//! Stores keep a blob open for every section that they have, so a node's open
//! files grow with its chain, and a process may have only so many. [`Bounded`]
//! is any runtime with a bound on the blobs that its storage has open. A store
//! sees no difference: the handle that it holds stays, and what is behind it
//! is closed while it is idle and opened again when it is used next.
//!
//! # Specification
//!
//! 1. A blob that is to be opened while the bound is reached has those closed
//!    that were used least recently, of the blobs that may be closed.
//! 2. A blob may be closed when no operation on it is in flight, when every
//!    write and resize was covered by a sync that completed, and when it was
//!    never removed. An operation is in flight until its future, its stream or
//!    its handle ended or was dropped; a sync that was started is in flight
//!    until it completed, even if nobody waits for it. A write or resize that
//!    failed or was abandoned is covered by no sync.
//! 3. So the bound is exceeded rather than a promise of [`Storage`] broken, and
//!    blobs above it are closed as soon as they may be. That a sync completed
//!    which nobody waits for is noticed when the next blob is opened. Blobs are
//!    counted: a runtime may need two files for one that is read past the page
//!    cache.
//! 4. A blob is opened again with the very version that it was opened with. It
//!    is opened once, however many tasks wait for it; if that fails, the
//!    operation fails, and the next one tries again.
//! 5. A sync of a closed blob has nothing to do.
//! 6. Before anything is removed, the handles that it concerns have their blobs
//!    opened, and these stay open as long as the handles live, as do those that
//!    are opened while it is being removed. So a removed blob stays readable,
//!    and no file comes back.
//! 7. A name has one live handle, whether its blob is open or closed.
//!
//! Everything else is the inner storage's: opening, closing and removing are
//! nothing but its operations, and what is durable is what it made durable.
//!
//! # Locks
//!
//! What is open is in one table, behind a lock that is never held across an
//! await. A blob is closed under that lock, so whoever finds it closed can open
//! it. Opening again takes turns per blob; whoever has a turn waits for the
//! inner storage alone.
//!
//! [`Storage`]: commonware_runtime::Storage

mod blob;
mod files;
mod runtime;
mod table;

pub use blob::File;
pub use runtime::Bounded;
pub use table::OpenCount;
