// SPDX-License-Identifier: Apache-2.0
//! Clients that ask for what can be done, through nodes that do not track their
//! shard.
//!
//! Each has an account that nobody else pays from, and hands one transfer to one
//! honest node, again only if that is refused. It is to be executed, whatever
//! those producers do with it to which the node passes it on.

use super::{
    Member, Network,
    clients::{RESERVED, of_each_shard},
};
use crate::lock;
use commonware_runtime::{Spawner as _, Supervisor as _};
use shardnode_primitives::{
    AccountId, Genesis, Namespaces, ShardId, Transaction, Transfer, genesis::GenesisAccount,
};
use std::sync::{Arc, Mutex};

/// Such clients of each shard.
const CLIENTS: usize = 8;
/// What each sends.
const AMOUNT: u64 = 10;

/// Where a transfer is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Handed {
    /// With its client.
    #[default]
    No,
    /// With a node that has not answered yet.
    Over,
    /// With a node that took it in, when this height was final.
    In(u64),
}

struct Client {
    signer: AccountId,
    shard: ShardId,
    transfer: Transaction,
    handed: Arc<Mutex<Handed>>,
}

/// A transfer that a node took in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TakenIn {
    /// Whose first one it is.
    pub(crate) signer: AccountId,
    /// The signer's shard.
    pub(crate) shard: ShardId,
    /// The finalised height at that time.
    pub(crate) height: u64,
}

/// All such clients of a run.
#[derive(Default)]
pub(crate) struct Honest {
    clients: Vec<Client>,
    turns: usize,
}

impl Honest {
    pub(super) fn new(genesis: &Genesis, accounts: &[GenesisAccount]) -> Self {
        let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
        let own = of_each_shard(genesis, accounts, RESERVED..RESERVED + CLIENTS);
        let clients = own.into_iter().flatten().map(|account| {
            let transfer = Transfer {
                signer: account.id,
                receiver: account.id,
                amount: AMOUNT,
                nonce: 1,
                expires_at: 0,
            };
            Client {
                signer: account.id,
                shard: genesis.layout.shard_of(&account.id),
                transfer: transfer.sign(&account.key, &namespaces),
                handed: Arc::default(),
            }
        });
        Self {
            clients: clients.collect(),
            turns: 0,
        }
    }

    /// Their accounts.
    pub(super) fn accounts(&self) -> impl Iterator<Item = AccountId> {
        self.clients.iter().map(|client| client.signer)
    }

    /// What was taken in.
    pub(crate) fn taken_in(&self) -> impl Iterator<Item = TakenIn> {
        self.clients.iter().filter_map(|client| {
            let Handed::In(height) = *lock(&client.handed) else {
                return None;
            };
            Some(TakenIn {
                signer: client.signer,
                shard: client.shard,
                height,
            })
        })
    }

    /// Whether everything was taken in.
    pub(crate) fn is_done(&self) -> bool {
        self.taken_in().count() == self.clients.len()
    }
}

impl Network {
    /// Has the next of the honest clients hand in its transfer, unless a node has
    /// it.
    pub fn hand_in(&mut self) {
        let turn = self.honest.turns;
        let Some(place) = turn.checked_rem(self.honest.clients.len()) else {
            return;
        };
        self.honest.turns += 1;
        let client = &self.honest.clients[place];
        if *lock(&client.handed) != Handed::No {
            return;
        }
        let honest = self.members.iter().filter(|one| one.wire.is_honest());
        let nodes = honest.filter_map(Member::node);
        let mut nodes: Vec<_> = nodes
            .filter(|node| node.identity.tracked() != Some(client.shard))
            .collect();
        let Some(index) = turn.checked_rem(nodes.len()) else {
            return;
        };
        let node = nodes.swap_remove(index);
        let (handle, view) = (node.client.clone(), node.view.clone());
        let (transfer, handed) = (client.transfer.clone(), client.handed.clone());
        *lock(&handed) = Handed::Over;
        let context = self.context.child("honest_client");
        drop(context.spawn(move |_| async move {
            let taken = handle.submit(transfer).await;
            let height = view.borrow().height();
            *lock(&handed) = taken.map_or(Handed::No, |_| Handed::In(height));
        }));
    }
}
