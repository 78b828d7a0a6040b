// SPDX-License-Identifier: Apache-2.0
//! `shardnode load`: sends signed transfers to nodes as their clients do, and says
//! what became of them; `shardnode load prepare` signs them before.

use crate::process::cpu_seconds;
use clap::{ArgGroup, Args, Subcommand, ValueEnum, value_parser};
use commonware_runtime::{
    Runner as _,
    tokio::{Config, Runner},
};
use serde::de::DeserializeOwned;
use serde_json::Value;
use shardnode_load::{Receivers, Senders, Workload};
use shardnode_loader::{
    client::MOST_TOGETHER,
    error::RunError,
    lane::WhenFull,
    options::{Options, Profile},
    prepare::{PrepareError, prepare},
    prepared::{Prepared, PreparedError},
    run::run,
    tally::Tally,
};
use shardnode_primitives::{Genesis, GenesisDocument, genesis::GenesisError};
use std::{
    fs,
    io::{self, Write as _},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    str::FromStr,
    sync::Arc,
    thread,
    time::Duration,
};

/// What the command is given.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(group = ArgGroup::new("profile").required(true).args(["workers", "rate", "users", "file"]))]
pub struct LoadArgs {
    #[command(subcommand)]
    command: Option<LoadCommand>,

    /// The HTTP address of a node of the network, as http://127.0.0.1:26700. May be
    /// given several times: transfers go to nodes that track their signer's shard,
    /// or to all if none does.
    #[arg(long = "node", value_name = "URL", required = true)]
    nodes: Vec<String>,

    /// The network's genesis document.
    #[arg(long, value_name = "FILE", required = true)]
    genesis: Option<PathBuf>,

    /// Connections that each send the next request as soon as the last is answered.
    #[arg(long, value_name = "COUNT", value_parser = value_parser!(u32).range(1..=1_000))]
    workers: Option<u32>,

    /// How many transfers the workers send, instead of for how long.
    #[arg(long, value_name = "TRANSFERS", requires = "workers", value_parser = value_parser!(u64).range(1..))]
    count: Option<u64>,

    /// Transfers a second, whatever is answered.
    #[arg(long, value_name = "TRANSFERS", value_parser = value_parser!(u32).range(1..=10_000_000))]
    rate: Option<u32>,

    /// Users that each send a transfer in every --every-ms, whatever is answered,
    /// each from an account of its own as far as there are enough.
    #[arg(long, value_name = "COUNT", requires = "every_ms", conflicts_with = "senders", value_parser = value_parser!(u32).range(1..))]
    users: Option<u32>,

    /// The time between two transfers of a user.
    #[arg(long, value_name = "MILLISECONDS", requires = "users", value_parser = value_parser!(u64).range(1..))]
    every_ms: Option<u64>,

    /// A file of `shardnode load prepare`: its transfers are sent, to the last one,
    /// as fast as they are answered.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["senders", "receivers", "within_shard_percent", "part"])]
    file: Option<PathBuf>,

