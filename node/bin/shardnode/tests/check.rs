// SPDX-License-Identifier: Apache-2.0
//! `shardnode check` on right and wrong files.

#![allow(clippy::unwrap_used)]

use commonware_cryptography::Signer as _;
use serde_json::{Value, json};
use shardnode_primitives::{GenesisDocument, genesis::private_key};
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn shardnode() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shardnode"))
}

fn public_key(index: u8) -> String {
    private_key([index; 32]).public_key().to_string()
}

fn name(index: u8) -> String {
    format!("net-s0-p{index}")
}

/// The files of producer 0 of three in one shard.
struct Files {
    folder: PathBuf,
    config: Value,
    peers: Value,
    genesis: Value,
}

impl Files {
    /// Each test has its own folder.
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let peer = |index: u8| {
            json!({
                "name": name(index), "publicKey": public_key(index),
                "address": format!("node-{index}.example:26600"),
            })
        };
        let validator = |index: u8| {
            json!({
                "name": name(index), "publicKey": public_key(index),
                "role": "producer", "shard": 0, "slot": index, "stake": 1_000
            })
        };
        let files = Self {
            folder,
            config: json!({
                "network": "net", "node": name(0), "region": "local", "role": "producer",
                "genesisFile": "genesis.json", "keyFile": "validator.key", "dataDir": "data",
                "workerThreads": 2,
                "p2p": {"listen": "127.0.0.1:26600", "peersFile": "peers.json"},
                "http": {"listen": "127.0.0.1:26700"},
                "admin": {"listen": "127.0.0.1:26800", "tokenFile": "admin.token"},
                "storage": {
                    "engine": "Log", "snapshotIntervalBlocks": 1000, "retentionBlocks": 20000,
                },
                "features": {
                    "signatureBatchSize": 0, "mempoolCapacity": 100_000, "mempoolMebibytes": 64,
                    "adaptiveChunkSize": "Enabled",
                },
                "log": {"level": "info", "format": "text"},
                "tracing": {"endpoint": "http://127.0.0.1:4318", "sampleBasisPoints": 100},
            }),
            peers: json!({"peers": [peer(0), peer(1), peer(2)]}),
            genesis: json!({
                "network": "net", "createdAtMs": 1_790_000_000_000u64, "seed": "5e".repeat(32),
                "shards": 1, "accounts": {"perShard": 10, "initialBalance": 1000},
                "protocol": {
                    "executionLag": 1, "minBlockTimeMs": 250, "chunkWaitMs": 1000, "maxTransactionsPerChunk": 20000,
                    "mandatesPerShard": 8, "epochLength": 1000, "congestionControl": "Enabled", "transferFee": 1, "leastBalance": 10,
                },
                "validators": [validator(0), validator(1), validator(2)],
            }),
        };
        files.write("validator.key", format!("{}\n", "00".repeat(32)));
        files.write("admin.token", "secret-token\n");
        files
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), content).unwrap();
    }

    fn genesis_hash(&self) -> String {
        let document: GenesisDocument = serde_json::from_value(self.genesis.clone()).unwrap();
        document.check().unwrap().hash().to_string()
    }

    /// Runs the check in the folder of the files.
    fn check(&self) -> Output {
        self.write("config.json", self.config.to_string());
        self.write("peers.json", self.peers.to_string());
        self.write("genesis.json", self.genesis.to_string());
        self.check_as_written()
    }

    fn check_as_written(&self) -> Output {
        shardnode()
            .args(["check", "--config", "config.json"])
            .current_dir(&self.folder)
            .output()
            .unwrap()
    }

    /// Sets a field of a document, or removes it.
    fn set(document: &mut Value, pointer: &str, value: Option<Value>) {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = document.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(parent), Some(value)) => drop(parent.insert(field.into(), value)),
            (Value::Object(parent), None) => assert!(parent.remove(field).is_some()),
            (parent, Some(value)) => parent[field.parse::<usize>().unwrap()] = value,
            (parent, None) => drop(
                parent
                    .as_array_mut()
                    .unwrap()
                    .remove(field.parse().unwrap()),
            ),
        }
    }
}

fn assert_accepted(output: &Output, genesis_hash: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    assert_eq!(errors, "");
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("{genesis_hash}\n")
    );
}

/// Exit code 2 and one line.
fn assert_refused(output: &Output, line: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(errors, format!("{line}\n"));
    assert_eq!(output.status.code(), Some(2), "{line}");
    assert!(output.stdout.is_empty(), "{line}");
}

