// SPDX-License-Identifier: Apache-2.0
//! The runtime around the network: all but connections is the inner runtime's.

use crate::{line::Line, sink::Sink, stream::Stream, table::Table};
use commonware_runtime::{
    Clock, Error, Handle, ListenerOf, Metrics, Name, Network, Resolver, SinkOf, Spawner, StreamOf,
    Supervisor,
    signal::Signal,
    telemetry::metrics::{Metric, Registered},
};
use futures::future::{Either, select};
use rand_core::{Rng, TryCryptoRng, TryRng};
use std::{
    fmt,
    future::Future,
    io,
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

/// A runtime whose connections go over links; see the crate.
pub struct Linked<E> {
    inner: E,
    shared: Arc<Shared<E>>,
}

/// What a runtime, its children and its connections share.
pub(crate) struct Shared<E> {
    /// Whose children what is on its way is: a connection outlives whoever
    /// dialled it.
    pub(crate) context: E,
    table: Table,
    patience: Duration,
}

impl<E: Clock> Shared<E> {
    /// Ends when sending or receiving took too long.
    pub(crate) fn patience(&self) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.context.sleep(self.patience)
    }
}

/// Where a connection comes from.
pub(crate) struct Origin<E> {
    pub(crate) shared: Arc<Shared<E>>,
    /// The way to its peer.
    pub(crate) line: Arc<Line>,
}

impl<E> Clone for Origin<E> {
    fn clone(&self) -> Self {
        Self {
            shared: self.shared.clone(),
            line: self.line.clone(),
        }
    }
}

impl<E: Supervisor + Rng> Origin<E> {
    /// For what is random in one direction.
    pub(crate) fn seed(&self) -> u64 {
        self.shared.context.child("seeds").next_u64()
    }
}

impl<E: Supervisor> Linked<E> {
    /// A runtime whose connections, and those of all of its children, go over
    /// the links of `table`. `patience` is how long the inner runtime takes to
    /// send or receive, at most.
    #[must_use]
    pub fn new(inner: E, table: Table, patience: Duration) -> Self {
        let shared = Shared {
            context: inner.child("links"),
            table,
            patience,
        };
        Self {
            inner,
            shared: Arc::new(shared),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for Linked<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Linked")
            .field("inner", &self.inner)
            .finish_non_exhaustive()
    }
}

impl<E: Network + Clock + Spawner + Rng> Network for Linked<E> {
    type Listener = Listener<E>;

    async fn bind(&self, socket: SocketAddr) -> Result<Listener<E>, Error> {
        self.inner.bind(socket).await.map(Listener)
    }

    async fn dial(&self, socket: SocketAddr) -> Result<(Sink<E>, Stream<E>), Error> {
        let Some(line) = self.shared.table.line(socket) else {
            let (sink, stream) = self.inner.dial(socket).await?;
            return Ok((Sink::direct(sink, None), Stream::direct(stream, None)));
        };
        let shared = self.shared.clone();
        let origin = Origin { shared, line };
        if origin.line.is_plain() {
            let (sink, stream) = self.inner.dial(socket).await?;
            let sink = Sink::direct(sink, Some(origin.clone()));
            return Ok((sink, Stream::direct(stream, Some(origin))));
        }
        let patience = self.shared.patience();
        let dialled = dial(&self.inner, socket, &origin.line);
        let (sink, stream) = match select(pin!(dialled), pin!(patience)).await {
            Either::Left((dialled, _)) => dialled?,
            Either::Right(_) => return Err(Error::Timeout),
        };
        let sink = Sink::linked(sink, origin.clone());
        Ok((sink, Stream::linked(stream, origin)))
    }
}

/// Dials over a line: there, and with whatever comes of it back.
async fn dial<E: Network + Clock>(
    inner: &E,
    socket: SocketAddr,
    line: &Line,
) -> Result<(SinkOf<E>, StreamOf<E>), Error> {
    line.opened().await;
    let dialled = inner.dial(socket).await;
    inner.sleep(line.conditions().round_trip()).await;
    line.opened().await;
    dialled
}

/// Where connections are accepted, which are the inner runtime's own.
pub struct Listener<E: Network>(ListenerOf<E>);

impl<E: Network> fmt::Debug for Listener<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl<E: Network + Clock + Spawner + Rng> commonware_runtime::Listener for Listener<E> {
    type Sink = Sink<E>;
    type Stream = Stream<E>;

