// SPDX-License-Identifier: Apache-2.0
//! `shardnode run` on data directories that it cannot use: exit code 1, and a
//! last line that names the directory and says what the system says.

#![allow(clippy::print_stderr, clippy::unwrap_used)]

use commonware_cryptography::Signer as _;
use serde_json::json;
use shardnode_primitives::genesis::private_key;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const SHARDNODE: &str = env!("CARGO_BIN_EXE_shardnode");

/// The files of a network of one node; each test has its own.
fn files(test: &str, data_dir: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let config = json!({
        "network": "net", "node": "net-s0-p0", "region": "local", "role": "producer",
        "genesisFile": "genesis.json", "keyFile": "validator.key", "dataDir": data_dir,
        "p2p": {"listen": "127.0.0.1:0", "peersFile": "peers.json"},
        "http": {"listen": "127.0.0.1:0"},
    });
    let genesis = json!({
        "network": "net", "createdAtMs": 1_790_000_000_000u64, "seed": "5e".repeat(32),
        "shards": 1, "accounts": {"perShard": 10, "initialBalance": 1000},
        "protocol": {
            "executionLag": 1, "minBlockTimeMs": 10, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 100, "mandatesPerShard": 8, "epochLength": 1000, "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 10,
        },
        "validators": [{
            "name": "net-s0-p0", "publicKey": private_key([0; 32]).public_key().to_string(),
            "role": "producer", "shard": 0, "slot": 0, "stake": 1_000
        }],
    });
    fs::write(folder.join("config.json"), config.to_string()).unwrap();
    fs::write(folder.join("peers.json"), json!({"peers": []}).to_string()).unwrap();
    fs::write(folder.join("genesis.json"), genesis.to_string()).unwrap();
    fs::write(folder.join("validator.key"), "00".repeat(32)).unwrap();
    folder
}

fn assert_fails(output: &Output, last_line: &str) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    let last = errors.lines().next_back().unwrap();
    assert!(last.ends_with(last_line), "{errors}");
    assert!(last.contains(" ERROR "), "{errors}");
    errors.into_owned()
}

#[test]
fn a_directory_that_cannot_be_made() {
    let folder = files("not-a-directory", "validator.key/data");
    let output = Command::new(SHARDNODE)
        .args(["run", "--config", "config.json"])
        .current_dir(folder)
        .output()
        .unwrap();
    let errors = assert_fails(
        &output,
        "data directory validator.key/data cannot be used: Not a directory (os error 20)",
    );
    assert_eq!(errors.lines().count(), 1, "{errors}");
}

/// Runs the node on a disk of `size`, mounted where nobody else sees it, after
/// `preparation` in the directory above; `None` where the kernel does not allow
/// such a disk.
fn run_on_disk(test: &str, size: &str, preparation: &str) -> Option<Output> {
    let folder = files(test, "data");
    fs::create_dir(folder.join("data")).unwrap();
    let own_mounts = |script: &str| {
        Command::new("unshare")
            .args(["--map-root-user", "--mount", "sh", "-euc", script])
            .args(["sh", SHARDNODE, size])
            .current_dir(&folder)
            .output()
    };
    let mount = "mount -t tmpfs -o \"size=$2\" tmpfs data";
    if !own_mounts(mount).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no mount namespaces or no tmpfs here");
        return None;
    }
    let run = format!("{mount}; {preparation}; exec \"$1\" run --config config.json");
    Some(own_mounts(&run).unwrap())
}

const FULL: &str = "data directory data cannot be used: No space left on device (os error 28)";

#[test]
fn a_full_disk() {
    if let Some(output) = run_on_disk("full", "64k", "cat /dev/zero >data/other || true") {
        let errors = assert_fails(&output, FULL);
        assert!(!errors.contains("panicked"), "{errors}");
    }
}

#[test]
fn a_read_only_disk() {
    let read_only = "mount -o remount,ro data";
    if let Some(output) = run_on_disk("read-only", "64k", read_only) {
        let line = "data directory data cannot be used: Read-only file system (os error 30)";
        assert_fails(&output, line);
    }
}

#[test]
fn a_disk_too_small_to_start_on() {
    if let Some(output) = run_on_disk("small", "64k", ":") {
        let errors = assert_fails(&output, FULL);
        assert!(!errors.contains("node started"), "{errors}");
    }
}

#[test]
fn a_disk_that_fills_up() {
    if let Some(output) = run_on_disk("fills-up", "2m", ":") {
        let errors = assert_fails(&output, FULL);
        assert!(errors.contains("node started"), "{errors}");
    }
}
