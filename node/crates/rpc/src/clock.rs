// SPDX-License-Identifier: Apache-2.0
//! `/admin/clock`, behind the token: a fault of the clock.

use crate::{
    ClockFault, Node,
    admin::Authorized,
    bounds::{lasting, within},
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use std::ops::RangeInclusive;

/// A minute either way: far beyond what peers bear of each other.
const OFFSET_MILLISECONDS: RangeInclusive<i64> = -60_000..=60_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetFault {
    offset_milliseconds: i64,
    duration_milliseconds: u64,
}

impl SetFault {
    fn check(self) -> Result<ClockFault, String> {
        within(
            "offsetMilliseconds",
            self.offset_milliseconds,
            &OFFSET_MILLISECONDS,
        )?;
        if self.offset_milliseconds == 0 {
            return Err("offsetMilliseconds: must not be 0".into());
        }
        lasting(self.duration_milliseconds)?;
        Ok(ClockFault {
            offset_milliseconds: self.offset_milliseconds,
            remaining_milliseconds: self.duration_milliseconds,
        })
    }
}

/// The answer to all requests: the fault that goes on, if there is one.
#[derive(Serialize)]
pub(crate) struct Clock {
    fault: Option<ClockFault>,
}

fn answer<N: Node>(node: &N) -> Json<Clock> {
    Json(Clock {
        fault: node.clock_fault(),
    })
}

pub(crate) async fn get_clock<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Clock> {
    answer(&api.node)
}

pub(crate) async fn put_clock<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Clock>, Failure> {
    let fault = read_object(&body)
        .and_then(SetFault::check)
        .map_err(|reason| Failure::new(StatusCode::BAD_REQUEST, reason))?;
    api.node.begin_clock_fault(fault);
    Ok(answer(&api.node))
}

pub(crate) async fn delete_clock<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Clock> {
    api.node.end_clock_fault();
    answer(&api.node)
}