#[test]
fn right_files_give_the_genesis_hash() {
    let files = Files::new("right");
    assert_accepted(&files.check(), &files.genesis_hash());
}

#[test]
fn what_has_a_default_may_be_left_out() {
    let mut files = Files::new("defaults");
    for field in ["/workerThreads", "/storage", "/features", "/log"] {
        Files::set(&mut files.config, field, None);
    }
    Files::set(&mut files.config, "/admin", None);
    assert_accepted(&files.check(), &files.genesis_hash());
    files.config["storage"] = json!({"retentionBlocks": 5000});
    files.config["features"] = json!({"signatureBatchSize": 128});
    files.config["log"] = json!({"format": "json"});
    assert_accepted(&files.check(), &files.genesis_hash());
}

#[test]
fn links_need_the_regions_of_all_peers() {
    let mut files = Files::new("links");
    files.config["links"] = json!([
        {"region": "far", "delayMilliseconds": 300, "lossBasisPoints": 1000},
        {"region": "local", "bandwidthMegabitsPerSecond": 1},
    ]);
    let line = "peers.json: peers[0].region: is missing, and the configuration has links";
    assert_refused(&files.check(), line);
    for (peer, region) in ["local", "far", "elsewhere"].into_iter().enumerate() {
        files.peers["peers"][peer]["region"] = json!(region);
    }
    assert_accepted(&files.check(), &files.genesis_hash());
    files.peers["peers"][2]["region"] = json!("");
    let line = "peers.json: peers[2].region: must not be empty";
    assert_refused(&files.check(), line);
}

#[test]
fn an_rpc_node_needs_a_key_of_its_own() {
    let mut files = Files::new("rpc");
    files.config["role"] = json!("rpc");
    let line =
        "config.json: role: is \"rpc\", but the key is that of validator \"net-s0-p0\", a producer";
    assert_refused(&files.check(), line);
    files.write("validator.key", "07".repeat(32));
    assert_accepted(&files.check(), &files.genesis_hash());
    files.peers["peers"].as_array_mut().unwrap().remove(0);
    let line = "peers.json: peers: validator \"net-s0-p0\" is missing";
    assert_refused(&files.check(), line);
}

#[test]
fn an_archive_is_listed_as_one_and_is_no_validator() {
    let mut files = Files::new("archive");
    files.config["role"] = json!("archive");
    files.write("validator.key", "07".repeat(32));
    let line =
        "peers.json: peers: this node is missing: nobody would ask an archive that is not listed";
    assert_refused(&files.check(), line);
    let own = json!({
        "name": "net-a0", "publicKey": public_key(7), "address": "net-a0.example:26600",
    });
    files.peers["peers"].as_array_mut().unwrap().push(own);
    let line = "peers.json: peers[3].archive: is false, unlike the role of this node";
    assert_refused(&files.check(), line);
    files.peers["peers"][3]["archive"] = json!(true);
    assert_accepted(&files.check(), &files.genesis_hash());
    files.config["role"] = json!("rpc");
    let line = "peers.json: peers[3].archive: is true, unlike the role of this node";
    assert_refused(&files.check(), line);
    files.config["role"] = json!("archive");
    files.peers["peers"][1]["archive"] = json!(true);
    let line = "peers.json: peers[1].archive: is true, but \"net-s0-p1\" is a validator";
    assert_refused(&files.check(), line);
}

#[test]
fn paths_are_relative_to_the_configuration() {
    let files = Files::new("paths");
    files.check();
    let output = shardnode()
        .arg("check")
        .arg("--config")
        .arg(files.folder.join("config.json"))
        .current_dir("/")
        .output()
        .unwrap();
    assert_accepted(&output, &files.genesis_hash());
}

