// SPDX-License-Identifier: Apache-2.0
//! A node that is gone for a time, with or without another program in its place.

use super::{LONGEST, double::Double};
use futures::FutureExt as _;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    env, future, io,
    path::Path,
    process::Command,
    time::{Duration, SystemTime, UNIX_EPOCH},
};
use tokio::{
    process::{self, Child},
    runtime::Builder,
    select,
    signal::unix::{SignalKind, signal},
    time::sleep,
};
use tracing::{info, warn};

/// Where `shardnode run` finds the note of what it begins with.
const VARIABLE: &str = "SHARDNODE_STAND_ASIDE";
/// How soon a program that ends is started again.
const AGAIN: Duration = Duration::from_millis(500);

/// Why a fault is over before its time.
#[derive(Debug, thiserror::Error)]
pub enum Interrupted {
    /// What an earlier fault had is not the node's to begin with.
    #[error("what a fault of the process left cannot be removed")]
    Left(#[source] io::Error),
    /// The copy cannot be made, or the program not be started.
    #[error("the fault of the process is over before its time")]
    Early(#[source] io::Error),
}

/// What a node begins with before it is a node.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StandAside {
    until_ms: u64,
    /// The program in the place of the node and what comes before the arguments of a
    /// node; empty for none.
    command: Vec<String>,
}

impl StandAside {
    pub(super) fn until(time: SystemTime, command: Vec<String>) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            until_ms: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            command,
        }
    }

    /// Has a `shardnode run` begin with this.
    pub(super) fn note(self, run: &mut Command) -> io::Result<&mut Command> {
        Ok(run.env(VARIABLE, self.written()?))
    }

    fn written(&self) -> serde_json::Result<String> {
        serde_json::to_string(&(self.until_ms, &self.command))
    }

    fn read(note: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(note).map(|(until_ms, command)| Self { until_ms, command })
    }

    /// What this process is to begin with.
    fn noted() -> io::Result<Option<Self>> {
        match env::var_os(VARIABLE) {
            Some(note) => Ok(Some(Self::read(note.as_encoded_bytes())?)),
            None => Ok(None),
        }
    }

    /// Stands aside until it is over: false if the process is to end before.
    fn stand(&self, double: &Double, config: &Path, data_dir: &Path) -> io::Result<bool> {
        let command = match self.command.split_first() {
            None => None,
            Some((program, arguments)) => {
                double.make(config, data_dir)?;
                Some(command(program, arguments, &double.config))
            }
        };
        // A copy takes its time, which the fault lasts anyway.
        #[allow(clippy::disallowed_methods, reason = "there is no runtime yet")]
        let left = self.left(SystemTime::now());
        let runtime = Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(last(left, command, double))
    }

    /// How long it is from now on.
    fn left(&self, now: SystemTime) -> Duration {
        let until = UNIX_EPOCH.checked_add(Duration::from_millis(self.until_ms));
        let left = until.and_then(|until| until.duration_since(now).ok());
        left.unwrap_or_default().min(LONGEST)
    }
}

/// A program that is told what a node is told. Its processes are a group, so that all of
/// them can be ended.
fn command(program: &str, arguments: &[String], config: &Path) -> process::Command {
    let mut command = process::Command::new(program);
    command
        .args(arguments)
        .args(["run", "--config"])
        .arg(config)
        .env_remove(VARIABLE)
        .process_group(0);
    command
}

/// Has a program run, again and again, for some time: false if the process is to end.
/// Nothing of it is left.
#[allow(
    clippy::disallowed_methods,
    reason = "no runtime of a node is there meanwhile"
)]
async fn last(
    left: Duration,
    command: Option<process::Command>,
    double: &Double,
) -> io::Result<bool> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut child = None;
    let over = select! {
        () = sleep(left) => Ok(true),
        _ = terminate.recv() => Ok(false),
        _ = interrupt.recv() => Ok(false),
        error = again(command, &mut child) => Err(error),
    };
    if let Some(child) = child {
        end(child).await?;
    }
    double.remove()?;
    // Whoever wanted the process to end meanwhile was heard by nobody else.
    let ended =
        terminate.recv().now_or_never().is_some() || interrupt.recv().now_or_never().is_some();
    Ok(over? && !ended)
}

/// Ends a program and all that it has started.
async fn end(mut child: Child) -> io::Result<()> {
    let group = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(group) = group.and_then(Pid::from_raw) {
        kill_process_group(group, Signal::KILL)?;
    }
    child.wait().await?;
    Ok(())
}

/// Starts a program whenever it has ended, until that does not work.
async fn again(command: Option<process::Command>, child: &mut Option<Child>) -> io::Error {
    let Some(mut command) = command else {
        return future::pending().await;
    };
    loop {
        match command.spawn() {
            Ok(started) => match child.insert(started).wait().await {
                Ok(status) => warn!(%status, "the program in the place of the node has ended"),
                Err(error) => return error,
            },
            Err(error) => return error,
        }
        *child = None;
        #[allow(
            clippy::disallowed_methods,
            reason = "no runtime of a node is there meanwhile"
        )]
        sleep(AGAIN).await;
    }
}

/// What `shardnode run` does before it is a node: false if the process is to end.
pub fn begin(config: &Path, data_dir: &Path) -> Result<bool, Interrupted> {
    let Some(double) = Double::of(data_dir) else {
        // It is in the place of a node itself.
        return Ok(true);
    };
    let Some(aside) = StandAside::noted().map_err(Interrupted::Early)? else {
        return double.remove().map(|()| true).map_err(Interrupted::Left);
    };
    info!("standing aside, by a fault");
    let over = aside.stand(&double, config, data_dir);
    let over = over.map_err(|error| {
        // What cannot be removed now is when the next one begins.
        let _ = double.remove();
        Interrupted::Early(error)
    })?;
    if over {
        info!("the fault of the process is over");
    }
    Ok(over)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_at_its_time_and_after_an_hour_at_most() {
        let second = Duration::from_secs(1);
        let now = UNIX_EPOCH + Duration::from_millis(1_790_000_000_000);
        for (until, left) in [
            (now + second, second),
            (now, Duration::ZERO),
            (now - second, Duration::ZERO),
            // A clock that was set back does not make it last.
            (now + LONGEST + second, LONGEST),
        ] {
            assert_eq!(StandAside::until(until, Vec::new()).left(now), left);
        }
    }

    #[test]
    fn what_is_noted_is_what_is_read() {
        for command in [
            vec![],
            vec!["/bin/other".into(), "--a".into(), "b \" c".into()],
        ] {
            let noted = StandAside::until(UNIX_EPOCH + LONGEST, command);
            let note = noted.written().unwrap();
            assert_eq!(StandAside::read(note.as_bytes()).unwrap(), noted);
        }
        for wrong in ["", "1", "[1]", "[1, [2]]", "[-1, []]"] {
            assert!(StandAside::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
