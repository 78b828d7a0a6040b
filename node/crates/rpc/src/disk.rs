// SPDX-License-Identifier: Apache-2.0
//! `/admin/disk`, behind the token: a fault of the disk.

use crate::{
    DiskCondition, DiskFault, Node, Unavailable,
    admin::Authorized,
    bounds::{lasting, within},
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// With more, a node would not answer its own actors in time.
const DELAY_MILLISECONDS: RangeInclusive<u64> = 1..=1_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetFault {
    condition: DiskCondition,
    #[serde(default)]
    delay_milliseconds: u64,
    duration_milliseconds: u64,
}

impl SetFault {
    fn check(self) -> Result<DiskFault, String> {
        match self.condition {
            DiskCondition::Slow => within(
                "delayMilliseconds",
                self.delay_milliseconds,
                &DELAY_MILLISECONDS,
            )?,
            DiskCondition::Full if self.delay_milliseconds > 0 => {
                return Err("condition: Full has no delay".into());
            }
            DiskCondition::Full => {}
        }
        lasting(self.duration_milliseconds)?;
        Ok(DiskFault {
            condition: self.condition,
            delay_milliseconds: self.delay_milliseconds,
            remaining_milliseconds: self.duration_milliseconds,
        })
    }
}

/// The answer to all requests: the fault that goes on, if there is one.
#[derive(Serialize)]
pub(crate) struct Disk {
    fault: Option<DiskFault>,
}

fn answer<N: Node>(node: &N) -> Json<Disk> {
    Json(Disk {
        fault: node.disk_fault(),
    })
}

pub(crate) async fn get_disk<N: Node>(_: Authorized, State(api): State<AdminApi<N>>) -> Json<Disk> {
    answer(&api.node)
}

pub(crate) async fn put_disk<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Disk>, Failure> {
    let fault = read_object(&body)
        .and_then(SetFault::check)
        .map_err(|reason| Failure::new(StatusCode::BAD_REQUEST, reason))?;
    api.node
        .begin_disk_fault(fault)
        .map_err(|Unavailable(reason)| Failure::new(StatusCode::SERVICE_UNAVAILABLE, reason))?;
    Ok(answer(&api.node))
}

pub(crate) async fn delete_disk<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Disk> {
    api.node.end_disk_fault();
    answer(&api.node)
}
