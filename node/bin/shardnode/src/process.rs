// SPDX-License-Identifier: Apache-2.0
//! What the process uses and may use, as the kernel tells it, mostly in `/proc`.

use crate::open_files::soft_limit;
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeMetric as _},
    metrics::{counter::ConstCounter, gauge::ConstGauge},
    registry::Unit,
};
use shardnode_profiles::allocated_bytes;
use shardnode_rpc::{DiskStatus, MachineStatus, MemoryStatus};
use std::{fmt, fs, time::Duration};

/// One clock tick of `/proc`: part of the kernel's interface, and the same on
/// every architecture that is in use.
const TICK_MILLISECONDS: u64 = 10;

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
        .and_then(|status| parse_kibibytes(&status, "VmRSS:"))
        .unwrap_or_default()
}

/// Resident memory of the process by what it holds; `None` where the kernel does
/// not tell the two apart.
pub fn memory() -> Option<MemoryStatus> {
    parse_memory(&fs::read_to_string("/proc/self/status").ok()?)
}

/// What the process had disks read and write since it started; `None` where the
/// kernel does not count that.
pub fn disk() -> Option<DiskStatus> {
    parse_disk(&fs::read_to_string("/proc/self/io").ok()?)
}

/// What the processors of the machine did since it started; `None` where there
/// is no `/proc`.
pub fn machine() -> Option<MachineStatus> {
    parse_machine(&fs::read_to_string("/proc/stat").ok()?)
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
        .map(|field| field.parse::<u64>().ok());
    let (user, system) = (ticks.next()??, ticks.next()??);
    seconds(user.checked_add(system)?)
}

/// Clock ticks in seconds.
fn seconds(ticks: u64) -> Option<f64> {
    let time = Duration::from_millis(ticks.checked_mul(TICK_MILLISECONDS)?);
    Some(time.as_secs_f64())
}

fn parse_kibibytes(status: &str, field: &str) -> Option<u64> {
    let kibibytes = status
        .lines()
        .find_map(|line| line.strip_prefix(field))?
        .trim()
        .strip_suffix(" kB")?;
    kibibytes.parse::<u64>().ok()?.checked_mul(1_024)
}

fn parse_memory(status: &str) -> Option<MemoryStatus> {
    let anonymous_bytes = parse_kibibytes(status, "RssAnon:")?;
    let mapped = parse_kibibytes(status, "RssFile:")?;
    let file_bytes = mapped.checked_add(parse_kibibytes(status, "RssShmem:")?)?;
    // Kernels that do not count them have zeros.
    (anonymous_bytes > 0).then_some(MemoryStatus {
        anonymous_bytes,
        file_bytes,
    })
}

fn parse_disk(io: &str) -> Option<DiskStatus> {
    let bytes = |field| {
        let value = io.lines().find_map(|line| line.strip_prefix(field))?;
        value.trim().parse().ok()
    };
    Some(DiskStatus {
        read_bytes: bytes("read_bytes:")?,
        written_bytes: bytes("write_bytes:")?,
    })
}

/// The first line: `user`, `nice`, `system`, `idle`, `iowait`, `irq`, `softirq`
/// and `steal`, in ticks of all processors.
fn parse_machine(stat: &str) -> Option<MachineStatus> {
    let ticks: Vec<u64> = stat
        .lines()
        .next()?
        .strip_prefix("cpu ")?
        .split_ascii_whitespace()
        .map(|field| field.parse().ok())
        .collect::<Option<_>>()?;
    let [user, nice, system, _, _, irq, softirq, steal, ..] = ticks[..] else {
        return None;
    };
    let busy = [user, nice, system, irq, softirq]
        .into_iter()
        .try_fold(0_u64, u64::checked_add)?;
    Some(MachineStatus {
        busy_seconds: seconds(busy)?,
        stolen_seconds: seconds(steal)?,
    })
}

/// `shardnode_process_cpu_seconds_total`,
/// `shardnode_process_resident_memory_bytes`,
/// `shardnode_process_allocated_bytes_total`,
/// `shardnode_process_disk_read_bytes_total`,
/// `shardnode_process_disk_written_bytes_total`, `shardnode_process_open_files`
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
        let allocated = ConstCounter::new(allocated_bytes());
        allocated.encode(encoder.encode_descriptor(
            "process_allocated",
            "Allocated in all",
            Some(&Unit::Bytes),
            allocated.metric_type(),
        )?)?;
        if let Some(disk) = disk() {
            for (name, help, value) in [
                ("process_disk_read", "Read from disks", disk.read_bytes),
                (
                    "process_disk_written",
                    "Written to disks",
                    disk.written_bytes,
                ),
            ] {
                let counter = ConstCounter::new(value);
                let kind = counter.metric_type();
                let unit = Some(&Unit::Bytes);
                counter.encode(encoder.encode_descriptor(name, help, unit, kind)?)?;
            }
        }
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
    fn memory_is_in_kibibytes() {
        let status = "Name:\tshardnode\nVmRSS:\t    2048 kB\nThreads:\t3\n";
        assert_eq!(parse_kibibytes(status, "VmRSS:"), Some(2_097_152));
        assert_eq!(parse_kibibytes("VmRSS:\t12 MB\n", "VmRSS:"), None);
        assert_eq!(parse_kibibytes("Name:\tshardnode\n", "VmRSS:"), None);
        assert_eq!(parse_memory(status), None);
    }

    #[test]
    fn memory_is_told_by_what_it_holds() {
        let status = "VmRSS:\t 14 kB\nRssAnon:\t 8 kB\nRssFile:\t 4 kB\nRssShmem:\t 2 kB\n";
        let memory = MemoryStatus {
            anonymous_bytes: 8_192,
            file_bytes: 6_144,
        };
        assert_eq!(parse_memory(status), Some(memory));
        assert_eq!(parse_memory(&status.replace(" 8 kB", " 0 kB")), None);
        assert_eq!(parse_memory(&status.replace("RssShmem", "Rss")), None);
    }

    #[test]
    fn disks_are_told_by_the_process() {
        let io =
            "rchar: 9\nwchar: 8\nread_bytes: 4096\nwrite_bytes: 12288\ncancelled_write_bytes: 1\n";
        let disk = DiskStatus {
            read_bytes: 4_096,
            written_bytes: 12_288,
        };
        assert_eq!(parse_disk(io), Some(disk));
        assert_eq!(parse_disk("rchar: 9\nwchar: 8\n"), None);
        assert_eq!(parse_disk("read_bytes: -1\nwrite_bytes: 0\n"), None);
    }

    #[test]
    fn the_machine_is_told_by_all_its_processors() {
        let stat = "cpu  100 20 30 4000 500 6 7 80 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\n";
        let machine = MachineStatus {
            busy_seconds: 1.63,
            stolen_seconds: 0.8,
        };
        assert_eq!(parse_machine(stat), Some(machine));
        assert_eq!(parse_machine("cpu  100 20 30\n"), None);
        assert_eq!(parse_machine("cpu0 1 2 3 4 5 6 7 8\n"), None);
        assert_eq!(parse_machine(""), None);
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
            "\nshardnode_process_allocated_bytes_total ",
            "\nshardnode_process_disk_read_bytes_total ",
            "\nshardnode_process_disk_written_bytes_total ",
            "\nshardnode_process_open_files ",
            "\nshardnode_process_open_files_limit ",
        ] {
            assert!(encoded.contains(name), "{encoded}");
        }
    }
}
