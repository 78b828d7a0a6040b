// SPDX-License-Identifier: Apache-2.0
//! Takes samples of what is allocated.

use crate::{
    MEAN_INTERVAL_BYTES, Profile, ProfileError, Subject,
    encoding::encode,
    table::{Table, Weight},
};
use std::{
    borrow::Cow,
    cell::Cell,
    ffi::{CStr, CString},
    hash::{BuildHasher as _, RandomState},
    sync::{
        OnceLock, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant, SystemTime},
};

/// The most samples of a profile.
const MAX_SAMPLES: usize = 65_536;
/// The most frames of a stack, the innermost.
const MAX_DEPTH: usize = 128;
/// What a thread is called that has no name.
const UNNAMED: &str = "unnamed";

/// Whether a profile is taken.
static ON: AtomicBool = AtomicBool::new(false);
/// The profile that is taken. Threads that allocate never wait for it: it is locked
/// only when a profile begins and when it ends, and who finds it so takes no sample.
static RECORDING: RwLock<Option<Recording>> = RwLock::new(None);
/// How many profiles there were.
static PROFILES: AtomicU64 = AtomicU64::new(0);

/// How far a thread is from its next sample.
#[derive(Clone, Copy)]
pub(crate) struct Course {
    /// The profile that it is of.
    profile: u64,
    /// The allocation that has the last of so many bytes is sampled.
    until: u64,
}

impl Course {
    pub(crate) const NONE: Self = Self {
        profile: 0,
        until: 0,
    };
}

pub(crate) fn are_sampled() -> bool {
    ON.load(Relaxed)
}

/// Samples an allocation if it is due: the thread has passed so many bytes since it
/// was here, the last of them by this allocation. Returns how many it may pass
/// before it has to be here again.
pub(crate) fn pass(course: &Cell<Course>, passed: u64, bytes: u64) -> u64 {
    let Ok(recording) = RECORDING.try_read() else {
        return u64::MAX;
    };
    let Some(recording) = &*recording else {
        return u64::MAX;
    };
    let before = course.get();
    let left = if before.profile == recording.number {
        before.until.checked_sub(passed)
    } else {
        // Of what it passed, only this was surely allocated within the profile.
        recording.interval().checked_sub(bytes)
    };
    let until = left.filter(|left| *left > 0).unwrap_or_else(|| {
        recording.take(bytes);
        recording.interval()
    });
    course.set(Course {
        profile: recording.number,
        until,
    });
    until - 1
}

/// What is recorded of a profile.
struct Recording {
    number: u64,
    began: (SystemTime, Instant),
    /// Intervals are hashes of their numbers.
    random: RandomState,
    intervals: AtomicU64,
    samples: Box<[OnceLock<Sample>]>,
    /// How many there are, and were lost for want of a place.
    taken: AtomicUsize,
}

/// An allocation.
struct Sample {
    bytes: u64,
    /// The name that the kernel has for its thread; `None` if it tells none.
    thread: Option<CString>,
    /// The addresses that its functions go on at, the innermost first.
    stack: Box<[usize]>,
}

