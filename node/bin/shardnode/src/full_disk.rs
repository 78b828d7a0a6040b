// SPDX-License-Identifier: Apache-2.0
//! A full disk that is a fault outlives the process, as one that is no fault does.
//!
//! A node that cannot write ends, and is started again. A mark in the data directory
//! says until when the disk is full: a node that begins before waits for so long.

use crate::data_dir::Unusable;
use shardnode_disks::full;
use std::{
    fs, io,
    path::Path,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// Says until when, in decimal milliseconds. No store can have this name: theirs have
/// no dots.
const MARK: &str = ".disk-full";
/// No fault lasts longer, whatever became of the clock.
const LONGEST: Duration = Duration::from_secs(3_600);

/// Marks the disk as full until then.
pub fn mark(path: &Path, until: SystemTime) -> io::Result<()> {
    let until = until.duration_since(UNIX_EPOCH).unwrap_or_default();
    fs::write(path.join(MARK), until.as_millis().to_string())
}

/// The disk is not full any more.
pub fn clear(path: &Path) -> io::Result<()> {
    match fs::remove_file(path.join(MARK)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

/// How long the disk is full from now on. A mark that cannot be read is none.
#[must_use]
pub fn left(path: &Path, now: SystemTime) -> Option<Duration> {
    let mark = fs::read_to_string(path.join(MARK)).ok()?;
    let until = UNIX_EPOCH.checked_add(Duration::from_millis(mark.parse().ok()?))?;
    let left = until.duration_since(now).ok()?;
    (!left.is_zero() && left <= LONGEST).then_some(left)
}

/// Says that nothing can be kept while the disk is full.
pub fn check(path: &Path, now: SystemTime) -> Result<(), Unusable> {
    match left(path, now) {
        None => Ok(()),
        Some(_) => Err(Unusable::System {
            path: path.into(),
            source: full(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_full_until_then_and_no_longer() {
        let path = std::env::temp_dir().join(format!("shardnode-full-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let now = UNIX_EPOCH + Duration::from_millis(1_790_000_000_000);
        let second = Duration::from_secs(1);
        assert_eq!(left(&path, now), None);
        clear(&path).unwrap();
        for (until, expected) in [
            (now + second, Some(second)),
            (now + LONGEST, Some(LONGEST)),
            (now, None),
            (now - second, None),
            // A clock that was set back does not make it last.
            (now + LONGEST + second, None),
        ] {
            mark(&path, until).unwrap();
            assert_eq!(left(&path, now), expected);
            let error = check(&path, now).err().map(|error| {
                let source = std::error::Error::source(&error).unwrap();
                format!("{error}: {source}")
            });
            let words = "cannot be used: No space left on device, by a fault of the disk";
            assert_eq!(error.is_some(), expected.is_some());
            assert!(error.is_none_or(|error| error.ends_with(words)));
        }
        for wrong in ["", "soon", "-1", "99999999999999999999999"] {
            fs::write(path.join(MARK), wrong).unwrap();
            assert_eq!(left(&path, now), None, "{wrong}");
        }
        mark(&path, now + second).unwrap();
        clear(&path).unwrap();
        assert_eq!(left(&path, now), None);
        fs::remove_dir_all(path).unwrap();
    }
}
