// SPDX-License-Identifier: Apache-2.0
//! The direction of a connection that is sent.

use crate::{
    line::Line,
    piece::{Arrivals, MOST_PIECES, Piece, Room},
    runtime::{Origin, Shared},
    schedule::Schedule,
};
use commonware_runtime::{Clock, Error, IoBufs, Network, SinkOf, Spawner};
use commonware_utils::channel::{mpsc, oneshot};
use futures::future::{Either, select};
use rand_core::Rng;
use std::{fmt, mem, pin::pin, sync::Arc};

/// The sending half of a connection.
pub struct Sink<E: Network>(Way<E>);

enum Way<E: Network> {
    /// The inner network's own, until the line to the peer has a fault, if there
    /// is one.
    Direct(SinkOf<E>, Option<Origin<E>>),
    Linked(Box<Outgoing<E>>),
    /// What is here while one becomes the other.
    Nowhere,
}

impl<E: Network> Sink<E> {
    pub(crate) const fn direct(inner: SinkOf<E>, origin: Option<Origin<E>>) -> Self {
        Self(Way::Direct(inner, origin))
    }
}

impl<E: Network + Clock + Spawner + Rng> Sink<E> {
    pub(crate) fn linked(inner: SinkOf<E>, origin: Origin<E>) -> Self {
        Self(Way::Linked(Box::new(Outgoing::start(inner, origin))))
    }

    /// What is sent from now on is held up if the line has a fault.
    fn notice(&mut self) {
        if !matches!(&self.0, Way::Direct(_, Some(origin)) if origin.line.is_faulty()) {
            return;
        }
        if let Way::Direct(inner, Some(origin)) = mem::replace(&mut self.0, Way::Nowhere) {
            *self = Self::linked(inner, origin);
        }
    }
}

impl<E: Network> fmt::Debug for Sink<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sink").finish_non_exhaustive()
    }
}

impl<E: Network + Clock + Spawner + Rng> commonware_runtime::Sink for Sink<E> {
    async fn send(&mut self, bufs: impl Into<IoBufs> + Send) -> Result<(), Error> {
        self.notice();
        match &mut self.0 {
            Way::Direct(inner, _) => inner.send(bufs).await,
            Way::Linked(outgoing) => outgoing.send(bufs.into()).await,
            Way::Nowhere => Err(Error::Closed),
        }
    }
}

/// What is given to a link.
struct Outgoing<E: Network> {
    shared: Arc<Shared<E>>,
    line: Arc<Line>,
    schedule: Schedule,
    /// The bytes of a piece, at most.
    piece: usize,
    room: Room,
    /// Nothing while something is being sent, and once that failed.
    pieces: Option<mpsc::Sender<Piece<IoBufs>>>,
    /// Why pieces do not arrive any more.
    failure: oneshot::Receiver<Error>,
}

impl<E: Network + Clock + Spawner + Rng> Outgoing<E> {
    fn start(inner: SinkOf<E>, origin: Origin<E>) -> Self {
        let seed = origin.seed();
        let Origin { shared, line } = origin;
        let conditions = line.conditions();
        let (pieces, on_their_way) = mpsc::channel(MOST_PIECES);
        let (failed, failure) = oneshot::channel();
        let led = line.clone();
        let deliver = move |context: E| async move {
            if let Err(error) = deliver(&context, &led, inner, on_their_way).await {
                // Whoever sends next is told, if anybody does.
                let _ = failed.send(error);
            }
        };
        // It ends by itself: when everything has arrived.
        drop(shared.context.child("sink").spawn(deliver));
        Self {
            schedule: Schedule::new(conditions, seed),
            piece: conditions.piece(),
            room: Room::new(conditions.window()),
            pieces: Some(pieces),
            failure,
            line,
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
            self.room.widen(self.line.conditions().window());
            // When pieces do not arrive any more they are dropped, and there is room.
            let room = self.room.take(bytes).await;
            let now = self.shared.context.current();
            self.schedule.change(self.line.conditions());
            let piece = Piece {
                content: bufs.split_to(bytes),
                passage: self.schedule.accept(bytes, now),
                room,
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
    line: &Line,
    mut inner: S,
    mut pieces: mpsc::Receiver<Piece<IoBufs>>,
) -> Result<(), Error> {
    let mut arrivals = Arrivals::default();
    while let Some(piece) = pieces.recv().await {
        arrivals.wait(clock, piece.passage, line, line.sent()).await;
        inner.send(piece.content).await?;
        drop(piece.room);
    }
    clock.sleep(line.conditions().delay).await;
    line.opened().await;
    Ok(())
}
