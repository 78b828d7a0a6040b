// SPDX-License-Identifier: Apache-2.0
//! `shardnode`: a node of a sharded chain.
//!
//! The node contract says what the outside may rely on: the command line, the
//! files, the HTTP API and the metrics.

mod api;
mod health;
mod peers;
#[cfg(feature = "planted-faults")]
mod planted;
mod profiles;
mod run;

use clap::{Parser, Subcommand};
use mimalloc::MiMalloc;
#[cfg(feature = "simulator")]
use shardnode::simulate::{SimulateArgs, SimulateError};
use shardnode::{
    admin,
    committee::CommitteeArgs,
    data_dir, full_disk, http, links,
    load::LoadArgs,
    log, open_files, p2p, process,
    process_fault::{self, Wake},
    spans, tcp,
};
use shardnode_config::{Config, ConfigError};
use shardnode_primitives::namespace::FORMATS;
use shardnode_profiles::Counting;
use std::{
    error::Error,
    fs,
    io::{self, Write as _},
    panic::{self, AssertUnwindSafe},
    path::{Path, PathBuf},
    process::ExitCode,
    time::SystemTime,
};
use tracing::error;

#[global_allocator]
static ALLOCATOR: Counting<MiMalloc> = Counting(MiMalloc);

// Faults are for tests, and cargo lets whoever builds switch on a feature of any
// crate: a node that can have them says so.
const _: () = assert!(
    cfg!(feature = "planted-faults")
        || !(shardnode_execution::planted::CAN_BE_PLANTED
            || shardnode_production::planted::CAN_BE_PLANTED),
    "a node must not be built with planted faults but by its own feature"
);

/// What `--version` and the status say: a build that is slow or wrong on purpose is
/// not taken for another.
const VERSION: &str = if cfg!(feature = "planted-faults") {
    concat!(env!("CARGO_PKG_VERSION"), " with planted faults")
} else if shardnode_execution::planted::BURDENED {
    concat!(env!("CARGO_PKG_VERSION"), " with a planted burden")
} else {
    env!("CARGO_PKG_VERSION")
};

/// A node of a sharded chain.
#[derive(Debug, Parser)]
#[command(name = "shardnode", version = VERSION)]
struct Cli {
    #[cfg(feature = "planted-faults")]
    #[command(flatten)]
    planted: planted::PlantedArgs,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Runs the node until SIGTERM or SIGINT.
    Run {
        /// The node's configuration.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Reads the configuration and every file it names, and prints the genesis
    /// hash.
    Check {
        /// The node's configuration.
        #[arg(long, value_name = "FILE")]
        config: PathBuf,
    },
    /// Prints the version of all that this node sends its peers and keeps on disk.
    Formats {
        /// Writes it into a file instead.
        #[arg(long, value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Sends nodes signed transfers, as clients do, and says what became of them.
    Load(Box<LoadArgs>),
    /// Says how likely byzantine validators can abuse a committee.
    Committee(CommitteeArgs),
    /// Has a paused node go on.
    #[command(hide = true)]
    Wake(Wake),
    /// Runs whole networks in this process, with everything that can go wrong.
    #[cfg(feature = "simulator")]
    Simulate(SimulateArgs),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    #[cfg(feature = "planted-faults")]
    cli.planted.plant();
    match cli.command {
        Command::Run { config: file } => match Config::load(&file) {
            Ok(config) => run(&file, config),
            Err(error) => refuse(&error),
        },
        Command::Check { config } => match Config::load(&config) {
            Ok(config) => print(config.genesis.hash()),
            Err(error) => refuse(&error),
        },
        Command::Formats { file: None } => print(FORMATS),
        Command::Formats { file: Some(file) } => match fs::write(&file, format!("{FORMATS}\n")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                // Without standard error there is nobody to tell.
                let _ = writeln!(io::stderr(), "{}: {error}", file.display());
                ExitCode::FAILURE
            }
        },
        Command::Load(load) => match load.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                // Without standard error there is nobody to tell.
                let _ = writeln!(io::stderr(), "{}", chain(&failure));
                ExitCode::FAILURE
            }
        },
        Command::Committee(committee) => match committee.answer() {
            Ok(answer) => print(answer),
            Err(error) => error.exit(),
        },
        Command::Wake(wake) => match wake.run() {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                // Without standard error there is nobody to tell.
                let _ = writeln!(io::stderr(), "{}", chain(&failure));
                ExitCode::FAILURE
            }
        },
        #[cfg(feature = "simulator")]
        Command::Simulate(simulate) => match simulate.run(&mut io::stdout()) {
            Ok(true) => ExitCode::SUCCESS,
            Ok(false) | Err(SimulateError::Output(_)) => ExitCode::FAILURE,
            Err(SimulateError::Argument(error)) => error.exit(),
        },
    }
}

fn run(file: &Path, config: Config) -> ExitCode {
    let levels = log::init(config.log);
    let data_dir = config.data_dir.clone();
    match process_fault::begin(file, &data_dir) {
        Ok(true) => {}
        Ok(false) => return ExitCode::SUCCESS,
        // It is the node all the same.
        Err(failure) => error!("{}", chain(&failure)),
    }
    if let Err(unusable) = data_dir::check(&data_dir).and_then(|()| data_dir::formats(&data_dir)) {
        error!("{}", chain(&unusable));
        return ExitCode::FAILURE;
    }
    // Consensus panics when its storage fails.
    match panic::catch_unwind(AssertUnwindSafe(|| run::run(config, levels))) {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => error!("{}", chain(&failure)),
        Err(panic) => {
            let message = log::panic_message(&*panic);
            error!("node cannot go on: {message}");
        }
    }
    // The failure says which store could not go on, but not always why. If the
    // disk is why, that is the last line: the one that is shown of a container
    // that ended.
    if let Err(unusable) = data_dir::check(&data_dir).and_then(|()| has_room(&data_dir)) {
        error!("{}", chain(&unusable));
    }
    ExitCode::FAILURE
}

/// Whether the disk is not full by a fault.
fn has_room(data_dir: &Path) -> Result<(), data_dir::Unusable> {
    #[allow(clippy::disallowed_methods, reason = "the runtime has ended")]
    full_disk::check(data_dir, SystemTime::now())
}

fn print(value: impl std::fmt::Display) -> ExitCode {
    match writeln!(io::stdout(), "{value}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Exit code 2, and one line that says which file is wrong.
fn refuse(error: &ConfigError) -> ExitCode {
    // Without standard error there is nobody to tell.
    let _ = writeln!(io::stderr(), "{error}");
    ExitCode::from(2)
}

/// An error and its causes in one line.
fn chain(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    line
}
