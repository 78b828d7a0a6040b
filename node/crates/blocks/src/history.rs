// SPDX-License-Identifier: Apache-2.0
//! Finalised blocks by height: the last ones from memory, older ones from
//! where consensus keeps them.

use commonware_consensus::{
    marshal::{core, standard::Standard},
    simplex::scheme::ed25519::Scheme,
    types::Height,
};
use commonware_cryptography::Digested;
use shardnode_primitives::Block;
use std::{collections::BTreeMap, sync::Arc};

/// Where consensus keeps finalised blocks.
pub type Marshal = core::Mailbox<Scheme, Standard<Block>>;

/// Blocks kept in memory.
const WINDOW: usize = 64;

/// Finalised blocks.
#[derive(Clone)]
pub struct History {
    genesis: Digested<Block>,
    recent: Arc<BTreeMap<u64, Digested<Block>>>,
    marshal: Marshal,
}

impl History {
    /// Everything up to `genesis`, the block of height 0.
    #[must_use]
    pub fn new(genesis: Digested<Block>, marshal: Marshal) -> Self {
        Self {
            genesis,
            recent: Arc::new(BTreeMap::new()),
            marshal,
        }
    }

    /// Adds the next finalised block.
    pub fn push(&mut self, block: Digested<Block>) {
        let recent = Arc::make_mut(&mut self.recent);
        recent.insert(block.inner().height, block);
        while recent.len() > WINDOW {
            recent.pop_first();
        }
    }

    /// The newest block.
    #[must_use]
    pub fn tip(&self) -> &Digested<Block> {
        self.recent.values().next_back().unwrap_or(&self.genesis)
    }

    /// The block at `height`, `None` if this node does not have it.
    pub async fn block(&self, height: u64) -> Option<Digested<Block>> {
        match self.recent.get(&height) {
            _ if height == 0 => Some(self.genesis.clone()),
            Some(block) => Some(block.clone()),
            None => self.marshal.get_block(Height::new(height)).await,
        }
    }
}
