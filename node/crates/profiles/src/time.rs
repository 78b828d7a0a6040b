// SPDX-License-Identifier: Apache-2.0
//! Takes samples of what processors do.

use crate::{
    FREQUENCY_HERTZ, MAX_SPILLED_BYTES, Profile, ProfileError, Subject,
    encoding::{encode, wrong},
};
use pprof::{Frames, ProfilerGuard, ProfilerGuardBuilder, Report, UnresolvedReport};
use std::{
    collections::HashMap,
    fs, io,
    path::{Path, PathBuf},
    sync::OnceLock,
};

/// Where a stack may be half made: the libraries that are called to make one,
/// and what the kernel maps.
const LEFT_OUT: [&str; 4] = ["libc.so", "libgcc", "pthread", "vdso"];

/// A profile that is being taken. Dropped, it ends without one.
pub(crate) struct Time {
    guard: ProfilerGuard<'static>,
    spill: &'static Path,
}

impl Time {
    pub(crate) fn begin(folder: &Path) -> Result<Self, ProfileError> {
        let spill = open(folder).map_err(ProfileError::Folder)?;
        let guard = ProfilerGuardBuilder::default()
            .frequency(FREQUENCY_HERTZ.cast_signed())
            .blocklist(&LEFT_OUT)
            .build()
            .map_err(ProfileError::Samples)?;
        Ok(Self { guard, spill })
    }

    pub(crate) fn is_full(&self) -> bool {
        bytes(self.spill) >= MAX_SPILLED_BYTES
    }

    pub(crate) fn finish(self, subject: &Subject<'_>) -> Result<Profile, ProfileError> {
        let UnresolvedReport { data, timing } = self
            .guard
            .report()
            .build_unresolved()
            .map_err(ProfileError::Samples)?;
        drop(self);
        let mut named: HashMap<Frames, isize> = HashMap::new();
        for (stack, count) in data {
            *named.entry(Frames::from(stack)).or_default() += count;
        }
        let samples = named.values().sum::<isize>();
        let report = Report {
            data: named,
            timing,
        };
        Ok(Profile {
            samples: u64::try_from(samples).unwrap_or_default(),
            bytes: encode(report.pprof().map_err(|error| wrong(&error))?, subject, 0)?,
        })
    }
}

/// Where the samples of this process go that have no place in memory: the library
/// keeps a file there from the first profile on, and makes the next one at the end
/// of each.
static SPILL: OnceLock<PathBuf> = OnceLock::new();

/// Makes the folder, if it is the first time. It is empty: what an earlier process
/// left there is removed.
fn open(folder: &Path) -> io::Result<&'static Path> {
    if let Some(open) = SPILL.get() {
        return Ok(open);
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => fs::create_dir_all(folder)?,
    }
    // Of the whole process, which has no other temporary files. It is said once.
    let _ = tempfile::env::override_temp_dir(folder);
    Ok(SPILL.get_or_init(|| folder.into()))
}

fn bytes(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files
        .filter_map(|file| file.metadata().ok())
        .map(|metadata| metadata.len())
        .sum()
}
