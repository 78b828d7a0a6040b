// SPDX-License-Identifier: Apache-2.0
//! What the kernel uses for this node's TCP connections, as `/proc/sys` tells
//! it. All of these settings belong to a network namespace, and `/proc/sys`
//! shows those of the reader's: in a pod, the pod's own.

use shardnode_rpc::TcpStatus;
use std::{fs, path::Path, str::FromStr};

/// The settings as they are now; without those that cannot be read.
#[must_use]
pub fn settings() -> TcpStatus {
    Sysctls(Path::new("/proc/sys/net")).settings()
}

/// A folder with one file a setting.
struct Sysctls<'a>(&'a Path);

impl Sysctls<'_> {
    fn settings(&self) -> TcpStatus {
        TcpStatus {
            congestion_control: self.one("ipv4/tcp_congestion_control"),
            max_syn_backlog: self.one("ipv4/tcp_max_syn_backlog"),
            mtu_probing: self.one("ipv4/tcp_mtu_probing"),
            slow_start_after_idle: self.one("ipv4/tcp_slow_start_after_idle"),
            no_metrics_save: self.one("ipv4/tcp_no_metrics_save"),
            somaxconn: self.one("core/somaxconn"),
            rmem: self.values("ipv4/tcp_rmem"),
            wmem: self.values("ipv4/tcp_wmem"),
        }
    }

    /// A setting that is a single value.
    fn one<T: FromStr>(&self, name: &str) -> Option<T> {
        let [value] = self.values(name)?;
        Some(value)
    }

    /// A setting of exactly `N` values.
    fn values<T: FromStr, const N: usize>(&self, name: &str) -> Option<[T; N]> {
        let text = fs::read_to_string(self.0.join(name)).ok()?;
        let values: Result<Vec<T>, _> = text.split_ascii_whitespace().map(str::parse).collect();
        values.ok()?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with these settings; each test has its own.
    fn settings_of(test: &str, sysctls: &[(&str, &str)]) -> TcpStatus {
        let folder = std::env::temp_dir().join(format!("shardnode-{}-{test}", std::process::id()));
        for (name, value) in sysctls {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, value).unwrap();
        }
        let settings = Sysctls(&folder).settings();
        if folder.exists() {
            fs::remove_dir_all(folder).unwrap();
        }
        settings
    }

    const NOTHING: TcpStatus = TcpStatus {
        congestion_control: None,
        max_syn_backlog: None,
        mtu_probing: None,
        slow_start_after_idle: None,
        no_metrics_save: None,
        somaxconn: None,
        rmem: None,
        wmem: None,
    };

    #[test]
    fn each_setting_is_read_from_its_file() {
        let settings = settings_of(
            "all",
            &[
                ("ipv4/tcp_congestion_control", "bbr\n"),
                ("ipv4/tcp_max_syn_backlog", "8096\n"),
                ("ipv4/tcp_mtu_probing", "1\n"),
                ("ipv4/tcp_slow_start_after_idle", "0\n"),
                ("ipv4/tcp_no_metrics_save", "2\n"),
                ("core/somaxconn", "4096\n"),
                ("ipv4/tcp_rmem", "10240\t87380\t134217728\n"),
                ("ipv4/tcp_wmem", "4096\t16384\t8388608\n"),
            ],
        );
        let expected = TcpStatus {
            congestion_control: Some("bbr".into()),
            max_syn_backlog: Some(8_096),
            mtu_probing: Some(1),
            slow_start_after_idle: Some(0),
            no_metrics_save: Some(2),
            somaxconn: Some(4_096),
            rmem: Some([10_240, 87_380, 134_217_728]),
            wmem: Some([4_096, 16_384, 8_388_608]),
        };
        assert_eq!(settings, expected);
    }

    #[test]
    fn what_cannot_be_read_is_left_out() {
        assert_eq!(settings_of("none", &[]), NOTHING);
        let settings = settings_of(
            "damaged",
            &[
                ("ipv4/tcp_congestion_control", "\n"),
                ("ipv4/tcp_max_syn_backlog", "many\n"),
                ("ipv4/tcp_mtu_probing", "-1\n"),
                ("ipv4/tcp_rmem", "1 2\n"),
                ("ipv4/tcp_wmem", "1 2 3 4\n"),
                ("core/somaxconn", "128\n"),
            ],
        );
        let expected = TcpStatus {
            somaxconn: Some(128),
            ..NOTHING
        };
        assert_eq!(settings, expected);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_tells_how_it_controls_congestion() {
        let available = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
        let used = settings().congestion_control.unwrap();
        let available = available.unwrap();
        assert!(
            available.split_whitespace().any(|name| name == used),
            "{used} is not among {available}"
        );
    }
}