impl Recording {
    #[allow(
        clippy::disallowed_methods,
        reason = "a profile is of a process in real time"
    )]
    fn new() -> Self {
        Self {
            number: PROFILES.fetch_add(1, Relaxed) + 1,
            began: (SystemTime::now(), Instant::now()),
            random: RandomState::new(),
            intervals: AtomicU64::new(0),
            samples: (0..MAX_SAMPLES).map(|_| OnceLock::new()).collect(),
            taken: AtomicUsize::new(0),
        }
    }

    /// The bytes to the next sample: as if each byte were sampled by itself, with the
    /// same chance.
    #[allow(clippy::cast_possible_truncation, reason = "it is far below the limit")]
    fn interval(&self) -> u64 {
        let drawn = self.intervals.fetch_add(1, Relaxed);
        // One of 2^53 numbers above 0 and up to 1.
        let uniform = ((self.random.hash_one(drawn) >> 11) + 1) as f64 / (1_u64 << 53) as f64;
        ((-uniform.ln() * f64::from(MEAN_INTERVAL_BYTES)) as u64).saturating_add(1)
    }

    #[inline(never)]
    fn take(&self, bytes: u64) {
        let Some(place) = self.samples.get(self.taken.fetch_add(1, Relaxed)) else {
            return;
        };
        let mut stack = Vec::with_capacity(MAX_DEPTH);
        // SAFETY: on the systems that the node runs on, the unwinder may be called by
        // several threads at once: what has to be synchronized is the library of
        // another system.
        unsafe {
            backtrace::trace_unsynchronized(|frame| {
                stack.push(frame.ip().addr());
                stack.len() < MAX_DEPTH
            });
        }
        // Nobody else has this place.
        let _ = place.set(Sample {
            bytes,
            // Asked of the kernel: the library's own handle must not be asked for by
            // an allocator, nor by a thread that ends.
            thread: rustix::thread::name().ok(),
            stack: stack.into(),
        });
    }

    fn lost(&self) -> usize {
        self.taken.load(Relaxed).saturating_sub(MAX_SAMPLES)
    }
}

/// A profile that is being taken. Dropped, it ends without one.
pub(crate) struct Allocations {
    number: u64,
}

impl Allocations {
    pub(crate) fn begin() -> Result<Self, ProfileError> {
        let recording = Recording::new();
        let number = recording.number;
        let mut current = RECORDING.write().unwrap_or_else(PoisonError::into_inner);
        if current.is_some() {
            return Err(ProfileError::Ongoing);
        }
        *current = Some(recording);
        ON.store(true, Relaxed);
        Ok(Self { number })
    }

    pub(crate) fn is_full(&self) -> bool {
        let current = RECORDING.read().unwrap_or_else(PoisonError::into_inner);
        let own = current.as_ref().filter(|own| own.number == self.number);
        own.is_some_and(|own| own.taken.load(Relaxed) >= MAX_SAMPLES)
    }

    #[allow(
        clippy::disallowed_methods,
        reason = "a profile is of a process in real time"
    )]
    pub(crate) fn finish(self, subject: &Subject<'_>) -> Result<Profile, ProfileError> {
        let recording = self.end().ok_or(ProfileError::Ongoing)?;
        let (began, beginning) = recording.began;
        let (lasted, lost) = (Instant::now() - beginning, recording.lost());
        let mut table = Table::default();
        let mut samples = 0;
        for sample in recording
            .samples
            .into_iter()
            .filter_map(OnceLock::into_inner)
        {
            samples += 1;
            let weight = weigh(sample.bytes);
            table.add(&name(sample.thread.as_deref()), &sample.stack, weight);
        }
        let began = began.duration_since(SystemTime::UNIX_EPOCH);
        let mut profile = table.finish();
        profile.time_nanos = nanoseconds(began.unwrap_or_default());
        profile.duration_nanos = nanoseconds(lasted);
        Ok(Profile {
            samples,
            bytes: encode(profile, subject, lost)?,
        })
    }

    /// Ends it, if it goes on.
    fn end(&self) -> Option<Recording> {
        let mut current = RECORDING.write().unwrap_or_else(PoisonError::into_inner);
        let ended = current.take_if(|own| own.number == self.number);
        if ended.is_some() {
            ON.store(false, Relaxed);
        }
        ended
    }
}

impl Drop for Allocations {
    fn drop(&mut self) {
        self.end();
    }
}

/// What a sample of an allocation of so many bytes stands for: the smaller an
/// allocation, the fewer like it are sampled.
fn weigh(bytes: u64) -> Weight {
    let bytes = bytes as f64;
    let sampled = -(-bytes / f64::from(MEAN_INTERVAL_BYTES)).exp_m1();
    Weight {
        objects: 1.0 / sampled,
        bytes: bytes / sampled,
    }
}

fn name(thread: Option<&CStr>) -> Cow<'_, str> {
    thread.map_or(Cow::Borrowed(UNNAMED), CStr::to_string_lossy)
}

fn nanoseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}
