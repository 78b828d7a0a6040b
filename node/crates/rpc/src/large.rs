// SPDX-License-Identifier: Apache-2.0
//! Answers that take memory: a few at a time, and fewer for one address, from
//! when they are made until their clients have read them.

use axum::{
    body::{Body, Bytes},
    http::{
        HeaderValue, StatusCode,
        header::{CONTENT_LENGTH, CONTENT_TYPE},
    },
    response::{IntoResponse as _, Response},
};
use futures::stream;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    convert::Infallible,
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Large answers at a time.
const AT_A_TIME: usize = 8;
/// Those of them for one address.
const FOR_ONE: usize = 2;

/// What of an answer is handed over at once: the rest waits until that is sent,
/// and holds the answer's place.
const PIECE: usize = 64 << 10;

/// Where a request is from, as an extension of it: addresses that count as one are
/// the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientAddress(pub IpAddr);

/// The places of large answers.
#[derive(Clone, Debug)]
pub(crate) struct Large(Arc<Places>);

#[derive(Debug)]
struct Places {
    all: Arc<Semaphore>,
    /// Those of addresses that have one or wait for one.
    by_address: Mutex<BTreeMap<ClientAddress, Arc<Semaphore>>>,
}

impl Default for Large {
    fn default() -> Self {
        Self(Arc::new(Places {
            all: Arc::new(Semaphore::new(AT_A_TIME)),
            by_address: Mutex::default(),
        }))
    }
}

/// The place of one large answer.
#[derive(Debug)]
pub(crate) struct Place {
    _permits: [Option<OwnedSemaphorePermit>; 2],
}

impl Large {
    /// Waits for a place, first among those of the same address.
    pub(crate) async fn place(&self, address: Option<ClientAddress>) -> Place {
        // Nobody closes them.
        let one = match address {
            Some(address) => self.0.of(address).acquire_owned().await.ok(),
            None => None,
        };
        let all = self.0.all.clone().acquire_owned().await.ok();
        Place {
            _permits: [all, one],
        }
    }
}

impl Places {
    /// The places of one address, which are kept as long as somebody has them.
    fn of(&self, address: ClientAddress) -> Arc<Semaphore> {
        let by_address = self.by_address.lock();
        let mut by_address = by_address.unwrap_or_else(PoisonError::into_inner);
        by_address.retain(|_, places| Arc::strong_count(places) > 1);
        by_address
            .entry(address)
            .or_insert_with(|| Arc::new(Semaphore::new(FOR_ONE)))
            .clone()
    }
}

impl Place {
    /// A value as JSON, which keeps its place until it is sent.
    pub(crate) fn json(self, value: &impl Serialize) -> Response {
        // What is answered is written without fail.
        let body = Bytes::from(serde_json::to_vec(value).unwrap_or_default());
        let length = HeaderValue::from(body.len());
        let pieces = stream::unfold((body, self), |(mut rest, place)| async move {
            if rest.is_empty() {
                return None;
            }
            let piece = rest.split_to(rest.len().min(PIECE));
            Some((Ok::<_, Infallible>(piece), (rest, place)))
        });
        // How long it may take to be sent is by its length.
        let head = [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CONTENT_LENGTH, length),
        ];
        (StatusCode::OK, head, Body::from_stream(pieces)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;
    use futures::{FutureExt as _, StreamExt as _, executor::block_on};

    fn from(last: u8) -> Option<ClientAddress> {
        Some(ClientAddress([192, 0, 2, last].into()))
    }

    fn is_free(large: &Large, address: Option<ClientAddress>) -> bool {
        large.place(address).now_or_never().is_some()
    }

    #[test]
    fn one_address_leaves_places_to_others() {
        let large = Large::default();
        let mut held: Vec<_> = (0..FOR_ONE)
            .map(|_| block_on(large.place(from(1))))
            .collect();
        assert!(!is_free(&large, from(1)));
        assert!(is_free(&large, from(2)));
        // Who waits for its own takes none of the others.
        let waiting: Vec<_> = (0..AT_A_TIME)
            .map(|_| {
                let mut waiting = Box::pin(large.place(from(1)));
                assert!((&mut waiting).now_or_never().is_none());
                waiting
            })
            .collect();
        let others = (2..).map(from).take(AT_A_TIME - FOR_ONE);
        held.extend(others.map(|other| large.place(other).now_or_never().unwrap()));
        assert!(!is_free(&large, from(99)));
        drop((held, waiting));
        assert!(is_free(&large, from(1)));
        let by_address = large.0.by_address.lock().unwrap();
        assert_eq!(by_address.len(), 1);
    }

    #[test]
    fn an_answer_that_is_not_read_keeps_its_place() {
        let large = Large::default();
        let value = "x".repeat(3 * PIECE);
        let answer = || block_on(large.place(None)).json(&value);
        let mut answers: Vec<_> = (0..AT_A_TIME).map(|_| answer()).collect();
        assert!(!is_free(&large, None));

        let mut begun = answers.pop().unwrap().into_body().into_data_stream();
        let piece = block_on(begun.next()).unwrap().unwrap();
        assert_eq!(piece.len(), PIECE);
        assert!(!is_free(&large, None));
        drop(begun);
        assert!(is_free(&large, None));
    }

    #[test]
    fn an_answer_is_whole() {
        let value = "x".repeat(3 * PIECE);
        let answer = block_on(Large::default().place(None)).json(&value);
        let length = answer.headers()[CONTENT_LENGTH].to_str().unwrap();
        assert_eq!(length, (value.len() + 2).to_string());
        let body = block_on(to_bytes(answer.into_body(), usize::MAX)).unwrap();
        assert_eq!(serde_json::from_slice::<String>(&body).unwrap(), value);
    }
}
