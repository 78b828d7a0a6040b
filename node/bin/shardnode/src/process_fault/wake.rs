// SPDX-License-Identifier: Apache-2.0
//! A process that stops itself, and one that has it go on.

use rustix::process::{Signal, getpid, getppid, kill_process};
use std::{io, path::Path, process::Command, thread, time::Duration};

/// How soon a parent that did not go on is told to again.
const AGAIN: Duration = Duration::from_millis(100);

/// Has the process that started this one go on after some time.
#[derive(Debug, clap::Args)]
pub struct Wake {
    /// That process: if it has ended, there is nothing to do.
    #[arg(long, value_name = "ID")]
    parent: i32,
    /// How long that takes.
    #[arg(long, value_name = "MILLISECONDS")]
    after: u64,
}

/// Why a process does not go on.
#[derive(Debug, thiserror::Error)]
#[error("process {0} cannot be made to go on")]
pub struct WakeError(i32, #[source] io::Error);

impl Wake {
    /// Waits, and has the parent go on, again and again until it has ended this: it may
    /// stop itself later than this begins to wait.
    #[allow(
        clippy::disallowed_methods,
        reason = "the process does nothing else, and has no runtime"
    )]
    pub fn run(&self) -> Result<(), WakeError> {
        thread::sleep(Duration::from_millis(self.after));
        while let Some(parent) = getppid().filter(|parent| parent.as_raw_pid() == self.parent) {
            kill_process(parent, Signal::CONT)
                .map_err(|error| WakeError(self.parent, error.into()))?;
            thread::sleep(AGAIN);
        }
        Ok(())
    }
}

/// Stops this process for some time.
pub(super) fn pause(program: &Path, duration: Duration) -> io::Result<()> {
    let own = getpid();
    let mut waker = Command::new(program)
        .arg("wake")
        .arg(format!("--parent={}", own.as_raw_pid()))
        .arg(format!("--after={}", duration.as_millis()))
        .spawn()?;
    let stopped = kill_process(own, Signal::STOP);
    // By now it goes on, or never stopped.
    let ended = waker.kill();
    waker.wait()?;
    ended?;
    Ok(stopped?)
}
