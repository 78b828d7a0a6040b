// SPDX-License-Identifier: Apache-2.0
//! How connections divide the shards and their accounts.

use crate::{
    error::RunError,
    options::{Options, Profile},
};
use shardnode_load::Share;
use shardnode_primitives::ShardId;

/// Connections, if nobody says how many and there are no more shards.
const CONNECTIONS: u32 = 8;

/// How the connections divide the shards and their accounts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Division {
    /// Connections.
    pub(crate) connections: u32,
    /// The network's shards.
    pub(crate) shards: u32,
    /// Which part of the accounts, of how many.
    part: (u16, u16),
}

impl Division {
    /// The shard that a connection pays from, and its place among the connections
    /// of that shard.
    pub(crate) fn place(&self, connection: u32) -> (ShardId, u32) {
        let shard = u16::try_from(connection % self.shards).unwrap_or_default();
        (ShardId(shard), connection / self.shards)
    }

    /// How many connections pay from a shard.
    pub(crate) fn of_shard(&self, shard: ShardId) -> u32 {
        let before = u32::from(shard.0);
        self.connections
            .saturating_sub(before)
            .div_ceil(self.shards)
    }

    /// The accounts of a connection: no other has one of them, nor has another
    /// part.
    pub(crate) fn share(&self, connection: u32) -> Share {
        let (shard, index) = self.place(connection);
        let (part, parts) = self.part;
        let slot = index * u32::from(parts) + u32::from(part);
        let slots = self.of_shard(shard) * u32::from(parts);
        let small = |number: u32| u16::try_from(number).unwrap_or(u16::MAX);
        Share {
            shard,
            slot: small(slot),
            slots: small(slots),
        }
    }
}

/// How the connections of a profile divide the shards.
pub(crate) fn divide(options: &Options) -> Result<Division, RunError> {
    let shards = u32::from(options.genesis.layout.shards());
    let asked = options.connections.unwrap_or(CONNECTIONS.max(shards));
    let connections = match &options.profile {
        Profile::Workers { workers, .. } => *workers,
        Profile::Users { users, .. } if options.connections.is_none() => asked.min(*users),
        Profile::Users { .. } | Profile::Rate(_) | Profile::File(_) => asked,
    };
    if let Profile::Users { users, .. } = &options.profile
        && *users < connections
    {
        return Err(RunError::Users { connections });
    }
    let by_account = matches!(options.profile, Profile::Rate(_) | Profile::File(_));
    if by_account && connections < shards {
        return Err(RunError::Connections { shards });
    }
    let parts = options.part.1;
    if connections.div_ceil(shards) * u32::from(parts) > u32::from(u16::MAX) {
        return Err(RunError::Parts { connections, parts });
    }
    Ok(Division {
        connections,
        shards,
        part: options.part,
    })
}
