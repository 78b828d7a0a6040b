// SPDX-License-Identifier: Apache-2.0
//! `shardnode load` against a running node: what it says became of its transfers
//! is what the blocks say.

#![allow(clippy::unwrap_used)]

use commonware_runtime::{Clock as _, Runner as _, tokio::Runner};
use serde_json::{Value, json};
use shardnode_loader::client::{Client, MOST_TOGETHER};
use shardnode_primitives::{
    GenesisDocument, Namespaces, Refusal, Transfer, genesis::private_key, highest_nonce,
};
use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

/// A network of one producer, as a process.
struct Node {
    process: Child,
    folder: PathBuf,
    http: SocketAddr,
    url: String,
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// A port that was free.
fn port() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

fn signal(node: &Node, name: &str) {
    let mut kill = Command::new("kill");
    kill.args(["-s", name, &node.process.id().to_string()]);
    assert!(kill.status().unwrap().success());
}

fn shardnode() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shardnode"))
}

impl Node {
    /// Each test has its own. Its pool holds so many transfers.
    fn start(test: &str, mempool_capacity: u32, max_transactions_per_chunk: u32) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("load-{test}"));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let key = commonware_cryptography::Signer::public_key(&private_key([1; 32])).to_string();
        let (p2p, http) = (port(), port());
        let write = |name: &str, content: &Value| {
            fs::write(folder.join(name), content.to_string()).unwrap();
        };
        write(
            "genesis.json",
            &json!({
                "network": "net", "createdAtMs": 1, "seed": "11".repeat(32), "shards": 1,
                "accounts": {"perShard": 500, "initialBalance": 1_000_000},
                "protocol": {
                    "executionLag": 1, "minBlockTimeMs": 200, "chunkWaitMs": 1_000,
                    "maxTransactionsPerChunk": max_transactions_per_chunk,
                    "mandatesPerShard": 8, "epochLength": 1000,
                    "congestionControl": "Enabled", "transferFee": 0, "leastBalance": 0,
                },
                "validators": [{
                    "name": "n", "publicKey": key, "role": "producer", "shard": 0, "slot": 0,
                    "stake": 1_000,
                }],
            }),
        );
        write(
            "peers.json",
            &json!({"peers": [
                {"name": "n", "publicKey": key, "address": format!("127.0.0.1:{p2p}")},
            ]}),
        );
        fs::write(folder.join("validator.key"), "01".repeat(32)).unwrap();
        write(
            "config.json",
            &json!({
                "network": "net", "node": "n", "region": "local", "role": "producer",
                "genesisFile": "genesis.json", "keyFile": "validator.key", "dataDir": "data",
                "workerThreads": 2,
                "p2p": {"listen": format!("127.0.0.1:{p2p}"), "peersFile": "peers.json"},
                "http": {"listen": format!("127.0.0.1:{http}")},
                "storage": {
                    "engine": "Log", "snapshotIntervalBlocks": 1000, "retentionBlocks": 20000,
                },
                "features": {
                    "signatureBatchSize": 0, "mempoolCapacity": mempool_capacity,
                    "mempoolMebibytes": 64, "adaptiveChunkSize": "Enabled",
                    "saveUntrackedChunkParts": "Disabled",
                },
                "log": {"level": "warn", "format": "text"},
            }),
        );
        let log = fs::File::create(folder.join("log")).unwrap();
        let process = shardnode()
            .args(["run", "--config"])
            .arg(folder.join("config.json"))
            .stderr(Stdio::from(log))
            .spawn()
            .unwrap();
        let mut node = Self {
            process,
            folder,
            http: ([127, 0, 0, 1], http).into(),
            url: format!("http://127.0.0.1:{http}"),
        };
        node.wait_until_ready();
        node
    }

    /// As the node says it. No account has paid anything then.
    fn wait_until_ready(&mut self) {
        while !self.is_ready() {
            let ended = self.process.try_wait().unwrap();
            let log = || fs::read_to_string(self.folder.join("log"));
            assert!(ended.is_none(), "the node ended: {:?}", log());
            thread::yield_now();
        }
    }

    fn is_ready(&self) -> bool {
        let mut answer = String::new();
        let read = TcpStream::connect(self.http).and_then(|mut stream| {
            stream.write_all(b"GET /readyz HTTP/1.1\r\nhost: n\r\nconnection: close\r\n\r\n")?;
            stream.read_to_string(&mut answer)
        });
        read.is_ok() && answer.starts_with("HTTP/1.1 200")
    }

    fn genesis(&self) -> PathBuf {
        self.folder.join("genesis.json")
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = shardnode();
        command
            .args(["load", "--node", &self.url, "--genesis"])
            .arg(self.genesis())
            .args(arguments.split_whitespace());
        command
    }

    /// The result of a run to whose node something happens once it has accepted
    /// transfers.
    fn disturbed(&self, arguments: &str, disturb: impl FnOnce()) -> Value {
        let mut load = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let said = BufReader::new(load.stderr.take().unwrap());
        let mut said = said.lines().map(Result::unwrap);
        said.find(|line| !line.contains("accepted 0,")).unwrap();
        disturb();
        said.for_each(drop);
        let output = load.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
        let report = serde_json::from_slice(&output.stdout).unwrap();
        balanced(&report);
        report
    }

    /// Pays from every account with a nonce above all that the loader began with.
    fn use_nonces(&self) {
        let document: GenesisDocument =
            serde_json::from_slice(&fs::read(self.genesis()).unwrap()).unwrap();
        let genesis = document.check().unwrap();
        let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
        let count = genesis.account_count();
        let payments = |nonce| -> Vec<_> {
            let pay = |index| {
                let account = genesis.account(index);
                let transfer = Transfer {
                    signer: account.id,
                    receiver: genesis.account((index + 1) % count).id,
                    amount: 1,
                    nonce,
                    expires_at: 0,
                };
                transfer.sign(&account.key, &namespaces)
            };
            (0..count).map(pay).collect()
        };
        Runner::default().start(|_| async {
            let client = Client::new(Duration::from_secs(60)).unwrap();
            let status = client.status(&self.url).await.unwrap();
            let nonce = highest_nonce(status.finalized_height);
            for list in payments(nonce).chunks(MOST_TOGETHER) {
                let mut answers = vec![Some(Refusal::HighNonce)];
                // Until the blocks that are final are executed.
                while answers.contains(&Some(Refusal::HighNonce)) {
                    answers = client.submit(&self.url, list).await.unwrap();
                }
                assert!(answers.iter().all(Option::is_none), "{answers:?}");
            }
        });
    }

    /// The finalised heights that it says first and last until then.
    fn heights_until(&self, end: SystemTime) -> (u64, u64) {
        Runner::default().start(|context| async move {
            let client = Client::new(Duration::from_secs(60)).unwrap();
            let mut heights = Vec::new();
            loop {
                let status = client.status(&self.url).await.unwrap();
                if context.current() >= end {
                    break;
                }
                heights.push(status.finalized_height);
                context.sleep(Duration::from_millis(50)).await;
            }
            (*heights.first().unwrap(), *heights.last().unwrap())
        })
    }

    fn load(&self, arguments: &str) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The result of a run, whose counts agree with each other and, as nobody
    /// else sends anything, with the blocks.
    fn report(&self, arguments: &str) -> Value {
        let output = self.load(arguments);
        assert!(output.status.success(), "{output:?}");
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        balanced(&report);
        let totals = &report["totals"];
        assert_eq!(totals["inFlight"], 0, "{report}");
        assert_eq!(report["blocks"]["executed"], totals["executed"], "{report}");
        report
    }
}

