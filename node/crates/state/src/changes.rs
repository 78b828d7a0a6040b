// SPDX-License-Identifier: Apache-2.0
//! What is to become of accounts.

use crate::leaf::Account;
use shardnode_primitives::AccountId;
use std::collections::BTreeMap;

/// The new content of accounts; `None` for those that are removed, which must
/// exist. Those that do not exist are created.
pub type Changes = BTreeMap<AccountId, Option<Account>>;

/// By how many leaves `changes` make a tree shorter, of whose accounts `exist`
/// are among them.
pub(crate) fn shortened(changes: &Changes, exist: usize) -> usize {
    let removed = changes.values().filter(|account| account.is_none()).count();
    let created = changes.len().saturating_sub(exist);
    removed.saturating_sub(created)
}
