// SPDX-License-Identifier: Apache-2.0
//! Answers that are made once for all who ask at about the same time.
//!
//! Whoever asks gets an answer that is at most [`FRESH`] old, so that many who
//! ask cost the node little more than one.

use axum::{
    body::Bytes,
    http::{HeaderName, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
};
use serde::Serialize;
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

/// How old an answer may be.
const FRESH: Duration = Duration::from_millis(200);

/// An answer as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    status: StatusCode,
    content_type: [(HeaderName, &'static str); 1],
    body: Bytes,
}

impl Answer {
    /// Text of some type.
    pub(crate) fn text(content_type: &'static str, text: String) -> Self {
        Self {
            status: StatusCode::OK,
            content_type: [(CONTENT_TYPE, content_type)],
            body: text.into(),
        }
    }

    /// A value as JSON.
    pub(crate) fn json(status: StatusCode, value: &impl Serialize) -> Self {
        // What the node says of itself is written without fail.
        let body = serde_json::to_vec(value).unwrap_or_default();
        Self {
            status,
            content_type: [(CONTENT_TYPE, "application/json")],
            body: body.into(),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        (self.status, self.content_type, self.body).into_response()
    }
}

/// The last answer of one endpoint.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Option<(SystemTime, Answer)>>);

impl Kept {
    /// The last answer while it is fresh, and then a new one.
    pub(crate) fn get(&self, now: SystemTime, make: impl FnOnce() -> Answer) -> Answer {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made, answer)) = &*kept
            && now.duration_since(*made).is_ok_and(|age| age < FRESH)
        {
            return answer.clone();
        }
        let answer = make();
        *kept = Some((now, answer.clone()));
        answer
    }
}
