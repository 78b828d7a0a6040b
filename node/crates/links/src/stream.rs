// SPDX-License-Identifier: Apache-2.0
//! The direction of a connection that is received.

use crate::{
    line::Line,
    piece::{Arrivals, MOST_PIECES, Piece, Room},
    runtime::{Origin, Shared},
    schedule::Schedule,
};
use commonware_runtime::{Clock, Error, IoBufs, Network, Spawner, StreamOf};
use commonware_utils::channel::mpsc;
use futures::future::{Either, select};
use rand_core::Rng;
use std::{fmt, mem, pin::pin, sync::Arc};

/// The receiving half of a connection.
pub struct Stream<E: Network>(Way<E>);

enum Way<E: Network> {
    /// The inner network's own, until the line to the peer has a fault, if there
    /// is one.
    Direct(StreamOf<E>, Option<Origin<E>>),
    Linked(Box<Incoming<E>>),
    /// What is here while one becomes the other.
    Nowhere,
}

/// What is received at once, or why nothing is.
type Content = Result<IoBufs, Error>;

impl<E: Network> Stream<E> {
    pub(crate) const fn direct(inner: StreamOf<E>, origin: Option<Origin<E>>) -> Self {
        Self(Way::Direct(inner, origin))
    }

    fn is_faulty(&self) -> bool {
        matches!(&self.0, Way::Direct(_, Some(origin)) if origin.line.is_faulty())
    }
}

impl<E: Network + Clock + Spawner + Rng> Stream<E> {
    pub(crate) fn linked(inner: StreamOf<E>, origin: Origin<E>) -> Self {
        Self(Way::Linked(Box::new(Incoming::start(inner, origin, None))))
    }

    /// What is received from now on is held up if the line has a fault, and so is
    /// what came last.
    fn notice(&mut self, last: Option<Content>) {
        if let Way::Direct(inner, Some(origin)) = mem::replace(&mut self.0, Way::Nowhere) {
            let incoming = Incoming::start(inner, origin, last);
            self.0 = Way::Linked(Box::new(incoming));
        }
    }
}

impl<E: Network> fmt::Debug for Stream<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}

impl<E: Network + Clock + Spawner + Rng> commonware_runtime::Stream for Stream<E> {
    async fn recv(&mut self, len: usize) -> Result<IoBufs, Error> {
        if self.is_faulty() {
            self.notice(None);
        }
        if let Way::Direct(inner, _) = &mut self.0 {
            let received = inner.recv(len).await;
            // It took too long on this side of the line.
            let own = matches!(received, Err(Error::Timeout));
            if own || !self.is_faulty() {
                return received;
            }
            self.notice(Some(received));
        }
        match &mut self.0 {
            Way::Linked(incoming) => incoming.recv(len).await,
            Way::Direct(..) | Way::Nowhere => Err(Error::Closed),
        }
    }

    fn peek(&self, max_len: usize) -> &[u8] {
        match &self.0 {
            Way::Direct(inner, _) => inner.peek(max_len),
            Way::Linked(incoming) => incoming.peek(max_len),
            Way::Nowhere => &[],
        }
    }
}

/// What comes over the link, and at last why no more does.
type Pieces = mpsc::Receiver<Piece<Content>>;

/// What a link gives.
struct Incoming<E: Network> {
    shared: Arc<Shared<E>>,
    line: Arc<Line>,
    /// Nothing while something is being received, and once that failed.
    pieces: Option<Pieces>,
    arrivals: Arrivals,
    /// What has arrived and was not asked for.
    ready: IoBufs,
}

impl<E: Network + Clock + Spawner + Rng> Incoming<E> {
    /// What was received already comes first.
    fn start(inner: StreamOf<E>, origin: Origin<E>, first: Option<Content>) -> Self {
        let seed = origin.seed();
        let Origin { shared, line } = origin;
        let (on_their_way, pieces) = mpsc::channel(MOST_PIECES);
        let conditions = line.conditions();
        let accept = Accept {
            line: line.clone(),
            schedule: Schedule::new(conditions, seed),
            piece: conditions.piece(),
            room: Room::new(conditions.window()),
            pieces: on_their_way,
        };
        // It ends by itself: when nobody receives any more.
        let accept = move |context: E| async move { accept.run(&context, inner, first).await };
        drop(shared.context.child("stream").spawn(accept));
        Self {
            shared,
            line,
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
            let (clock, line) = (&self.shared.context, &self.line);
            self.arrivals
                .wait(clock, piece.passage, line, line.received())
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
    line: Arc<Line>,
    schedule: Schedule,
    piece: usize,
    room: Room,
    pieces: mpsc::Sender<Piece<Content>>,
}

impl Accept {
    async fn run<S: commonware_runtime::Stream>(
        mut self,
        clock: &impl Clock,
        mut inner: S,
        first: Option<Content>,
    ) {
        if let Some(first) = first
            && !self.accept(clock, first).await
        {
            return;
        }
        loop {
            let read = read(&mut inner, self.piece);
            let content = match select(pin!(read), pin!(self.pieces.closed())).await {
                Either::Left((content, _)) => content,
                Either::Right(_) => return,
            };
            if !self.accept(clock, content).await {
                return;
            }
        }
    }

    /// Takes what was received; false if it was the last.
    async fn accept(&mut self, clock: &impl Clock, content: Content) -> bool {
        let failed = content.is_err();
        let bytes = content.as_ref().map_or(0, IoBufs::len);
        self.room.widen(self.line.conditions().window());
        let room = self.room.take(bytes).await;
        self.schedule.change(self.line.conditions());
        let piece = Piece {
            content,
            passage: self.schedule.accept(bytes, clock.current()),
            room,
        };
        self.pieces.send(piece).await.is_ok() && !failed
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