    /// How long transfers are sent; 60 by default.
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["count", "file"], value_parser = value_parser!(u64).range(1..=86_400))]
    duration_seconds: Option<u64>,

    #[command(flatten)]
    workload: WorkloadArgs,

    /// Connections, for all but workers, which are connections; by default 8, or
    /// one for each shard if there are more.
    #[arg(long, value_name = "COUNT", conflicts_with = "workers", value_parser = value_parser!(u32).range(1..=1_000))]
    connections: Option<u32>,

    /// The most transfers of a request; by default 1 for workers, and 200 otherwise.
    #[arg(long, value_name = "TRANSFERS", value_parser = value_parser!(u16).range(1..=200))]
    batch: Option<u16>,

    /// What is done about transfers that a full pool refuses; by default users
    /// count them, and the others send them again.
    #[arg(long, value_name = "ACTION", value_enum)]
    when_full: Option<Full>,

    /// The part of the accounts to use, as 1/3 for the first of three loaders that
    /// run at a time.
    #[arg(long, value_name = "PART", default_value = "1/1")]
    part: Part,

    /// When to begin, in milliseconds since 1970, so that several loaders begin
    /// together.
    #[arg(long, value_name = "MILLISECONDS")]
    start_at_ms: Option<u64>,

    /// How long to wait for an answer.
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 5_000, value_parser = value_parser!(u64).range(1..))]
    answer_timeout_ms: u64,

    /// Blocks after which a transfer that was not executed never will be. Those of
    /// a file say so themselves.
    #[arg(long, value_name = "COUNT", default_value_t = 600, value_parser = value_parser!(u64).range(1..))]
    expire_blocks: u64,

    /// How long to wait at the end while nothing more becomes known.
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    drain_seconds: u64,

    /// Writes the result into a file instead.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum LoadCommand {
    /// Signs transfers into a file.
    Prepare {
        /// The network's genesis document.
        #[arg(long, value_name = "FILE")]
        genesis: PathBuf,

        /// How many.
        #[arg(long, value_name = "TRANSFERS", value_parser = value_parser!(u64).range(1..))]
        count: u64,

        /// The file to write.
        #[arg(long, value_name = "FILE")]
        output: PathBuf,

        #[command(flatten)]
        workload: WorkloadArgs,
    },
}

/// Who pays whom.
#[derive(Debug, Args)]
struct WorkloadArgs {
    /// How senders are drawn: ZipfMandelbrot or Uniform.
    #[arg(long, value_name = "DISTRIBUTION", value_parser = word::<Senders>)]
    senders: Option<Senders>,

    /// How receivers are drawn: ZipfMandelbrot, Uniform, HotAccount or OneToOne.
    #[arg(long, value_name = "DISTRIBUTION", value_parser = word::<Receivers>)]
    receivers: Option<Receivers>,

    /// How many in a hundred transfers stay within the signer's shard; as it comes
    /// if not given.
    #[arg(long, value_name = "PERCENT", value_parser = value_parser!(u8).range(0..=100))]
    within_shard_percent: Option<u8>,
}

impl WorkloadArgs {
    fn workload(&self) -> Workload {
        Workload {
            senders: self.senders.unwrap_or_default(),
            receivers: self.receivers.unwrap_or_default(),
            within_shard_percent: self.within_shard_percent,
        }
    }
}

/// A word of the node contract.
fn word<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_value(Value::from(text)).map_err(|error| error.to_string())
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Full {
    Retry,
    Count,
}

/// One of several parts.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// From 0 on.
    part: u16,
    of: u16,
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text
            .split_once('/')
            .and_then(|(part, of)| Some((part.parse::<u16>().ok()?, of.parse::<u16>().ok()?)));
        match parts {
            Some((part, of)) if (1..=of).contains(&part) => Ok(Self { part: part - 1, of }),
            _ => Err("must be two numbers, the first at most the second, as 1/3".into()),
        }
    }
}

