// SPDX-License-Identifier: Apache-2.0
//! What an execution runs on.

use shardnode_primitives::{AccountId, Digest};
use shardnode_state::{Account, Changes, PartialTree, StateError, StateTree};

/// The accounts that an execution may read.
pub trait StateView {
    /// The account, or `None` if there is none with this id. An error is for
    /// accounts that a part of a state says nothing about.
    fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError>;

    /// The number of leaves of the whole tree.
    fn leaf_count(&self) -> u32;
}

/// A state that executions change.
pub trait State: StateView {
    /// Makes changes and returns the new root. On an error nothing has changed.
    fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError>;
}

impl StateView for StateTree {
    fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        Ok(self.get(id))
    }

    fn leaf_count(&self) -> u32 {
        self.accounts() + 1
    }
}

impl State for StateTree {
    fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError> {
        Self::apply(self, changes)
    }
}

impl StateView for PartialTree {
    fn account(&self, id: &AccountId) -> Result<Option<Account>, StateError> {
        self.get(id)
    }

    fn leaf_count(&self) -> u32 {
        self.count()
    }
}

impl State for PartialTree {
    fn apply(&mut self, changes: &Changes) -> Result<Digest, StateError> {
        Self::apply(self, changes)
    }
}
