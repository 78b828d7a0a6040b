// SPDX-License-Identifier: Apache-2.0
//! Whether the parts that a node is of no use without still answer.
//!
//! A part that ends takes the node with it. One that hangs does not, so each is
//! asked something small every [`PERIOD`].

use commonware_runtime::{Clock as _, Spawner as _, Supervisor as _, tokio::Context};
use shardnode_chain::Node;
use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::time::Instant;

/// How often each part is asked.
const PERIOD: Duration = Duration::from_secs(2);

/// How long a part may take to answer. Executing a full chunk, or installing a
/// snapshot, takes a few seconds on a slow machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// When each part answered last.
#[derive(Debug)]
pub(crate) struct Health {
    ledger: Arc<Part>,
    marshal: Arc<Part>,
}

#[derive(Debug)]
struct Part {
    name: &'static str,
    answered: Mutex<Instant>,
}

impl Part {
    fn new(name: &'static str, now: Instant) -> Arc<Self> {
        Arc::new(Self {
            name,
            answered: Mutex::new(now),
        })
    }

    fn answered(&self, now: Instant) {
        *self.answered.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn check(&self, now: Instant) -> Result<(), String> {
        let answered = *self.answered.lock().unwrap_or_else(PoisonError::into_inner);
        let silent = now.saturating_duration_since(answered);
        if silent <= PATIENCE {
            return Ok(());
        }
        let Self { name, .. } = self;
        Err(format!(
            "{name} has not answered for {} s",
            silent.as_secs()
        ))
    }
}

impl Health {
    fn new(now: Instant) -> Self {
        Self {
            ledger: Part::new("ledger", now),
            marshal: Part::new("store of finalised blocks", now),
        }
    }

    /// Asks the parts of a node from now on.
    pub(crate) fn watch(context: &Context, node: &Node) -> Arc<Self> {
        let (ledger, marshal) = (node.clone(), node.clone());
        Self::keep_asking(
            context,
            move || {
                let node = ledger.clone();
                async move { node.ledger_answers().await }
            },
            move || {
                let node = marshal.clone();
                async move { node.marshal_answers().await }
            },
        )
    }

    fn keep_asking<L, M>(
        context: &Context,
        ledger: impl Fn() -> L + Send + 'static,
        marshal: impl Fn() -> M + Send + 'static,
    ) -> Arc<Self>
    where
        L: Future<Output = ()> + Send,
        M: Future<Output = ()> + Send,
    {
        let health = Arc::new(Self::new(Instant::now()));
        keep_asking(context, health.ledger.clone(), ledger);
        keep_asking(context, health.marshal.clone(), marshal);
        health
    }

    /// Names a part that has not answered for too long.
    pub(crate) fn check(&self, now: Instant) -> Result<(), String> {
        self.ledger.check(now)?;
        self.marshal.check(now)
    }
}

/// Asks one part, again and again, and notes when it answered.
fn keep_asking<F: Future<Output = ()> + Send>(
    context: &Context,
    part: Arc<Part>,
    ask: impl Fn() -> F + Send + 'static,
) {
    drop(context.child("health").spawn(move |context| async move {
        loop {
            ask().await;
            part.answered(Instant::now());
            context.sleep(PERIOD).await;
        }
    }));
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use commonware_runtime::{Runner as _, tokio::Runner};
    use std::future::{pending, ready};
    use tokio::sync::mpsc;

    /// One that hangs makes a node unhealthy, while the other one goes on answering.
    #[test]
    fn parts_are_asked_again_and_again() {
        Runner::default().start(|context| async move {
            let start = Instant::now();
            let (asked, mut asks) = mpsc::unbounded_channel();
            let answering = move || {
                let asked = asked.clone();
                async move {
                    let _ = asked.send(());
                }
            };
            let ledger_hangs = Health::keep_asking(&context, pending, || ready(()));
            let marshal_hangs = Health::keep_asking(&context, answering, pending);
            // The third time it has noted the second answer.
            for _ in 0..3 {
                asks.recv().await;
            }
            let late = start + PATIENCE + Duration::from_secs(1);
            let named = ledger_hangs.check(late).unwrap_err();
            assert!(named.starts_with("ledger has not answered for "), "{named}");
            let named = marshal_hangs.check(late).unwrap_err();
            assert!(
                named.starts_with("store of finalised blocks has not"),
                "{named}"
            );
        });
    }

    #[test]
    fn a_part_that_hangs_is_named() {
        let start = Instant::now();
        let health = Health::new(start);
        let later = start + PATIENCE;
        assert_eq!(health.check(later), Ok(()));
        health.ledger.answered(later);
        let second = Duration::from_secs(1);
        let reason = "store of finalised blocks has not answered for 31 s";
        assert_eq!(health.check(later + second), Err(reason.into()));
        health.marshal.answered(later + second);
        assert_eq!(health.check(later + second), Ok(()));
    }
}
