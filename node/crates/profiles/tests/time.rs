// SPDX-License-Identifier: Apache-2.0
//! A profile of the CPU time of this process.

// What is profiled is a process in real time.
#![allow(clippy::unwrap_used, clippy::disallowed_methods)]

use flate2::read::GzDecoder;
use pprof::protos::{Message as _, Profile};
use shardnode_profiles::{ProfileError, Sampling, Subject};
use std::{
    fs,
    hint::black_box,
    io::Read as _,
    path::Path,
    thread,
    time::{Duration, Instant},
};

const SUBJECT: Subject<'static> = Subject {
    network: "test",
    node: "test-s0-p0",
    first_height: 12,
    last_height: 14,
};

/// As long as this machine may take for it, however busy it is.
const PATIENCE: Duration = Duration::from_mins(1);

/// The CPU time of this process, by which samples are taken: of the time that passes, a busy
/// machine leaves it little.
fn cpu_time() -> Duration {
    let told = fs::read_to_string("/proc/self/stat").unwrap();
    // After the name of the program, which may have spaces, the 12th and the 13th are in
    // hundredths of a second, in user mode and in the kernel.
    let (_, fields) = told.rsplit_once(')').unwrap();
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks = ticks.map(|ticks| ticks.parse::<u64>().unwrap());
    Duration::from_millis(10 * ticks.sum::<u64>())
}

#[inline(never)]
fn turn_the_crank(work: Duration) -> u64 {
    let (begun, done) = (Instant::now(), cpu_time() + work);
    let mut turned = 0u64;
    while cpu_time() < done && begun.elapsed() < PATIENCE {
        for step in 0..1_000_000 {
            turned = black_box(turned.rotate_left(7) ^ step);
        }
    }
    turned
}

fn read(bytes: &[u8]) -> Profile {
    let mut plain = Vec::new();
    GzDecoder::new(bytes).read_to_end(&mut plain).unwrap();
    Profile::parse_from_bytes(&plain).unwrap()
}

/// One test, for there is one profile at a time in a process.
#[test]
fn profiles() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profiles");

    // What an earlier process left.
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("left"), "").unwrap();

    let sampling = Sampling::of_time(&folder).unwrap();
    assert!(!folder.join("left").exists());
    let second = Sampling::of_time(&folder);
    assert!(matches!(second, Err(ProfileError::Samples(_))));
    assert!(!sampling.is_full());
    let crank = thread::Builder::new().name("crank".into());
    let crank = crank.spawn(|| turn_the_crank(Duration::from_secs(1)));
    crank.unwrap().join().unwrap();
    let profile = sampling.finish(&SUBJECT).unwrap();
    // 250, but for how finely this machine measures CPU time.
    assert!((10..=500).contains(&profile.samples), "{}", profile.samples);

    let file = read(&profile.bytes);
    let text = |index: i64| file.string_table[usize::try_from(index).unwrap()].as_str();
    let comments: Vec<_> = file.comment.iter().map(|at| text(*at)).collect();
    let expected = [
        "network: test",
        "node: test-s0-p0",
        "first height: 12",
        "last height: 14",
    ];
    assert_eq!(comments, expected);
    assert_eq!((text(file.period_type.ty), file.period), ("cpu", 4_000_000));
    let busy = file.sample.iter().filter(|sample| {
        sample.location_id.iter().any(|id| {
            let function = &file.function[usize::try_from(id - 1).unwrap()];
            text(function.name).contains("turn_the_crank")
        })
    });
    let of_crank: i64 = busy.clone().map(|sample| sample.value[0]).sum();
    assert!(of_crank >= i64::try_from(profile.samples).unwrap() / 2);
    for sample in busy {
        let labels: Vec<_> = sample
            .label
            .iter()
            .map(|label| (text(label.key), text(label.str)))
            .collect();
        assert_eq!(labels, [("thread", "crank"), ("node", "test-s0-p0")]);
    }

    // Nothing of it goes on, and it can be done again.
    turn_the_crank(Duration::from_millis(50));
    drop(Sampling::of_time(&folder).unwrap());
    let idle = Sampling::of_time(&folder).unwrap();
    let profile = idle.finish(&SUBJECT).unwrap();
    assert!(profile.samples < 10, "{}", profile.samples);
}
