// SPDX-License-Identifier: Apache-2.0
//! `/admin/profile`, behind the token: a profile of the node.

use crate::{
    Node, ProfileExtent, ProfileKind, ProfileStatus,
    admin::Authorized,
    handler::AdminApi,
    json::{Failure, JsonBytes, read_object},
};
use axum::{
    Json,
    body::Bytes,
    extract::State,
    http::{StatusCode, header::CONTENT_TYPE},
    response::IntoResponse,
};
use serde::{Deserialize, Serialize};
use std::{num::NonZeroU32, ops::RangeInclusive};

/// A profile ends by then, whatever it is of.
const SECONDS: RangeInclusive<u32> = 1..=60;
/// More are not finalised in that time.
const BLOCKS: RangeInclusive<u32> = 1..=6_000;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BeginProfile {
    #[serde(default)]
    kind: ProfileKind,
    blocks: Option<u32>,
    seconds: Option<u32>,
}

impl BeginProfile {
    fn check(self) -> Result<(ProfileKind, ProfileExtent), String> {
        let (field, value, range, extent): (_, _, _, fn(NonZeroU32) -> ProfileExtent) =
            match (self.blocks, self.seconds) {
                (Some(blocks), None) => ("blocks", blocks, BLOCKS, ProfileExtent::Blocks),
                (None, Some(seconds)) => ("seconds", seconds, SECONDS, ProfileExtent::Seconds),
                _ => return Err("must have one of blocks and seconds".into()),
            };
        NonZeroU32::new(value)
            .filter(|value| range.contains(&value.get()))
            .map(|value| (self.kind, extent(value)))
            .ok_or_else(|| format!("{field}: must be {} to {}", range.start(), range.end()))
    }
}

/// The answer to all requests but for the profile itself: the one that is taken or
/// was taken last, if there is one.
#[derive(Serialize)]
pub(crate) struct Profile {
    profile: Option<ProfileStatus>,
}

fn answer<N: Node>(node: &N) -> Json<Profile> {
    Json(Profile {
        profile: node.profile(),
    })
}

pub(crate) async fn get_profile<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Profile> {
    answer(&api.node)
}

pub(crate) async fn put_profile<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
    JsonBytes(body): JsonBytes,
) -> Result<Json<Profile>, Failure> {
    let (kind, extent) = read_object(&body)
        .and_then(BeginProfile::check)
        .map_err(|reason| Failure::new(StatusCode::BAD_REQUEST, reason))?;
    api.node
        .begin_profile(kind, extent)
        .map_err(|busy| Failure::new(StatusCode::CONFLICT, busy.to_string()))?;
    Ok(answer(&api.node))
}

pub(crate) async fn delete_profile<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Json<Profile> {
    api.node.end_profile();
    answer(&api.node)
}

pub(crate) async fn get_content<N: Node>(
    _: Authorized,
    State(api): State<AdminApi<N>>,
) -> Result<impl IntoResponse, Failure> {
    let content: Bytes = api
        .node
        .profile_content()
        .ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "there is no profile that is ready"))?;
    Ok(([(CONTENT_TYPE, "application/octet-stream")], content))
}
