// SPDX-License-Identifier: Apache-2.0
//! What a program has that takes the place of a node: a copy of its data, and a
//! configuration that names that.

use shardnode_config::Config;
use std::{
    fs, io,
    path::{Path, PathBuf},
};

/// What is after the name of the data directory in the names of both, which are beside
/// it.
const DATA: &str = ".aside";
const CONFIG: &str = ".aside.json";
/// Not the node's, and not to be read: of a file system that is mounted there.
const RESCUED: &str = "lost+found";

/// The files of a program in the place of the node.
#[derive(Debug)]
pub(super) struct Double {
    pub(super) config: PathBuf,
    data: PathBuf,
}

impl Double {
    /// The double of the node with this data directory. A double has none: its data is
    /// not another's to remove.
    pub(super) fn of(data_dir: &Path) -> Option<Self> {
        let name = data_dir.file_name()?;
        let beside = |end| {
            let mut name = name.to_os_string();
            name.push(end);
            data_dir.with_file_name(name)
        };
        let is_double = name.as_encoded_bytes().ends_with(DATA.as_bytes());
        (!is_double).then(|| Self {
            config: beside(CONFIG),
            data: beside(DATA),
        })
    }

    /// Makes the files, from those of a node that has ended.
    pub(super) fn make(&self, config: &Path, data_dir: &Path) -> io::Result<()> {
        self.remove()?;
        copy(data_dir, &self.data)?;
        fs::write(&self.config, Config::moved(config, &self.data)?)
    }

    /// Removes them, if they are there.
    pub(super) fn remove(&self) -> io::Result<()> {
        missing_is_fine(fs::remove_dir_all(&self.data))?;
        missing_is_fine(fs::remove_file(&self.config))
    }
}

fn missing_is_fine(removed: io::Result<()>) -> io::Result<()> {
    // In a file, nothing is.
    const MISSING: [io::ErrorKind; 2] = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    match removed {
        Err(error) if MISSING.contains(&error.kind()) => Ok(()),
        other => other,
    }
}

/// Copies a folder, and all that is in it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_name() == RESCUED {
            continue;
        }
        let to = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &to)?;
        } else {
            fs::copy(entry.path(), to)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_double_has_what_the_node_had_and_leaves_nothing() {
        let root = std::env::temp_dir().join(format!("shardnode-double-{}", std::process::id()));
        let data = root.join("data");
        fs::create_dir_all(data.join("store/blobs")).unwrap();
        fs::write(data.join("store/blobs/0"), b"state").unwrap();
        fs::write(data.join(".formats"), b"1").unwrap();
        fs::create_dir_all(data.join("lost+found")).unwrap();
        let config = root.join("config.json");
        fs::write(
            &config,
            r#"{"network": "net", "node": "n", "region": "local", "role": "rpc", "genesisFile": "g",
                "keyFile": "k", "dataDir": "data", "p2p": {"listen": "127.0.0.1:0", "peersFile": "p"},
                "http": {"listen": "127.0.0.1:0"}}"#,
        )
        .unwrap();

        let double = Double::of(&data).unwrap();
        for _ in 0..2 {
            double.make(&config, &data).unwrap();
            let copy = root.join("data.aside");
            assert_eq!(fs::read(copy.join("store/blobs/0")).unwrap(), b"state");
            assert_eq!(fs::read(copy.join(".formats")).unwrap(), b"1");
            assert!(!copy.join("lost+found").exists());
            let moved = fs::read_to_string(&double.config).unwrap();
            assert!(moved.contains(copy.to_str().unwrap()), "{moved}");
            // What one has written, the next one does not have.
            fs::write(copy.join("more"), b"").unwrap();
        }
        assert!(root.join("data.aside/more").exists());
        double.make(&config, &data).unwrap();
        assert!(!root.join("data.aside/more").exists());
        for _ in 0..2 {
            double.remove().unwrap();
            assert!(!root.join("data.aside").exists() && !double.config.exists());
        }
        assert_eq!(fs::read(data.join("store/blobs/0")).unwrap(), b"state");
        assert!(Double::of(&root.join("data.aside")).is_none());
        Double::of(&config.join("data")).unwrap().remove().unwrap();
        fs::remove_dir_all(root).unwrap();
    }
}
