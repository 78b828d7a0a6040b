// SPDX-License-Identifier: Apache-2.0
//! A profile that is being taken, of whichever kind.

use crate::{ProfileError, Subject, allocations::Allocations, time::Time};
use std::path::Path;

/// A profile that is being taken. Dropped, it ends without one.
pub struct Sampling(Kind);

enum Kind {
    Time(Time),
    Allocations(Allocations),
}

/// A profile.
pub struct Profile {
    /// How many samples it has.
    pub samples: u64,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Sampling {
    /// Begins a profile of CPU time. What has no place in memory goes into a
    /// `folder`, which is made anew by the first profile of the process, and used by
    /// all.
    pub fn of_time(folder: &Path) -> Result<Self, ProfileError> {
        Time::begin(folder).map(Kind::Time).map(Self)
    }

    /// Begins a profile of what is allocated.
    pub fn of_allocations() -> Result<Self, ProfileError> {
        Allocations::begin().map(Kind::Allocations).map(Self)
    }

    /// Whether it has as many samples as it may.
    #[must_use]
    pub fn is_full(&self) -> bool {
        match &self.0 {
            Kind::Time(time) => time.is_full(),
            Kind::Allocations(allocations) => allocations.is_full(),
        }
    }

    /// Ends the profile, and makes the file, which takes a second of CPU time or
    /// more: function names are looked up now.
    pub fn finish(self, subject: &Subject<'_>) -> Result<Profile, ProfileError> {
        match self.0 {
            Kind::Time(time) => time.finish(subject),
            Kind::Allocations(allocations) => allocations.finish(subject),
        }
    }
}
