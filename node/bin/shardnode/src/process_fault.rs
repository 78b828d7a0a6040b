// SPDX-License-Identifier: Apache-2.0
//! A fault of the node's own process, for a time.
//!
//! A container holds a node and nothing else, so that nobody beside it could stop it,
//! keep it away, or take its place. It does so itself, and what ends the fault is there
//! before the fault is.
//!
//! | fault | begins | ends |
//! |---|---|---|
//! | paused | The process stops itself by SIGSTOP. | A child of it, [`Wake`], has it go on by SIGCONT. |
//! | gone, replaced | The process executes its own program anew, with the same arguments and a note in its environment. | `shardnode run` stands aside as the note says, and is the node afterwards. |
//!
//! What executes a program loses all that the kernel does not keep for it, at once:
//! memory, connections, open files, and writes that were not handed to the kernel. So
//! nothing outlives it that would outlive SIGKILL. Yet it is the same process for
//! whoever started it, which has nothing to restart. If the process is ended meanwhile,
//! the next one is the node: the fault is over. Whoever ends it by SIGKILL has to end
//! its children as well, as who runs containers does.
//!
//! A program that takes the place of the node has a copy of its data. What it writes is
//! removed with it.
//!
//! The main thread has the fault happen: what the kernel does when the parent of a
//! process ends, it keeps with the thread that executes another program.

mod aside;
mod double;
mod wake;

pub use aside::{Interrupted, begin};
pub use wake::{Wake, WakeError};

use aside::StandAside;
use commonware_runtime::Clock;
use shardnode_rpc::{ProcessCondition, ProcessFault};
use std::{
    convert::Infallible,
    env,
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, SystemTime},
};
use tokio::sync::mpsc::Receiver;
use tracing::warn;

/// No fault lasts longer, whatever became of the clock.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Whoever asks for a fault is answered first.
const ANSWERED: Duration = Duration::from_millis(200);

/// Why a fault cannot begin.
#[derive(Debug, thiserror::Error)]
pub enum Impossible {
    /// The kernel does not stop the first process of a namespace.
    #[error(
        "the first process of a process namespace cannot be paused: have the pod share its \
         namespace, by shareProcessNamespace"
    )]
    First,
    /// The system does not say what is executed.
    #[error("the program of this process is not known")]
    Unknown,
    /// It is not meant to take the place of a node.
    #[error("program: must begin with \"{0}\"")]
    Foreign(String),
    /// No such file is there.
    #[error("there is no program {}", .0.display())]
    Missing(PathBuf),
}

/// A fault that can begin.
#[derive(Debug)]
pub struct Strike {
    /// The node's own program.
    program: PathBuf,
    act: Act,
}

#[derive(Debug)]
enum Act {
    Pause(Duration),
    Replace(StandAside),
}

impl Strike {
    /// The fault, if it can begin, from a moment after `now` on.
    pub fn new(fault: ProcessFault, now: SystemTime) -> Result<Self, Impossible> {
        let program = env::current_exe().map_err(|_| Impossible::Unknown)?;
        existing(&program)?;
        let duration = Duration::from_millis(fault.duration_milliseconds).min(LONGEST);
        let until = now + ANSWERED + duration;
        let act = match fault.condition {
            ProcessCondition::Paused if std::process::id() == 1 => return Err(Impossible::First),
            ProcessCondition::Paused => Act::Pause(duration),
            ProcessCondition::Gone => Act::Replace(StandAside::until(until, Vec::new())),
            ProcessCondition::Replaced => {
                let mut command = vec![substitute(&program, &fault.program.unwrap_or_default())?];
                command.extend(fault.arguments);
                Act::Replace(StandAside::until(until, command))
            }
        };
        Ok(Self { program, act })
    }

    /// Has the fault happen. Where the process is paused, this returns when it goes on,
    /// and where it is replaced, never: but for an error, after which all is as before.
    fn happen(self) -> io::Result<()> {
        match self.act {
            Act::Pause(duration) => wake::pause(&self.program, duration),
            Act::Replace(aside) => {
                let mut arguments = env::args_os();
                let name = arguments.next();
                let name = name.unwrap_or_else(|| OsString::from(&self.program));
                let mut command = Command::new(&self.program);
                command.arg0(name).args(arguments);
                Err(aside.note(&mut command)?.exec())
            }
        }
    }
}

/// Has faults happen to this process, one after the other.
pub async fn suffer(clock: &impl Clock, mut faults: Receiver<Strike>) -> Infallible {
    loop {
        let Some(strike) = faults.recv().await else {
            return std::future::pending().await;
        };
        clock.sleep(ANSWERED).await;
        warn!("a fault of the process begins");
        match strike.happen() {
            Ok(()) => warn!("the fault of the process is over"),
            Err(error) => warn!(%error, "the fault of the process does not happen"),
        }
    }
}

/// The path of a program that is meant to take the place of a node: its name begins with
/// that of the node's own, and it is beside that. Whoever opens the admin API starts
/// nothing else.
fn substitute(own: &Path, name: &str) -> Result<String, Impossible> {
    let mut start = own.file_name().unwrap_or_default().to_os_string();
    start.push("-");
    let start = start.into_string().map_err(|_| Impossible::Unknown)?;
    if !name.starts_with(&start) {
        return Err(Impossible::Foreign(start));
    }
    let path = own.with_file_name(name);
    existing(&path)?;
    path.into_os_string()
        .into_string()
        .map_err(|_| Impossible::Unknown)
}

fn existing(path: &Path) -> Result<(), Impossible> {
    if path.is_file() {
        return Ok(());
    }
    Err(Impossible::Missing(path.into()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn fault(condition: ProcessCondition, program: Option<&str>) -> ProcessFault {
        ProcessFault {
            condition,
            program: program.map(Into::into),
            arguments: Vec::new(),
            duration_milliseconds: 1,
        }
    }

    #[test]
    fn a_program_has_to_be_beside_the_nodes_own_and_of_its_name() {
        let folder = env::temp_dir().join(format!("shardnode-beside-{}", std::process::id()));
        fs::create_dir_all(folder.join("node-folder")).unwrap();
        for name in ["node", "node-other", "other"] {
            fs::write(folder.join(name), b"").unwrap();
        }
        let own = folder.join("node");
        let path = folder.join("node-other");
        assert_eq!(Path::new(&substitute(&own, "node-other").unwrap()), path);
        for (name, expected) in [
            ("other", "program: must begin with \"node-\""),
            ("node", "program: must begin with \"node-\""),
            ("", "program: must begin with \"node-\""),
            ("node-missing", "there is no program /"),
            // A folder is none.
            ("node-folder", "there is no program /"),
        ] {
            let error = substitute(&own, name).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{name}: {error}");
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_process_that_is_not_the_first_can_be_paused_or_gone() {
        let now = SystemTime::UNIX_EPOCH;
        for condition in [ProcessCondition::Paused, ProcessCondition::Gone] {
            let strike = Strike::new(fault(condition, None), now).unwrap();
            let paused = matches!(strike.act, Act::Pause(_));
            assert_eq!(paused, condition == ProcessCondition::Paused);
        }
        let error = Strike::new(fault(ProcessCondition::Replaced, Some("other")), now);
        assert!(matches!(error, Err(Impossible::Foreign(_))), "{error:?}");
    }
}