/// Every transfer of a run ended once, or is in flight.
fn balanced(report: &Value) {
    let totals = &report["totals"];
    let number = |name: &str| totals[name].as_u64().unwrap();
    let sum = |name: &str| -> u64 {
        let counts = totals[name].as_object().unwrap().values();
        counts.map(|count| count.as_u64().unwrap()).sum()
    };
    let ended = number("executed") + sum("refused") + sum("failed") + number("expired");
    assert_eq!(number("sent"), ended + number("inFlight"), "{report}");
    assert_eq!(
        number("offered"),
        number("sent") + number("unsent"),
        "{report}"
    );
    let seconds = report["seconds"].as_array().unwrap();
    for name in ["offered", "sent", "accepted", "executed"] {
        let of_seconds: u64 = seconds.iter().map(|one| one[name].as_u64().unwrap()).sum();
        assert_eq!(of_seconds, number(name), "{name} of {report}");
    }
}

#[test]
fn a_fixed_rate_is_offered_and_all_of_it_accounted_for() {
    let node = Node::start("rate", 100_000, 10_000);
    let report = node.report("--rate 500 --duration-seconds 4");
    let totals = &report["totals"];
    assert_eq!(totals["offered"], 2_000);
    assert_eq!(totals["executed"], totals["sent"]);
    assert_eq!(report["executedMs"]["count"], totals["executed"]);
    // Again on the same accounts, whose nonces it does not know.
    let report = node.report("--workers 3 --batch 50 --count 1000");
    assert_eq!(report["totals"]["executed"], 1_000);
}

