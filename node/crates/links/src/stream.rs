// SPDX-License-Identifier: Apache-2.0
//! The direction of a connection that is received.

use crate::{
    piece::{Arrivals, MOST_PIECES, Piece},
    runtime::Shared,
    schedule::Schedule,
    table::Link,
};
use commonware_runtime::{Clock, Error, IoBufs, Network, Spawner, StreamOf};
use commonware_utils::channel::mpsc;
use futures::future::{Either, select};
use std::{fmt, pin::pin, sync::Arc};
use tokio::sync::Semaphore;

/// The receiving half of a connection.
pub struct Stream<E: Network>(Way<E>);

enum Way<E: Network> {
    Direct(StreamOf<E>),
    Linked(Box<Incoming<E>>),
}

impl<E: Network> Stream<E> {
    pub(crate) const fn direct(inner: StreamOf<E>) -> Self {
        Self(Way::Direct(inner))
    }
}

impl<E: Network + Clock + Spawner> Stream<E> {
    pub(crate) fn linked(
        shared: Arc<Shared<E>>,
        link: Arc<Link>,
        inner: StreamOf<E>,
        seed: u64,
    ) -> Self {
        let incoming = Incoming::start(shared, link, inner, seed);
        Self(Way::Linked(Box::new(incoming)))
    }
}

impl<E: Network> fmt::Debug for Stream<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl<E: Network + Clock> commonware_runtime::Stream for Stream<E> {
    async fn recv(&mut self, len: usize) -> Result<IoBufs, Error> {
        match &mut self.0 {
            Way::Direct(inner) => inner.recv(len).await,
            Way::Linked(incoming) => incoming.recv(len).await,
        }
    }

    fn peek(&self, max_len: usize) -> &[u8] {
        match &self.0 {
            Way::Direct(inner) => inner.peek(max_len),
            Way::Linked(incoming) => incoming.peek(max_len),
        }
    }
}

/// What comes over the link, and at last why no more does.
type Pieces = mpsc::Receiver<Piece<Result<IoBufs, Error>>>;

/// What a link gives.
struct Incoming<E: Network> {
    shared: Arc<Shared<E>>,
    link: Arc<Link>,
    /// Nothing while something is being received, and once that failed.
    pieces: Option<Pieces>,
    arrivals: Arrivals,
    /// What has arrived and was not asked for.
    ready: IoBufs,
}

impl<E: Network + Clock + Spawner> Incoming<E> {
    fn start(shared: Arc<Shared<E>>, link: Arc<Link>, inner: StreamOf<E>, seed: u64) -> Self {
        let (on_their_way, pieces) = mpsc::channel(MOST_PIECES);
        let conditions = link.conditions();
        let accept = Accept {
            schedule: Schedule::new(conditions, seed),
            piece: conditions.piece(),
            room: Arc::new(Semaphore::new(conditions.window())),
            pieces: on_their_way,
        };
        // It ends by itself: when nobody receives any more.
        let accept = move |context: E| async move { accept.run(&context, inner).await };
        drop(shared.context.child("stream").spawn(accept));
        Self {
            shared,
            link,
            pieces: Some(pieces),
            arrivals: Arrivals::default(),
            ready: IoBufs::default(),
        }
    }
}

impl<E: Network + Clock> Incoming<E> {
    async fn recv(&mut self, len: usize) -> Result<IoBufs, Error> {
        // If this is abandoned or fails they are dropped, which is the end.
        let mut pieces = self.pieces.take().ok_or(Error::Closed)?;
        if self.ready.len() < len {
            let patience = self.shared.patience();
            match select(pin!(self.arrive(&mut pieces, len)), pin!(patience)).await {
                Either::Left((arrived, _)) => arrived?,
                Either::Right(_) => return Err(Error::Timeout),
            }
        }
        self.pieces = Some(pieces);
        Ok(self.ready.split_to(len))
    }

    async fn arrive(&mut self, pieces: &mut Pieces, len: usize) -> Result<(), Error> {
        while self.ready.len() < len {
            let piece = pieces.recv().await.ok_or(Error::Closed)?;
            let received = &self.link.received;
            self.arrivals
                .wait(&self.shared.context, piece.passage, received)
                .await;
            append(&mut self.ready, piece.content?);
        }
        Ok(())
    }

    /// A part of what is ready is enough.
    fn peek(&self, max_len: usize) -> &[u8] {
        let first = self.ready.chunk_at(0).unwrap_or_default();
        &first[..first.len().min(max_len)]
    }
}

/// Adds the chunks of `more`, none of which is copied.
fn append(bufs: &mut IoBufs, mut more: IoBufs) {
    while let Some(chunk) = more.chunk_at(0).map(<[u8]>::len) {
        bufs.append(more.split_to(chunk).coalesce());
    }
}

/// Takes what comes from the inner stream, as long as there is room.
struct Accept {
    schedule: Schedule,
    piece: usize,
    room: Arc<Semaphore>,
    pieces: mpsc::Sender<Piece<Result<IoBufs, Error>>>,
}

impl Accept {
    async fn run<S: commonware_runtime::Stream>(mut self, clock: &impl Clock, mut inner: S) {
        loop {
            let read = read(&mut inner, self.piece);
            let content = match select(pin!(read), pin!(self.pieces.closed())).await {
                Either::Left((content, _)) => content,
                Either::Right(_) => return,
            };
            let failed = content.is_err();
            let bytes = content.as_ref().map_or(0, IoBufs::len);
            let permits = u32::try_from(bytes).unwrap_or(u32::MAX);
            let room = self.room.clone().acquire_many_owned(permits).await;
            let piece = Piece {
                content,
                passage: self.schedule.accept(bytes, clock.current()),
                room: room.ok(),
            };
            if self.pieces.send(piece).await.is_err() || failed {
                return;
            }
        }
    }
}

/// What there is, at least a byte and at most a piece.
async fn read(inner: &mut impl commonware_runtime::Stream, piece: usize) -> Result<IoBufs, Error> {
    let mut bufs = inner.recv(1).await?;
    let more = inner.peek(piece - 1).len();
    if more > 0 {
        append(&mut bufs, inner.recv(more).await?);
    }
    Ok(bufs)
}
