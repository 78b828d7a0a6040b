// SPDX-License-Identifier: Apache-2.0
//! Whether the node can keep anything in its data directory.

use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// No store can have this name: theirs have no dots.
const PROBE: &str = ".probe";
/// The least that a file takes on most disks.
const PROBE_BYTES: usize = 4_096;

/// A directory in which no file can be made, written or made durable.
#[derive(Debug, thiserror::Error)]
#[error("data directory {} cannot be used", path.display())]
pub struct Unusable {
    /// The directory.
    pub path: PathBuf,
    /// What the system says.
    #[source]
    pub source: io::Error,
}

/// Makes the directory unless it is there, and tries it out with a small file.
pub fn check(path: &Path) -> Result<(), Unusable> {
    probe(path).map_err(|source| Unusable {
        path: path.into(),
        source,
    })
}

fn probe(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let probe = path.join(PROBE);
    let written = write(&probe);
    match fs::remove_file(&probe) {
        // A file that could not be made cannot be removed either.
        Err(error) if written.is_ok() => Err(error),
        _ => written,
    }
}

fn write(path: &Path) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(&[0; PROBE_BYTES])?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_made_and_left_empty() {
        let root = std::env::temp_dir().join(format!("shardnode-data-{}", std::process::id()));
        let path = root.join("a").join("b");
        for _ in 0..2 {
            check(&path).unwrap();
            assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        }
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn the_error_names_the_directory_and_says_what_the_system_says() {
        let path = std::env::current_exe().unwrap().join("data");
        let error = check(&path).unwrap_err();
        let expected = format!("data directory {} cannot be used", path.display());
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.source.kind(), io::ErrorKind::NotADirectory);
    }
}
