// SPDX-License-Identifier: Apache-2.0
//! The processors of a machine: what its tasks do takes time.
//!
//! A task runs until it waits, and the runtime lets no time pass for it. What it
//! did by then is [counted](shardnode_primitives::work) and has a
//! [price](crate::costs), and the task goes on only when one of the machine's
//! processors had that much time: until then it hears nothing. So a task that is
//! given more than it can do falls behind, and so does a machine whose tasks
//! together do more than its processors can. What a task says at the end of its
//! work is heard before the time for it has passed, too early by one piece of
//! work.
//!
//! Work that a real node hands to a pool of threads keeps the task busy that
//! waits for it, which is no faster than it is.

use crate::costs;
use commonware_runtime::{Clock as _, deterministic::Context};
use shardnode_primitives::work;
use std::{
    future::Future,
    num::NonZeroUsize,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context as Waker, Poll, ready},
    time::{Duration, SystemTime},
};

/// Work that adds up to less is not worth a wait of its own.
const SLICE: Duration = Duration::from_micros(100);

/// The processors of one machine.
pub struct Processors {
    clock: Context,
    free_at: Mutex<Vec<SystemTime>>,
}

impl Processors {
    /// So many.
    #[must_use]
    pub fn new(clock: Context, count: NonZeroUsize) -> Arc<Self> {
        let free_at = vec![clock.current(); count.get()];
        Arc::new(Self {
            clock,
            free_at: Mutex::new(free_at),
        })
    }

    /// When work that is begun now ends: the processor that is free first does it.
    fn book(&self, work: Duration) -> SystemTime {
        let now = self.clock.current();
        let mut processors = crate::lock(&self.free_at);
        let Some(first) = processors.iter_mut().min() else {
            return now;
        };
        *first = now.max(*first) + work;
        *first
    }
}

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A task on such processors.
pub(super) struct Busy<T> {
    task: Boxed<T>,
    processors: Arc<Processors>,
    owed: Duration,
    /// Until a processor had the time for what the task did.
    until: Option<Boxed<()>>,
    /// What it came to, once that is so.
    output: Option<T>,
}

impl<T> Busy<T> {
    pub(super) fn new(
        task: impl Future<Output = T> + Send + 'static,
        processors: Arc<Processors>,
    ) -> Self {
        Self {
            task: Box::pin(task),
            processors,
            owed: Duration::ZERO,
            until: None,
            output: None,
        }
    }
}

// What a task comes to is never pinned.
impl<T> Unpin for Busy<T> {}

impl<T> Future for Busy<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, waker: &mut Waker<'_>) -> Poll<T> {
        let this = self.get_mut();
        loop {
            if let Some(until) = &mut this.until {
                ready!(until.as_mut().poll(waker));
                this.until = None;
            }
            if let Some(output) = this.output.take() {
                return Poll::Ready(output);
            }
            // Whatever was counted by those who run on no machine.
            let _ = work::take();
            let polled = this.task.as_mut().poll(waker);
            this.owed += costs::of(&work::take());
            if this.owed < SLICE {
                return polled;
            }
            let until = this.processors.book(std::mem::take(&mut this.owed));
            this.until = Some(Box::pin(this.processors.clock.sleep_until(until)));
            if let Poll::Ready(output) = polled {
                this.output = Some(output);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use commonware_runtime::{Runner as _, Spawner as _, Supervisor as _, deterministic};
    use commonware_utils::NZUsize;
    use shardnode_primitives::work::Work;

    /// How long so many tasks take on so many processors that verify a thousand
    /// signatures each, in so many pieces.
    fn takes(tasks: usize, processors: usize, pieces: usize) -> Duration {
        let runner = deterministic::Runner::default();
        runner.start(|context| async move {
            let began = context.current();
            let count = NonZeroUsize::new(processors).unwrap_or(NZUsize!(1));
            let processors = Processors::new(context.child("clock"), count);
            let tasks: Vec<_> = (0..tasks)
                .map(|_| {
                    let clock = context.child("task");
                    let task = async move {
                        for _ in 0..pieces {
                            work::count(Work::Signature, 1_000 / pieces);
                            clock.sleep(Duration::from_nanos(1)).await;
                        }
                    };
                    let busy = Busy::new(task, processors.clone());
                    context.child("busy").spawn(move |_| busy)
                })
                .collect();
            for task in tasks {
                task.await.unwrap_or_default();
            }
            context.current().duration_since(began).unwrap_or_default()
        })
    }

    #[test]
    fn work_takes_as_long_as_the_processors_take_for_it() {
        let one = costs::price(Work::Signature) * 1_000;
        for (tasks, processors, pieces, rounds) in [
            (1, 1, 1, 1),
            (1, 2, 1, 1),
            (1, 2, 10, 1),
            (2, 2, 10, 1),
            (4, 2, 10, 2),
            (4, 1, 1, 4),
        ] {
            let (took, least) = (takes(tasks, processors, pieces), one * rounds);
            assert!(
                took >= least && took < least + Duration::from_millis(5),
                "{tasks} tasks, {processors} processors, {pieces} pieces: {took:?}, not {least:?}"
            );
        }
    }
}
