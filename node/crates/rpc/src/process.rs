// SPDX-License-Identifier: Apache-2.0
//! `/admin/process`, behind the token: a fault of the node's own process.
//!
//! It is only begun here: while it lasts, nobody answers. It ends by itself.

use crate::{
    Node, ProcessCondition, ProcessFault, Unavailable,
    admin::Authorized,
    bounds::lasting,
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};

/// As many as a manifest may have.
const MOST_ARGUMENTS: usize = 16;
const LONGEST_ARGUMENT: usize = 256;
/// As file systems have it.
const LONGEST_NAME: usize = 255;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetFault {
    condition: ProcessCondition,
    program: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
    duration_milliseconds: u64,
}

impl SetFault {
    fn check(self) -> Result<ProcessFault, String> {
        match (self.condition, &self.program) {
            (ProcessCondition::Replaced, Some(name)) => named(name)?,
            (ProcessCondition::Replaced, None) => return Err("program: is missing".into()),
            (_, Some(_)) => return Err("program: is for condition Replaced alone".into()),
            (_, None) if !self.arguments.is_empty() => {
                return Err("arguments: are for condition Replaced alone".into());
            }
            (_, None) => {}
        }
        if self.arguments.len() > MOST_ARGUMENTS {
            return Err(format!("arguments: must be {MOST_ARGUMENTS} or fewer"));
        }
        for (i, argument) in self.arguments.iter().enumerate() {
            if argument.len() > LONGEST_ARGUMENT || argument.contains('\0') {
                return Err(format!(
                    "arguments[{i}]: must have {LONGEST_ARGUMENT} bytes or fewer, none of them 0"
                ));
            }
        }
        lasting(self.duration_milliseconds)?;
        Ok(ProcessFault {
            condition: self.condition,
            program: self.program,
            arguments: self.arguments,
            duration_milliseconds: self.duration_milliseconds,
        })
    }
}

/// Whether this is the name of a file, and no way to another folder.
fn named(name: &str) -> Result<(), String> {
    let other = |letter: char| !letter.is_ascii_alphanumeric() && !"-._".contains(letter);
    if name.is_empty() || name.len() > LONGEST_NAME || name.starts_with('.') || name.contains(other)
    {
        return Err(
            "program: must be the name of a file, of letters, digits, '-', '.' and '_', and not \
             begin with '.'"
                .into(),
        );
    }
    Ok(())
}

/// The answer: the fault that begins.
#[derive(Serialize)]
pub(crate) struct Process {
    fault: ProcessFault,
}

pub(crate) async fn put_process<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Process>, Failure> {
    let fault = read_object(&body)
        .and_then(SetFault::check)
        .map_err(|reason| Failure::new(StatusCode::BAD_REQUEST, reason))?;
    api.node
        .begin_process_fault(fault.clone())
        .map_err(|Unavailable(reason)| Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason))?;
    Ok(Json(Process { fault }))
}
