// SPDX-License-Identifier: Apache-2.0
//! What the process uses and may use, as the kernel tells it, mostly in `/proc`.

use crate::open_files::soft_limit;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use std::{fmt, fs};

/// Clock ticks of `/proc` per second: part of the kernel's interface, and the
/// same on every architecture that is in use.
const TICKS_PER_SECOND: f64 = 100.0;

/// User and system CPU time of the process since it started; 0 where there is
/// no `/proc`.
pub fn cpu_seconds() -> f64 {
    fs::read_to_string("/proc/self/stat")
        .ok()
        .and_then(|stat| parse_cpu_seconds(&stat))
        .unwrap_or_default()
}

/// Resident memory of the process; 0 where there is no `/proc`.
fn resident_bytes() -> u64 {
    fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|status| parse_resident_bytes(&status))
        .unwrap_or_default()
}

/// Files that the process has open; nothing where there is no `/proc`.
fn open_files() -> Option<u64> {
    let open = fs::read_dir("/proc/self/fd").ok()?.count();
    // One of them is the directory itself, open to be read.
    u64::try_from(open).ok()?.checked_sub(1)
}

/// The fields `utime` and `stime`, numbers 14 and 15.
fn parse_cpu_seconds(stat: &str) -> Option<f64> {
    // The second field is the program's name in parentheses, which can hold
    // spaces and parentheses itself.
    let (_, fields) = stat.rsplit_once(") ")?;
    let mut ticks = fields
        .split_ascii_whitespace()
        .skip(11)
        .map(|field| field.parse::<u32>().ok().map(f64::from));
    let (user, system) = (ticks.next()??, ticks.next()??);
    Some((user + system) / TICKS_PER_SECOND)
}

fn parse_resident_bytes(status: &str) -> Option<u64> {
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix("VmRSS:"))?
        .trim()
        .strip_suffix(" kB")?;
    kibibytes.parse::<u64>().ok()?.checked_mul(1_024)
}

/// `shardnode_process_cpu_seconds_total`,
/// `shardnode_process_resident_memory_bytes`, `shardnode_process_open_files`
/// and `shardnode_process_open_files_limit`.
#[derive(Debug)]
pub struct ProcessMetrics;

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let cpu = ConstCounter::new(cpu_seconds());
        cpu.encode(encoder.encode_descriptor(
            "process_cpu",
            "User and system CPU time",
            Some(&Unit::Seconds),
            cpu.metric_type(),
        )?)?;
        let memory = gauge(resident_bytes());
        memory.encode(encoder.encode_descriptor(
            "process_resident_memory",
            "Resident memory",
            Some(&Unit::Bytes),
            memory.metric_type(),
        )?)?;
        for (name, help, value) in [
            ("process_open_files", "Open files", open_files()),
            ("process_open_files_limit", "Most open files", soft_limit()),
        ] {
            if let Some(value) = value {
                let gauge = gauge(value);
                let kind = gauge.metric_type();
                gauge.encode(encoder.encode_descriptor(name, help, None, kind)?)?;
            }
        }
        Ok(())
    }
}

fn gauge(value: u64) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::{encoding::text, registry::Registry};

    #[test]
    fn cpu_time_is_user_and_system() {
        let stat = "42 (a) S (b) R 1 2 3 4 5 6 7 8 9 10 250 50 99 99 20 0";
        assert_eq!(parse_cpu_seconds(stat), Some(3.0));
        assert_eq!(parse_cpu_seconds("42 (a) R 1 2 3"), None);
        assert_eq!(parse_cpu_seconds(""), None);
    }

    #[test]
    fn resident_memory_is_in_kibibytes() {
        let status = "Name:\tshardnode\nVmRSS:\t    2048 kB\nThreads:\t3\n";
        assert_eq!(parse_resident_bytes(status), Some(2_097_152));
        assert_eq!(parse_resident_bytes("VmRSS:\t12 MB\n"), None);
        assert_eq!(parse_resident_bytes("Name:\tshardnode\n"), None);
    }

    #[test]
    fn this_process_uses_memory_and_time() {
        assert!(resident_bytes() > 100_000);
        let before = cpu_seconds();
        let mut hash = blake(0);
        while cpu_seconds() == before {
            hash = blake(hash);
        }
        assert!(cpu_seconds() > before, "{hash}");
    }

    #[test]
    fn open_files_are_counted() {
        let before = open_files().unwrap();
        assert!(before >= 3, "{before}");
        let held: Vec<_> = (0..100)
            .map(|_| fs::File::open("/proc/self/stat").unwrap())
            .collect();
        // Other tests open and close files meanwhile.
        assert!(open_files().unwrap() > before + 50);
        drop(held);
    }

    fn blake(seed: u64) -> u64 {
        (0..100_000).fold(seed, |sum, step| sum.rotate_left(7) ^ step)
    }

    #[test]
    fn metrics_have_the_names_of_the_node_contract() {
        let mut registry = Registry::with_prefix("shardnode");
        registry.register_collector(Box::new(ProcessMetrics));
        let mut encoded = String::new();
        text::encode(&mut encoded, &registry).unwrap();
        for name in [
            "\nshardnode_process_cpu_seconds_total ",
            "\nshardnode_process_resident_memory_bytes ",
            "\nshardnode_process_open_files ",
            "\nshardnode_process_open_files_limit ",
        ] {
            assert!(encoded.contains(name), "{encoded}");
        }
    }
}
