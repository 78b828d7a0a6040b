// SPDX-License-Identifier: Apache-2.0
//! Profiles of what this process allocates.

// What is profiled is a process in real time.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use flate2::read::GzDecoder;
use pprof::protos::{Message as _, Profile, Sample};
use shardnode_profiles::{
    Counting, MEAN_INTERVAL_BYTES, ProfileError, Sampling, Subject, allocated_bytes,
};
use std::{alloc::System, hint::black_box, io::Read as _, ops::RangeInclusive, thread};

#[global_allocator]
static ALLOCATOR: Counting<System> = Counting(System);

const SUBJECT: Subject<'static> = Subject {
    network: "test",
    node: "test-s0-p0",
    first_height: 12,
    last_height: 14,
};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;
const GIB: usize = 1 << 30;
/// What a thread may keep to itself, in a process of a few threads.
const UNTOLD: u64 = 4 * 64 * KIB as u64;

#[inline(never)]
fn fill_thimbles(bytes: usize) {
    for _ in 0..bytes / KIB {
        black_box(Vec::<u8>::with_capacity(KIB));
    }
}

#[inline(never)]
fn fill_barrels(bytes: usize) {
    for _ in 0..bytes / MIB {
        black_box(Vec::<u8>::with_capacity(MIB));
    }
}

#[inline(never)]
fn stretch_a_hose() {
    let mut hose = Vec::<u8>::with_capacity(64 * KIB);
    while hose.capacity() < 512 * MIB {
        hose.reserve_exact(black_box(hose.capacity() + 1).next_power_of_two());
    }
}

/// What a profile says of a function.
struct Seen {
    objects: i64,
    bytes: i64,
}

struct File {
    content: Profile,
    samples: u64,
}

impl File {
    fn finish(sampling: Sampling) -> Self {
        let profile = sampling.finish(&SUBJECT).unwrap();
        let mut plain = Vec::new();
        let mut file = GzDecoder::new(profile.bytes.as_slice());
        file.read_to_end(&mut plain).unwrap();
        Self {
            content: Profile::parse_from_bytes(&plain).unwrap(),
            samples: profile.samples,
        }
    }

    fn text(&self, index: i64) -> &str {
        &self.content.string_table[usize::try_from(index).unwrap()]
    }

    fn functions(&self, sample: &Sample) -> Vec<&str> {
        let ids = sample.location_id.iter();
        ids.map(|id| {
            let function = &self.content.function[usize::try_from(id - 1).unwrap()];
            self.text(function.name)
        })
        .collect()
    }

    fn of(&self, function: &str) -> Vec<&Sample> {
        let samples = self.content.sample.iter();
        samples
            .filter(|sample| {
                let mut functions = self.functions(sample).into_iter();
                functions.any(|name| name.contains(function))
            })
            .collect()
    }

    fn seen(&self, function: &str) -> Seen {
        let samples = self.of(function);
        Seen {
            objects: samples.iter().map(|sample| sample.value[0]).sum(),
            bytes: samples.iter().map(|sample| sample.value[1]).sum(),
        }
    }
}

/// Of a thousand samples and more, six standard deviations.
fn about(value: usize) -> RangeInclusive<i64> {
    let value = i64::try_from(value).unwrap();
    value - value / 6..=value + value / 6
}

/// One test, for what is counted and sampled is of the whole process.
#[test]
fn allocations() {
    // All is counted, on every thread, whether there is a profile or not.
    let before = allocated_bytes();
    fill_thimbles(64 * MIB);
    thread::spawn(|| fill_barrels(64 * MIB)).join().unwrap();
    let counted = allocated_bytes() - before;
    let expected = 128 * MIB as u64;
    assert!(
        (expected - UNTOLD..=expected + UNTOLD).contains(&counted),
        "{counted}"
    );

    // What was allocated before is in no profile.
    let sampling = Sampling::of_allocations().unwrap();
    let second = Sampling::of_allocations();
    assert!(matches!(second, Err(ProfileError::Ongoing)));
    assert!(!sampling.is_full());
    let filler = thread::Builder::new().name("filler".into());
    let filler = filler.spawn(|| fill_thimbles(GIB)).unwrap();
    fill_barrels(GIB);
    stretch_a_hose();
    filler.join().unwrap();
    let file = File::finish(sampling);

    let thimbles = file.seen("fill_thimbles");
    assert!(about(GIB).contains(&thimbles.bytes), "{}", thimbles.bytes);
    let objects = about(GIB / KIB).contains(&thimbles.objects);
    assert!(objects, "{}", thimbles.objects);
    let barrels = file.seen("fill_barrels");
    assert!(about(GIB).contains(&barrels.bytes), "{}", barrels.bytes);
    let objects = about(GIB / MIB).contains(&barrels.objects);
    assert!(objects, "{}", barrels.objects);
    // Each step counts as one of its whole size.
    let hose = file.seen("stretch_a_hose");
    assert!(hose.bytes >= i64::try_from(512 * MIB).unwrap());

    let content = &file.content;
    let comments: Vec<_> = content.comment.iter().map(|at| file.text(*at)).collect();
    let expected = [
        "network: test",
        "node: test-s0-p0",
        "first height: 12",
        "last height: 14",
    ];
    assert_eq!(comments, expected);
    let types: Vec<_> = content
        .sample_type
        .iter()
        .map(|kind| (file.text(kind.ty), file.text(kind.unit)))
        .collect();
    let expected = [("alloc_objects", "count"), ("alloc_space", "bytes")];
    assert_eq!(types, expected);
    assert_eq!(file.text(content.default_sample_type), "alloc_space");
    assert_eq!(content.period, i64::from(MEAN_INTERVAL_BYTES));
    for sample in file.of("fill_thimbles") {
        // What allocates and takes samples is no part of a stack.
        let functions = file.functions(sample);
        let own = |name: &str| {
            let parts = ["shardnode_profiles", "__rust_alloc"];
            name.starts_with("backtrace::") || parts.iter().any(|part| name.contains(part))
        };
        let innermost = functions.iter().take(4);
        assert!(!innermost.copied().any(own), "{functions:?}");
        let label = |key: &str| {
            let label = sample
                .label
                .iter()
                .find(|label| file.text(label.key) == key);
            file.text(label.unwrap().str)
        };
        assert_eq!((label("thread"), label("node")), ("filler", "test-s0-p0"));
    }

    // Nothing of it goes on, and it can be done again.
    fill_barrels(GIB);
    drop(Sampling::of_allocations().unwrap());
    let idle = File::finish(Sampling::of_allocations().unwrap());
    assert!(idle.samples < 10, "{}", idle.samples);

    // It says so when it is full, and what it lost.
    let sampling = Sampling::of_allocations().unwrap();
    while !sampling.is_full() {
        fill_barrels(GIB);
    }
    fill_barrels(GIB);
    let full = File::finish(sampling);
    assert_eq!(full.samples, 65_536);
    let lost = full.content.comment.iter().map(|at| full.text(*at));
    let lost = lost.filter_map(|comment| comment.strip_prefix("lost samples: "));
    let lost: Vec<usize> = lost.map(|lost| lost.parse().unwrap()).collect();
    assert!(lost[0] >= 500, "{lost:?}");
}