/// Its blocks are those since it looked, a second before, and not those since it was told
/// to wait.
#[test]
fn a_loader_that_waits_counts_blocks_from_when_it_begins() {
    let node = Node::start("waits", 100_000, 10_000);
    let wait = Duration::from_secs(10);
    let begin = Runner::default().start(|context| async move { context.current() }) + wait;
    let at = begin.duration_since(UNIX_EPOCH).unwrap().as_millis();
    let (before, height, report) = thread::scope(|scope| {
        let heights = scope.spawn(|| node.heights_until(begin - Duration::from_secs(1)));
        let report = node.report(&format!(
            "--rate 100 --duration-seconds 1 --start-at-ms {at}"
        ));
        let (first, last) = heights.join().unwrap();
        (first, last, report)
    });
    // However slow the machine is, some of the blocks of a fifth of a second are there.
    assert!(height > before + 1, "{before} to {height} in {wait:?}");
    let first = report["blocks"]["firstHeight"].as_u64().unwrap();
    assert!(first >= height, "{first} is before {height}: {report}");
}

#[test]
fn a_full_pool_is_tried_again_and_is_no_error() {
    let node = Node::start("full", 300, 100);
    let report = node.report("--workers 4 --batch 100 --count 2000");
    let totals = &report["totals"];
    assert_eq!(totals["executed"], 2_000, "{report}");
    assert!(totals["retried"]["full"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(totals["refused"], json!({}));
}

#[test]
fn users_go_on_whatever_the_answers_and_see_the_refusals() {
    let node = Node::start("users", 300, 50);
    // Far more than chunks hold.
    let report = node.report("--users 1000 --every-ms 500 --duration-seconds 4");
    let totals = &report["totals"];
    assert_eq!(totals["offered"], 8_000);
    assert!(totals["refused"]["full"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(totals["retried"], json!({}));
}

/// All that was due while the node stood still waited for it, and not only the
/// one request of each connection that was under way.
#[test]
fn a_node_that_stands_still_shows_in_all_that_was_due() {
    let node = Node::start("still", 100_000, 10_000);
    let report = node.disturbed("--rate 300 --duration-seconds 5", || {
        signal(&node, "STOP");
        Runner::default().start(|context| async move {
            context.sleep(Duration::from_secs(2)).await;
        });
        signal(&node, "CONT");
    });
    assert_eq!(report["totals"]["offered"], 1_500);
    // Two fifths were due meanwhile, half of them in the first second of it.
    let waited = report["acceptedMs"]["p90"].as_f64().unwrap();
    assert!(waited > 1_000.0, "{report}");
    assert_eq!(report["acceptedMs"]["count"], report["totals"]["accepted"]);
}

/// Somebody else signs for the same accounts, and uses nonces far above those that
/// the loader is at.
#[test]
fn a_stale_nonce_is_fetched_and_signed_again() {
    let node = Node::start("stale", 100_000, 10_000);
    let arguments = "--users 40 --every-ms 200 --duration-seconds 8";
    let report = node.disturbed(arguments, || node.use_nonces());
    let totals = &report["totals"];
    assert!(totals["renewed"].as_u64().unwrap() > 0, "{report}");
    // Those that are signed again are executed: all but those that a pool had taken before,
    // which it lets go of, or has in the chunk that uses the nonce, and those whose signer
    // has a higher nonce in the pool until the last try.
    let refused = totals["refused"].as_object().unwrap();
    let expected = ["nonce", "overtaken"];
    assert!(
        refused
            .keys()
            .all(|reason| expected.contains(&reason.as_str())),
        "{report}"
    );
    let failed = totals["failed"].as_object().unwrap();
    assert!(
        failed
            .keys()
            .all(|reason| reason == "nonce is not above the signer's"),
        "{report}"
    );
    let last = report["seconds"][7]["offered"].as_u64().unwrap();
    assert_eq!(last, 200);
    assert_eq!(totals["inFlight"], 0, "{report}");
}

/// What it had under way may have been executed or not, and nobody can say.
#[test]
fn a_node_that_goes_away_leaves_a_result() {
    let node = Node::start("gone", 100_000, 10_000);
    let arguments = "--rate 300 --duration-seconds 5 --drain-seconds 1 --answer-timeout-ms 1000";
    let report = node.disturbed(arguments, || signal(&node, "KILL"));
    let totals = &report["totals"];
    assert_eq!(totals["offered"], 1_500);
    assert!(
        totals["noAnswer"]["connect"].as_u64().unwrap() > 0,
        "{report}"
    );
    assert!(totals["inFlight"].as_u64().unwrap() > 0, "{report}");
    assert_eq!(report["blocks"], Value::Null);
}

#[test]
fn a_file_is_sent_to_the_last_transfer() {
    let node = Node::start("file", 500, 200);
    let file = node.folder.join("transfers");
    let prepared = shardnode()
        .args(["load", "prepare", "--count", "3000", "--genesis"])
        .arg(node.genesis())
        .arg("--output")
        .arg(&file)
        .output()
        .unwrap();
    assert!(prepared.status.success(), "{prepared:?}");
    let report = node.report(&format!("--file {}", file.display()));
    let totals = &report["totals"];
    assert_eq!(totals["sent"], 3_000, "{report}");
    assert_eq!(totals["executed"], 3_000, "{report}");

    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 7]).unwrap();
    let output = node.load(&format!("--file {}", file.display()));
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.ends_with("it is not whole\n"), "{message}");
}

#[test]
fn nothing_is_sent_to_another_network() {
    let node = Node::start("foreign", 500, 200);
    let genesis = fs::read_to_string(node.genesis()).unwrap();
    let other = genesis.replace(r#""createdAtMs":1,"#, r#""createdAtMs":2,"#);
    assert_ne!(other, genesis);
    fs::write(node.genesis(), other).unwrap();
    let output = node.load("--rate 1 --duration-seconds 1");
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(
        message.contains("is of the network with genesis hash"),
        "{message}"
    );
}

#[test]
fn what_contradicts_itself_is_refused() {
    for (arguments, wanted) in [
        ("", "required"),
        ("--rate 1 --workers 1", "cannot be used with"),
        (
            "--users 5 --every-ms 10 --senders Uniform",
            "cannot be used with",
        ),
        ("--users 5", "--every-ms"),
        ("--rate 1 --part 3/2", "the first at most the second"),
        ("--rate 1 --receivers Nobody", "unknown variant"),
        ("--rate 1 --batch 201", "201 is not in 1..=200"),
    ] {
        let output = shardnode()
            .args([
                "load",
                "--node",
                "http://127.0.0.1:1",
                "--genesis",
                "absent",
            ])
            .args(arguments.split_whitespace())
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments}");
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(wanted), "{arguments}: {message}");
    }
}
