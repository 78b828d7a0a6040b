// SPDX-License-Identifier: Apache-2.0
//! On a real disk: what the kernel says is open.

use commonware_runtime::{
    Blob as _, ReadOptions, Runner as _, Storage as _, WriteOptions,
    tokio::{Config, Runner},
};
use commonware_utils::NZUsize;
use shardnode_open_files::Bounded;
use std::{fs, path::Path};

const BOUND: usize = 4;
const FILES: u8 = 60;

/// Files in `folder` that the process has open.
fn open_in(folder: &Path) -> usize {
    let links = fs::read_dir("/proc/self/fd").unwrap();
    links
        .filter_map(|link| fs::read_link(link.ok()?.path()).ok())
        .filter(|file| file.starts_with(folder) && file.is_file())
        .count()
}

#[test]
fn no_more_is_open_than_may_be() {
    let folder = std::env::temp_dir().join(format!("open-files-{}", std::process::id()));
    let config = Config::new().with_storage_directory(folder.clone());
    let within = folder.join("files");
    Runner::new(config).start(|context| async move {
        let storage = Bounded::new(context, NZUsize!(BOUND));
        let mut files = Vec::new();
        for name in 0..FILES {
            let (file, _) = storage.open("files", &[name]).await.unwrap();
            let options = WriteOptions::default();
            file.write_at(0, vec![name; 5_000], options).await.unwrap();
            match name % 2 {
                0 => file.sync().await.unwrap(),
                _ => file.start_sync().await.await.unwrap(),
            }
            files.push(file);
            assert!(open_in(&within) <= BOUND);
        }
        for (options, most) in [
            (ReadOptions::default(), BOUND),
            // Past the page cache a blob takes two files.
            (ReadOptions::DONT_CACHE, 2 * BOUND),
        ] {
            for (name, file) in (0..FILES).zip(&files) {
                let read = file.read_at(4_000, 100, options).await.unwrap();
                assert_eq!(read.coalesce().as_ref(), [name; 100]);
                assert!(open_in(&within) <= most);
                assert!(storage.open_count().get() <= BOUND);
            }
        }
        storage.remove("files", Some(&[0])).await.unwrap();
        let read = files[0].read_at(0, 1, ReadOptions::default()).await;
        assert_eq!(read.unwrap().coalesce().as_ref(), [0]);
        assert!(!within.join("00").exists());
        drop(files);
        assert_eq!(storage.open_count().get(), 0);
        assert_eq!(open_in(&within), 0);
    });
    fs::remove_dir_all(&folder).unwrap();
}