/// Why nothing was sent, or not to the end.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// A file cannot be read or written.
    #[error("{file}")]
    Io {
        /// The file.
        file: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// The result cannot be printed.
    #[error("result cannot be written")]
    Output(#[source] io::Error),
    /// The genesis document is not JSON, or not one.
    #[error("{file}")]
    Json {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
    /// The genesis document does not hold.
    #[error("{file}")]
    Genesis {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        #[source]
        source: GenesisError,
    },
    /// An argument is missing.
    #[error("{0} is missing")]
    Missing(&'static str),
    /// No file was made.
    #[error(transparent)]
    Prepare(#[from] PrepareError),
    /// A file cannot be used.
    #[error(transparent)]
    Prepared(#[from] PreparedError),
    /// The run has no result.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The result cannot be written as JSON.
    #[error("result")]
    Report(#[from] serde_json::Error),
}

fn io_error(file: &Path) -> impl FnOnce(io::Error) -> LoadError + '_ {
    |source| LoadError::Io {
        file: file.into(),
        source,
    }
}

fn read_genesis(file: &Path) -> Result<Arc<Genesis>, LoadError> {
    let text = fs::read(file).map_err(io_error(file))?;
    let document: GenesisDocument =
        serde_json::from_slice(&text).map_err(|source| LoadError::Json {
            file: file.into(),
            source,
        })?;
    let genesis = document.check().map_err(|source| LoadError::Genesis {
        file: file.into(),
        source,
    })?;
    Ok(Arc::new(genesis))
}

fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

fn runner(cores: NonZeroUsize) -> Runner {
    Runner::new(Config::new().with_worker_threads(cores.get()))
}

impl LoadArgs {
    /// Does it.
    pub fn run(self) -> Result<(), LoadError> {
        if let Some(LoadCommand::Prepare {
            genesis,
            count,
            output,
            workload,
        }) = self.command
        {
            return make_file(&genesis, count, &output, workload.workload());
        }
        let report = self.report.clone();
        let options = self.options()?;
        let result = runner(options.cores)
            .start(|context| async move { Box::pin(run(&context, options, say)).await })?;
        let mut text = serde_json::to_string(&result)?;
        text.push('\n');
        match report {
            Some(file) => fs::write(&file, text).map_err(io_error(&file)),
            None => io::stdout()
                .write_all(text.as_bytes())
                .map_err(LoadError::Output),
        }
    }

    fn options(self) -> Result<Options, LoadError> {
        let genesis = read_genesis(&self.genesis.ok_or(LoadError::Missing("--genesis"))?)?;
        let workers = self.workers.is_some();
        let users = self.users.is_some();
        let profile = match (self.workers, self.rate, self.users, self.file) {
            (Some(workers), ..) => Profile::Workers {
                workers,
                count: self.count,
            },
            (_, Some(rate), ..) => Profile::Rate(rate),
            (_, _, Some(users), _) => Profile::Users {
                users,
                every: Duration::from_millis(self.every_ms.unwrap_or(1_000)),
            },
            (.., Some(file)) => Profile::File(Prepared::open(&file, genesis.hash())?),
            _ => return Err(LoadError::Missing("--workers, --rate, --users or --file")),
        };
        let when_full = match self.when_full {
            Some(Full::Count) => WhenFull::Count,
            None if users => WhenFull::Count,
            Some(Full::Retry) | None => WhenFull::Retry,
        };
        let batch = self.batch.map(usize::from);
        let nodes = self
            .nodes
            .iter()
            .map(|node| node.trim_end_matches('/').to_owned());
        Ok(Options {
            nodes: nodes.collect(),
            genesis,
            profile,
            workload: self.workload.workload(),
            connections: self.connections,
            batch: batch.unwrap_or(if workers { 1 } else { MOST_TOGETHER }),
            when_full,
            part: (self.part.part, self.part.of),
            length: Duration::from_secs(self.duration_seconds.unwrap_or(60)),
            drain: Duration::from_secs(self.drain_seconds),
            answer_timeout: Duration::from_millis(self.answer_timeout_ms),
            expire_blocks: self.expire_blocks,
            start_at_ms: self.start_at_ms,
            cpu_seconds,
            cores: cores(),
        })
    }
}

fn make_file(
    genesis: &Path,
    count: u64,
    output: &Path,
    workload: Workload,
) -> Result<(), LoadError> {
    let genesis = read_genesis(genesis)?;
    let cores = cores();
    let header = runner(cores).start(|context| async move {
        Box::pin(prepare(&context, cores, genesis, workload, count, output)).await
    })?;
    let line = format!("{} transfers, checksum {}\n", header.count, header.checksum);
    io::stdout()
        .write_all(line.as_bytes())
        .map_err(LoadError::Output)
}

/// One line of what happened so far.
fn say(at: Duration, tally: &Tally) {
    let totals = &tally.totals;
    let refused: u64 = totals.refused.values().sum();
    let failed: u64 = totals.failed.values().sum::<u64>() + totals.expired;
    // Without standard error there is nobody to tell.
    let _ = writeln!(
        io::stderr(),
        "{} s: offered {}, sent {}, accepted {}, executed {}, refused {refused}, failed {failed}, in flight {}",
        at.as_secs(),
        totals.offered,
        totals.sent,
        totals.accepted,
        totals.executed,
        totals.in_flight().unwrap_or_default(),
    );
}
