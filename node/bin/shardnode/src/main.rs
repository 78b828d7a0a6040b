// SPDX-License-Identifier: Apache-2.0
//! `shardnode`: a node of a sharded chain.
//!
//! The node contract says what the outside may rely on: the command line, the
//! files, the HTTP API and the metrics.

mod api;
mod peers;
mod run;

use clap::{Parser, Subcommand};
use shardnode::{
    config::{self, Config, ConfigError},
    log, process, tcp,
};
use std::{
    error::Error,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};
use tracing::error;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A node of a sharded chain.
#[derive(Debug, Parser)]
#[command(name = "shardnode", version)]
struct Cli {
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
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Run { config } => match Config::load(&config) {
            Ok(config) => run(config),
            Err(error) => refuse(&error),
        },
        Command::Check { config } => match Config::load(&config) {
            Ok(config) => print(config.genesis.hash()),
            Err(error) => refuse(&error),
        },
    }
}

fn run(config: Config) -> ExitCode {
    log::init(config.log);
    match run::run(config) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            error!("{}", chain(&failure));
            ExitCode::FAILURE
        }
    }
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
