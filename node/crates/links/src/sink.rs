// SPDX-License-Identifier: Apache-2.0
//! The direction of a connection that is sent.

use crate::{
    piece::{Arrivals, MOST_PIECES, Piece},
    runtime::Shared,
    schedule::Schedule,
    table::Link,
};
use commonware_runtime::{Clock, Error, IoBufs, Network, SinkOf, Spawner};
use commonware_utils::channel::{mpsc, oneshot};
use futures::future::{Either, select};
use std::{fmt, pin::pin, sync::Arc};
use tokio::sync::Semaphore;

/// The sending half of a connection.
pub struct Sink<E: Network>(Way<E>);

enum Way<E: Network> {
    Direct(SinkOf<E>),
    Linked(Box<Outgoing<E>>),
}

impl<E: Network> Sink<E> {
    pub(crate) const fn direct(inner: SinkOf<E>) -> Self {
        Self(Way::Direct(inner))
    }
}

impl<E: Network + Clock + Spawner> Sink<E> {
    pub(crate) fn linked(
        shared: Arc<Shared<E>>,
        link: Arc<Link>,
        inner: SinkOf<E>,
        seed: u64,
    ) -> Self {
        let outgoing = Outgoing::start(shared, link, inner, seed);
        Self(Way::Linked(Box::new(outgoing)))
    }
}

impl<E: Network> fmt::Debug for Sink<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}

impl<E: Network + Clock> commonware_runtime::Sink for Sink<E> {
    async fn send(&mut self, bufs: impl Into<IoBufs> + Send) -> Result<(), Error> {
        match &mut self.0 {
            Way::Direct(inner) => inner.send(bufs).await,
            Way::Linked(outgoing) => outgoing.send(bufs.into()).await,
        }
    }
}

/// What is given to a link.
struct Outgoing<E: Network> {
    shared: Arc<Shared<E>>,
    schedule: Schedule,
    /// The bytes of a piece, at most.
    piece: usize,
    room: Arc<Semaphore>,
    /// Nothing while something is being sent, and once that failed.
    pieces: Option<mpsc::Sender<Piece<IoBufs>>>,
    /// Why pieces do not arrive any more.
    failure: oneshot::Receiver<Error>,
}

impl<E: Network + Clock + Spawner> Outgoing<E> {
    fn start(shared: Arc<Shared<E>>, link: Arc<Link>, inner: SinkOf<E>, seed: u64) -> Self {
        let conditions = link.conditions();
        let room = Arc::new(Semaphore::new(conditions.window()));
        let (pieces, on_their_way) = mpsc::channel(MOST_PIECES);
        let (failed, failure) = oneshot::channel();
        let deliver = move |context: E| async move {
            if let Err(error) = deliver(&context, &link, inner, on_their_way).await {
                // Whoever sends next is told, if anybody does.
                let _ = failed.send(error);
            }
        };
        // It ends by itself: when everything has arrived.
        drop(shared.context.child("sink").spawn(deliver));
        Self {
            schedule: Schedule::new(conditions, seed),
            piece: conditions.piece(),
            room,
            pieces: Some(pieces),
            failure,
            shared,
        }
    }
}

impl<E: Network + Clock> Outgoing<E> {
    async fn send(&mut self, bufs: IoBufs) -> Result<(), Error> {
        // If this is abandoned or fails they are dropped, which is the end.
        let pieces = self.pieces.take().ok_or(Error::Closed)?;
        let patience = self.shared.patience();
        match select(pin!(self.queue(&pieces, bufs)), pin!(patience)).await {
            Either::Left((queued, _)) => queued?,
            Either::Right(_) => return Err(Error::Timeout),
        }
        self.pieces = Some(pieces);
        Ok(())
    }

    async fn queue(
        &mut self,
        pieces: &mpsc::Sender<Piece<IoBufs>>,
        mut bufs: IoBufs,
    ) -> Result<(), Error> {
        while !bufs.is_empty() {
            let bytes = bufs.len().min(self.piece);
            let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
            // When pieces do not arrive any more they are dropped, and there is room.
            let room = self.room.clone().acquire_many_owned(permits).await;
            let now = self.shared.context.current();
            let piece = Piece {
                content: bufs.split_to(bytes),
                passage: self.schedule.accept(bytes, now),
                room: room.ok(),
            };
            if pieces.send(piece).await.is_err() {
                return Err(self.failure().await);
            }
        }
        Ok(())
    }

    async fn failure(&mut self) -> Error {
        (&mut self.failure).await.unwrap_or(Error::Closed)
    }
}

/// Hands on what has arrived, and the end.
async fn deliver<S: commonware_runtime::Sink>(
    clock: &impl Clock,
    link: &Link,
    mut inner: S,
    mut pieces: mpsc::Receiver<Piece<IoBufs>>,
) -> Result<(), Error> {
    let mut arrivals = Arrivals::default();
    while let Some(piece) = pieces.recv().await {
        arrivals.wait(clock, piece.passage, &link.sent).await;
        inner.send(piece.content).await?;
        drop(piece.room);
    }
    clock.sleep(link.conditions().delay).await;
    Ok(())
}
