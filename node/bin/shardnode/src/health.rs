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
        let health = Arc::new(Self::new(Instant::now()));
        let asked = node.clone();
        keep_asking(context, health.ledger.clone(), move || {
            let node = asked.clone();
            async move { node.ledger_answers().await }
        });
        let asked = node.clone();
        keep_asking(context, health.marshal.clone(), move || {
            let node = asked.clone();
            async move { node.marshal_answers().await }
        });
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
mod tests {
    use super::*;

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