#[test]
fn wrong_configurations() {
    for (pointer, value, line) in [
        ("/network", None, "missing field `network`"),
        (
            "/network",
            Some(json!(7)),
            "network: invalid type: integer `7`, expected a string",
        ),
        (
            "/network",
            Some(json!("other")),
            "network: is \"other\", but the genesis document is of network \"net\"",
        ),
        (
            "/node",
            Some(json!("net-s0-p1")),
            "node: is \"net-s0-p1\", but the key is that of validator \"net-s0-p0\"",
        ),
        ("/node", Some(json!("")), "node: must not be empty"),
        ("/region", Some(json!("")), "region: must not be empty"),
        (
            "/role",
            Some(json!("validator")),
            "role: unknown variant `validator`, expected one of `producer`, `chunkValidator`, `rpc`, `archive`",
        ),
        (
            "/genesisFile",
            Some(json!("other.json")),
            "genesisFile: other.json cannot be read: No such file or directory (os error 2)",
        ),
        (
            "/keyFile",
            Some(json!("other.key")),
            "keyFile: other.key cannot be read: No such file or directory (os error 2)",
        ),
        ("/keyFile", Some(json!("")), "keyFile: must not be empty"),
        ("/dataDir", Some(json!("")), "dataDir: must not be empty"),
        (
            "/p2p/peersFile",
            Some(json!("other.json")),
            "p2p.peersFile: other.json cannot be read: No such file or directory (os error 2)",
        ),
        (
            "/p2p/peersFile",
            Some(json!("")),
            "p2p.peersFile: must not be empty",
        ),
        (
            "/workerThreads",
            Some(json!(0)),
            "workerThreads: must be at least 1",
        ),
        (
            "/workerThreads",
            Some(json!(-1)),
            "workerThreads: invalid value: integer `-1`, expected usize",
        ),
        (
            "/p2p/listen",
            Some(json!("here")),
            "p2p.listen: invalid socket address syntax",
        ),
        ("/p2p/listen", None, "p2p: missing field `listen`"),
        (
            "/p2p/bootstrap",
            Some(json!([])),
            "p2p.bootstrap: unknown field `bootstrap`, expected `listen` or `peersFile`",
        ),
        (
            "/http/listen",
            Some(json!("127.0.0.1")),
            "http.listen: invalid socket address syntax",
        ),
        (
            "/http/adminTokenFile",
            Some(json!("admin.token")),
            "http.adminTokenFile: unknown field `adminTokenFile`, expected `listen`",
        ),
        (
            "/admin/listen",
            Some(json!("localhost:26800")),
            "admin.listen: invalid socket address syntax",
        ),
        (
            "/tracing/endpoint",
            Some(json!("https://collector.example:4318")),
            "tracing.endpoint: must be an http:// URL without a query",
        ),
        (
            "/tracing/endpoint",
            Some(json!("collector:4318")),
            "tracing.endpoint: must be an http:// URL without a query",
        ),
        (
            "/tracing/endpoint",
            None,
            "tracing: missing field `endpoint`",
        ),
        (
            "/tracing/sampleBasisPoints",
            Some(json!(0)),
            "tracing.sampleBasisPoints: must be 1 to 10000",
        ),
        (
            "/tracing/sampleBasisPoints",
            Some(json!(10_001)),
            "tracing.sampleBasisPoints: must be 1 to 10000",
        ),
        (
            "/links",
            Some(json!([{"region": "far"}])),
            "links[0]: must have a delay, a loss or a bandwidth",
        ),
        (
            "/links",
            Some(json!([{"region": "", "delayMilliseconds": 1}])),
            "links[0].region: must not be empty",
        ),
        (
            "/links",
            Some(
                json!([{"region": "far", "delayMilliseconds": 1}, {"region": "far", "lossBasisPoints": 1}]),
            ),
            "links[1].region: is \"far\" once more",
        ),
        (
            "/links",
            Some(json!([{"region": "far", "delayMilliseconds": 301}])),
            "links[0].delayMilliseconds: must be 1 to 300",
        ),
        (
            "/links",
            Some(json!([{"region": "far", "lossBasisPoints": 1001}])),
            "links[0].lossBasisPoints: must be 1 to 1000",
        ),
        (
            "/links",
            Some(json!([{"region": "far", "bandwidthMegabitsPerSecond": 0}])),
            "links[0].bandwidthMegabitsPerSecond: must be 1 to 100000",
        ),
        ("/admin/tokenFile", None, "admin: missing field `tokenFile`"),
        (
            "/admin/tokenFile",
            Some(json!("")),
            "admin.tokenFile: must not be empty",
        ),
        (
            "/admin/tokenFile",
            Some(json!("other.token")),
            "admin.tokenFile: other.token cannot be read: \
             No such file or directory (os error 2)",
        ),
        (
            "/storage/engine",
            Some(json!("Redb")),
            "storage.engine: unknown variant `Redb`, expected `Log`",
        ),
        (
            "/storage/snapshotIntervalBlocks",
            Some(json!(0)),
            "storage.snapshotIntervalBlocks: must be at least 1",
        ),
        (
            "/storage/retentionBlocks",
            Some(json!(999)),
            "storage.retentionBlocks: is 999, but must be at least snapshotIntervalBlocks, 1000",
        ),
        (
            "/features/mempoolCapacity",
            Some(json!(0)),
            "features.mempoolCapacity: must be at least 1",
        ),
        (
            "/features/mempoolMebibytes",
            Some(json!(0)),
            "features.mempoolMebibytes: must be at least 1",
        ),
        (
            "/features/adaptiveChunkSize",
            Some(json!("On")),
            "features.adaptiveChunkSize: unknown variant `On`, expected `Enabled` or `Disabled`",
        ),
        (
            "/features/turbo",
            Some(json!(true)),
            "features.turbo: unknown field `turbo`, \
             expected one of `signatureBatchSize`, `mempoolCapacity`, `mempoolMebibytes`, \
             `adaptiveChunkSize`, `saveUntrackedChunkParts`",
        ),
        (
            "/log/level",
            Some(json!("loud")),
            "log.level: unknown variant `loud`, \
             expected one of `error`, `warn`, `info`, `debug`, `trace`",
        ),
        (
            "/log/format",
            Some(json!("xml")),
            "log.format: unknown variant `xml`, expected `text` or `json`",
        ),
    ] {
        let mut files = Files::new("config");
        Files::set(&mut files.config, pointer, value);
        assert_refused(&files.check(), &format!("config.json: {line}"));
    }
}

