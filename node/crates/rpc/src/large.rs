// SPDX-License-Identifier: Apache-2.0
//! Answers that take memory: a few at a time, from when they are made until
//! their clients have read them.

use axum::{
    body::{Body, Bytes},
    http::{StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse as _, Response},
};
use futures::stream;
use serde::Serialize;
use std::{convert::Infallible, sync::Arc};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Large answers at a time.
const AT_A_TIME: usize = 8;

/// What of an answer is handed over at once: the rest waits until that is sent,
/// and holds the answer's place.
const PIECE: usize = 64 << 10;

/// The places of large answers.
#[derive(Clone, Debug)]
pub(crate) struct Large(Arc<Semaphore>);

impl Default for Large {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(AT_A_TIME)))
    }
}

/// The place of one large answer.
#[derive(Debug)]
pub(crate) struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

impl Large {
    /// Waits for a place.
    pub(crate) async fn place(&self) -> Place {
        Place {
            // Nobody closes it.
            _permit: self.0.clone().acquire_owned().await.ok(),
        }
    }
}

impl Place {
    /// A value as JSON, which keeps its place until it is sent.
    pub(crate) fn json(self, value: &impl Serialize) -> Response {
        // What is answered is written without fail.
        let body = Bytes::from(serde_json::to_vec(value).unwrap_or_default());
        let pieces = stream::unfold((body, self), |(mut rest, place)| async move {
            if rest.is_empty() {
                return None;
            }
            let piece = rest.split_to(rest.len().min(PIECE));
            Some((Ok::<_, Infallible>(piece), (rest, place)))
        });
        let kind = [(CONTENT_TYPE, "application/json")];
        (StatusCode::OK, kind, Body::from_stream(pieces)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use futures::{FutureExt as _, StreamExt as _, executor::block_on};

    fn is_free(large: &Large) -> bool {
        large.place().now_or_never().is_some()
    }

    #[test]
    fn an_answer_that_is_not_read_keeps_its_place() {
        let large = Large::default();
        let value = "x".repeat(3 * PIECE);
        let answer = || block_on(large.place()).json(&value);
        let mut answers: Vec<_> = (0..AT_A_TIME).map(|_| answer()).collect();
        assert!(!is_free(&large));

        let mut begun = answers.pop().unwrap().into_body().into_data_stream();
        let piece = block_on(begun.next()).unwrap().unwrap();
        assert_eq!(piece.len(), PIECE);
        assert!(!is_free(&large));
        drop(begun);
        assert!(is_free(&large));
    }

    #[test]
    fn an_answer_is_whole() {
        let value = "x".repeat(3 * PIECE);
        let answer = block_on(Large::default().place()).json(&value);
        let body = block_on(to_bytes(answer.into_body(), usize::MAX)).unwrap();
        assert_eq!(serde_json::from_slice::<String>(&body).unwrap(), value);
    }
}