    async fn accept(&mut self) -> Result<(SocketAddr, Sink<E>, Stream<E>), Error> {
        let (address, sink, stream) = self.0.accept().await?;
        Ok((
            address,
            Sink::direct(sink, None),
            Stream::direct(stream, None),
        ))
    }

    fn local_addr(&self) -> Result<SocketAddr, io::Error> {
        self.0.local_addr()
    }
}

impl<E: Resolver> Resolver for Linked<E> {
    async fn resolve(&self, host: &str) -> Result<Vec<IpAddr>, Error> {
        let addresses = self.inner.resolve(host).await?;
        self.shared.table.resolved(host, &addresses);
        Ok(addresses)
    }
}

impl<E: Supervisor> Supervisor for Linked<E> {
    fn name(&self) -> Name {
        self.inner.name()
    }

    fn child(&self, label: &'static str) -> Self {
        Self {
            inner: self.inner.child(label),
            shared: self.shared.clone(),
        }
    }

    fn with_attribute(self, key: &'static str, value: impl fmt::Display) -> Self {
        Self {
            inner: self.inner.with_attribute(key, value),
            shared: self.shared,
        }
    }
}

impl<E: Spawner> Spawner for Linked<E> {
    fn shared(self, blocking: bool) -> Self {
        Self {
            inner: self.inner.shared(blocking),
            shared: self.shared,
        }
    }

    fn dedicated(self) -> Self {
        Self {
            inner: self.inner.dedicated(),
            shared: self.shared,
        }
    }

    fn spawn<F, Fut, T>(self, f: F) -> Handle<T>
    where
        F: FnOnce(Self) -> Fut + Send + 'static,
        Fut: Future<Output = T> + Send + 'static,
        T: Send + 'static,
    {
        let shared = self.shared;
        self.inner.spawn(move |inner| f(Self { inner, shared }))
    }

    async fn stop(self, value: i32, timeout: Option<Duration>) -> Result<(), Error> {
        self.inner.stop(value, timeout).await
    }

    fn stopped(&self) -> Signal {
        self.inner.stopped()
    }
}

impl<E: Metrics> Metrics for Linked<E> {
    fn register<N: Into<String>, H: Into<String>, M: Metric>(
        &self,
        name: N,
        help: H,
        metric: M,
    ) -> Registered<M> {
        self.inner.register(name, help, metric)
    }

    fn encode(&self) -> String {
        self.inner.encode()
    }
}

impl<E: Clock> governor::clock::Clock for Linked<E> {
    type Instant = SystemTime;

    fn now(&self) -> SystemTime {
        self.inner.now()
    }
}

impl<E: Clock> governor::clock::ReasonablyRealtime for Linked<E> {}

impl<E: Clock> Clock for Linked<E> {
    fn current(&self) -> SystemTime {
        self.inner.current()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep(duration)
    }

    fn sleep_until(
        &self,
        deadline: SystemTime,
    ) -> impl Future<Output = ()> + Send + 'static + use<E> {
        self.inner.sleep_until(deadline)
    }
}

impl<E: TryRng> TryRng for Linked<E> {
    type Error = E::Error;

    fn try_next_u32(&mut self) -> Result<u32, E::Error> {
        self.inner.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, E::Error> {
        self.inner.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), E::Error> {
        self.inner.try_fill_bytes(bytes)
    }
}

impl<E: TryCryptoRng> TryCryptoRng for Linked<E> {}