#[test]
fn wrong_peers() {
    let spare = public_key(9);
    for (pointer, value, line) in [
        (
            "/peers/0/name",
            Some(json!("")),
            "peers[0].name: must not be empty",
        ),
        (
            "/peers/1/publicKey",
            Some(json!("00")),
            "peers[1].publicKey: must be 64 hex digits",
        ),
        (
            "/peers/1/publicKey",
            Some(json!(format!("02{}", "00".repeat(31)))),
            "peers[1].publicKey: is not an ed25519 public key",
        ),
        (
            "/peers/2/publicKey",
            Some(json!(public_key(1))),
            "peers[2].publicKey: is used twice",
        ),
        (
            "/peers/2/publicKey",
            Some(json!(spare)),
            "peers: validator \"net-s0-p2\" is missing",
        ),
        (
            "/peers/1",
            None,
            "peers: validator \"net-s0-p1\" is missing",
        ),
        (
            "/peers/1/address",
            Some(json!("node-1")),
            "peers[1].address: \"node-1\" is not host:port",
        ),
        (
            "/peers/1/address",
            Some(json!("node-1:0")),
            "peers[1].address: port \"0\" is not a number from 1 to 65535",
        ),
        (
            "/peers",
            Some(json!({})),
            "peers: invalid type: map, expected a sequence",
        ),
        (
            "/bootstrap",
            Some(json!([])),
            "bootstrap: unknown field `bootstrap`, expected `peers`",
        ),
    ] {
        let mut files = Files::new("peers");
        Files::set(&mut files.peers, pointer, value);
        assert_refused(&files.check(), &format!("peers.json: {line}"));
    }
}

#[test]
fn wrong_genesis_documents() {
    for (pointer, value, line) in [
        ("/seed", Some(json!("5e")), "seed: must be 64 hex digits"),
        ("/shards", Some(json!(0)), "shards: must be 1 to 1024"),
        (
            "/protocol/minBlockTimeMs",
            None,
            "protocol: missing field `minBlockTimeMs`",
        ),
        (
            "/validators/1/slot",
            Some(json!("1")),
            "validators[1].slot: invalid type: string \"1\", expected u16",
        ),
        (
            "/validators/1/shard",
            Some(json!(1)),
            "validators[1].shard: must be below 1, the number of shards",
        ),
        (
            "/balances",
            Some(json!({})),
            "balances: unknown field `balances`, expected one of `network`, `createdAtMs`, \
             `seed`, `shards`, `accounts`, `protocol`, `validators`",
        ),
    ] {
        let mut files = Files::new("genesis");
        Files::set(&mut files.genesis, pointer, value);
        assert_refused(&files.check(), &format!("genesis.json: {line}"));
    }
    let mut files = Files::new("genesis");
    Files::set(&mut files.genesis, "/validators/0", None);
    Files::set(&mut files.genesis, "/validators/0/slot", Some(json!(0)));
    Files::set(&mut files.genesis, "/validators/1/slot", Some(json!(1)));
    let line = format!(
        "config.json: keyFile: public key {} is not among the validators of the genesis document",
        public_key(0)
    );
    assert_refused(&files.check(), &line);
}

