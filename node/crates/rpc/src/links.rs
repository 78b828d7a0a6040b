// SPDX-License-Identifier: Apache-2.0
//! `/admin/links`, behind the token: a fault of the links to peers.

use crate::{
    LinkCondition, LinkFault, Node,
    admin::Authorized,
    bounds::{lasting, within},
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{Json, extract::State, http::StatusCode};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeSet, ops::RangeInclusive};

/// One way. With more, peers that dial each other meanwhile would not finish their
/// handshake in the time that a dial has.
const DELAY_MILLISECONDS: RangeInclusive<u64> = 0..=300;
/// With more, next to nothing would pass.
const LOSS_BASIS_POINTS: RangeInclusive<u16> = 0..=5_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SetFault {
    peers: BTreeSet<String>,
    condition: LinkCondition,
    #[serde(default)]
    delay_milliseconds: u64,
    #[serde(default)]
    loss_basis_points: u16,
    duration_milliseconds: u64,
}

impl SetFault {
    fn check(self) -> Result<LinkFault, String> {
        within(
            "delayMilliseconds",
            self.delay_milliseconds,
            &DELAY_MILLISECONDS,
        )?;
        within(
            "lossBasisPoints",
            self.loss_basis_points,
            &LOSS_BASIS_POINTS,
        )?;
        lasting(self.duration_milliseconds)?;
        let worse = self.delay_milliseconds > 0 || self.loss_basis_points > 0;
        match self.condition {
            LinkCondition::Cut if worse => {
                return Err("condition: Cut has neither delay nor loss".into());
            }
            LinkCondition::Worse if !worse => {
                return Err("condition: Worse must have a delay or a loss".into());
            }
            LinkCondition::Cut | LinkCondition::Worse => {}
        }
        if self.peers.is_empty() {
            return Err("peers: must not be empty".into());
        }
        Ok(LinkFault {
            peers: self.peers,
            condition: self.condition,
            delay_milliseconds: self.delay_milliseconds,
            loss_basis_points: self.loss_basis_points,
            remaining_milliseconds: self.duration_milliseconds,
        })
    }
}

/// The answer to all requests: the fault that goes on, if there is one.
#[derive(Serialize)]
pub(crate) struct Links {
    fault: Option<LinkFault>,
}

fn answer<N: Node>(node: &N) -> Json<Links> {
    Json(Links {
        fault: node.link_fault(),
    })
}

pub(crate) async fn get_links<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Links> {
    answer(&api.node)
}

pub(crate) async fn put_links<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Links>, Failure> {
    let wrong = |reason: String| Failure::new(StatusCode::BAD_REQUEST, reason);
    let fault = read_object(&body)
        .and_then(SetFault::check)
        .map_err(wrong)?;
    api.node
        .begin_link_fault(fault)
        .map_err(|unknown| wrong(format!("peers: {unknown}")))?;
    Ok(answer(&api.node))
}

pub(crate) async fn delete_links<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Links> {
    api.node.end_link_fault();
    answer(&api.node)
}
