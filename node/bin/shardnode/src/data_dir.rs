// SPDX-License-Identifier: Apache-2.0
//! Whether the node can keep anything in its data directory, and read what is
//! there.

use shardnode_primitives::namespace::FORMATS;
use std::{
    fs::{self, File},
    io::{self, Write as _},
    path::{Path, PathBuf},
};

/// No store can have this name: theirs have no dots.
const PROBE: &str = ".probe";
/// As much as a node may write at once: on a disk without that much room it
/// soon ends.
const PROBE_BYTES: usize = 1 << 20;

/// Says in decimal digits which [`FORMATS`] everything beside it has. A
/// directory without it is of version 1, or empty.
const MARK: &str = ".formats";
const NEW_MARK: &str = ".formats.new";
/// What can be in a directory that no node has used.
const NO_STORES: [&str; 2] = [NEW_MARK, "lost+found"];

/// Why a data directory is not used.
#[derive(Debug, thiserror::Error)]
pub enum Unusable {
    /// No file can be made, written or made durable in it.
    #[error("data directory {} cannot be used", path.display())]
    System {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A node with other formats wrote it.
    #[error(
        "data directory {} has formats {got}, this node reads {FORMATS}: start the node that \
         wrote it, or begin with an empty one", path.display()
    )]
    Formats {
        /// The directory.
        path: PathBuf,
        /// What its mark says.
        got: String,
    },
}

/// Makes the directory unless it is there, and tries it out with a file.
pub fn check(path: &Path) -> Result<(), Unusable> {
    probe(path).map_err(|source| system(path, source))
}

/// Looks at the version of what is in the directory, and marks one without a
/// mark as version 1.
pub fn formats(path: &Path) -> Result<(), Unusable> {
    const FIRST: u16 = 1;
    let mark = path.join(MARK);
    let got = match fs::read(&mark) {
        Ok(got) => String::from_utf8_lossy(&got).trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names = fs::read_dir(path).map_err(|source| system(path, source))?;
            let old = names.flatten().any(|entry| {
                let name = entry.file_name();
                !NO_STORES.iter().any(|other| name == *other)
            });
            let version = if old { FIRST } else { FORMATS };
            // Renamed, so that a node that is killed leaves all of it or none.
            let new = path.join(NEW_MARK);
            let written = write(&new, version.to_string().as_bytes());
            let marked = written
                .and_then(|()| fs::rename(&new, &mark))
                .and_then(|()| File::open(path)?.sync_all());
            marked.map_err(|source| system(path, source))?;
            version.to_string()
        }
        Err(source) => return Err(system(path, source)),
    };
    if got == FORMATS.to_string() {
        return Ok(());
    }
    let path = path.into();
    Err(Unusable::Formats { path, got })
}

fn system(path: &Path, source: io::Error) -> Unusable {
    let path = path.into();
    Unusable::System { path, source }
}

fn probe(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)?;
    let probe = path.join(PROBE);
    let written = write(&probe, &vec![0; PROBE_BYTES]);
    match fs::remove_file(&probe) {
        // A file that could not be made cannot be removed either.
        Err(error) if written.is_ok() => Err(error),
        _ => written,
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
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
        let Unusable::System { source, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(source.kind(), io::ErrorKind::NotADirectory);
    }

    #[test]
    fn a_directory_of_other_formats_is_refused_and_stays_as_it_is() {
        let path = std::env::temp_dir().join(format!("shardnode-formats-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        // Empty, then with the mark, then as before there were marks.
        formats(&path).unwrap();
        formats(&path).unwrap();
        fs::remove_file(path.join(MARK)).unwrap();
        fs::write(path.join("store"), "bytes").unwrap();
        let refused = |mark: &str| {
            let error = formats(&path).unwrap_err().to_string();
            let expected = format!("has formats {mark}, this node reads {FORMATS}");
            assert!(error.contains(&expected), "{error}");
            assert_eq!(fs::read_to_string(path.join(MARK)).unwrap(), mark);
        };
        refused("1");
        let next = (FORMATS + 1).to_string();
        for mark in ["1", &next, "", "what"] {
            fs::write(path.join(MARK), mark).unwrap();
            refused(mark);
        }
        fs::remove_dir_all(path).unwrap();
    }
}