#[test]
fn files_that_are_not_json() {
    let files = Files::new("json");
    files.check();
    for (content, line) in [
        ("", "must be a JSON object"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        (
            "{\n  \"network\": net",
            "expected ident at line 2 column 15",
        ),
        ("[]", "must be a JSON object"),
    ] {
        files.write("config.json", content);
        assert_refused(&files.check_as_written(), &format!("config.json: {line}"));
    }
    files.write("config.json", format!("{} x", files.config));
    let output = files.check_as_written();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        errors.starts_with("config.json: trailing characters at line 1"),
        "{errors}"
    );
    assert_eq!(output.status.code(), Some(2));
    fs::remove_file(files.folder.join("config.json")).unwrap();
    assert_refused(
        &files.check_as_written(),
        "config.json: cannot be read: No such file or directory (os error 2)",
    );
}

#[test]
fn wrong_secrets_are_not_repeated() {
    let files = Files::new("secrets");
    for key in [
        String::new(),
        "00".repeat(31),
        "0x".to_owned() + &"00".repeat(32),
        format!("{}{}", "00".repeat(31), "0g"),
    ] {
        files.write("validator.key", key);
        assert_refused(&files.check(), "validator.key: must be 64 hex digits");
    }
    files.write("validator.key", "00".repeat(32));
    for token in ["", "\n", "two words"] {
        files.write("admin.token", token);
        assert_refused(
            &files.check(),
            "admin.token: must be one or more visible ASCII characters",
        );
    }
}

#[test]
fn run_refuses_the_same_files() {
    let mut files = Files::new("run");
    Files::set(&mut files.config, "/p2p/listen", Some(json!("here")));
    files.check();
    let output = shardnode()
        .args(["run", "--config", "config.json"])
        .current_dir(&files.folder)
        .output()
        .unwrap();
    let line = "config.json: p2p.listen: invalid socket address syntax";
    assert_refused(&output, line);
    assert!(!files.folder.join("data").exists());
}

/// The first JSON block after a heading of the node contract, with keys for
/// the places that the contract leaves open.
fn contract_example(heading: &str) -> Value {
    let contract = include_str!("../../../../docs/node-contract.md");
    let (_, section) = contract.split_once(heading).unwrap();
    let (_, block) = section.split_once("```json\n").unwrap();
    let (example, _) = block.split_once("```").unwrap();
    serde_json::from_str(&example.replace("<64 hex digits>", &public_key(1))).unwrap()
}

#[test]
fn the_examples_of_the_node_contract_are_right() {
    let mut files = Files::new("contract");
    files.config = contract_example("### Configuration (`config.json`)");
    files.genesis = contract_example("### Genesis (`genesis.json`)");
    // The example shows one validator of the four that it stands for.
    let validator = |index: u8, shard: u8, slot: u8| {
        json!({
            "name": format!("quickstart-s{shard}-p{slot}"), "publicKey": public_key(index),
            "role": "producer", "shard": shard, "slot": slot, "stake": 1_000_000
        })
    };
    let shown = files.genesis["validators"][0].clone();
    assert_eq!(shown, validator(1, 0, 0));
    files.genesis["validators"] =
        json!([validator(0, 0, 0), validator(1, 0, 1), validator(2, 1, 0),]);
    files.peers = contract_example("### Peers (`peers.json`)");
    let peers = files.peers["peers"].as_array_mut().unwrap();
    let mut another = peers[0].clone();
    // The last one is an archive, and no validator.
    for (index, peer) in [0, 1, 3].into_iter().zip(&mut *peers) {
        peer["publicKey"] = json!(public_key(index));
    }
    another["publicKey"] = json!(public_key(2));
    peers.push(another);
    assert_accepted(&files.check(), &files.genesis_hash());
}

/// What the Go side writes for one validator, golden files of its tests. The
/// validator's seed there is the sha256 of its name.
#[test]
fn files_of_the_planner_are_right() {
    const SEED: &str = "8641a870ea09c5a8dcfdb46cf5bc0b4bb1ec0056f3b459d93bf43f716edcb7cd";
    let golden = Path::new("../../../internal/nodeconfig/testdata");
    let mut files = Files::new("planner");
    let read = |name: &str| -> Value {
        serde_json::from_slice(&fs::read(golden.join(name)).unwrap()).unwrap()
    };
    files.config = read("config.json");
    files.peers = read("peers.json");
    files.genesis = read("genesis.json");
    files.write("validator.key", SEED);
    assert_accepted(&files.check(), &files.genesis_hash());
}

#[test]
fn the_version_is_the_package_version() {
    let output = shardnode().arg("--version").output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout),
        format!("shardnode {}\n", env!("CARGO_PKG_VERSION"))
    );
}
