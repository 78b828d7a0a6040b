// SPDX-License-Identifier: Apache-2.0
//! What the protocol asks of the runtime it runs on.

use commonware_runtime::{Clock, Metrics, Spawner, Storage, Strategizer};
use rand_core::CryptoRng;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time, randomness, storage, tasks and CPU work: all of a node's contact
/// with the world but its network. Production and simulation differ only in
/// what implements it.
pub trait Runtime: Clock + CryptoRng + Metrics + Spawner + Storage + Strategizer {
    /// Milliseconds since 1970 by this node's clock.
    fn now_ms(&self) -> u64 {
        let elapsed = self
            .current()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
    }

    /// The instant that is `ms` milliseconds after 1970.
    fn at_ms(&self, ms: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_millis(ms)
    }
}

impl<E: Clock + CryptoRng + Metrics + Spawner + Storage + Strategizer> Runtime for E {}
