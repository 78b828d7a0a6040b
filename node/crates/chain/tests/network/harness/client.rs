// SPDX-License-Identifier: Apache-2.0
//! A client of a network under test.

use super::Network;
use commonware_runtime::Clock as _;
use shardnode_clients::{Fate, SubmitError};
use shardnode_execution::Outcome;
use shardnode_mailboxes::pool::PoolError;
use shardnode_primitives::{Namespaces, Transfer};
use std::time::Duration;

/// Pays an account of another shard, submitting through a node that does not
/// track the signer's shard, and asks every node for what came of it.
pub(crate) async fn transfer_is_seen_everywhere(network: &Network) {
    let genesis = &network.genesis;
    let layout = genesis.layout;
    let namespaces = Namespaces::new(&genesis.network, &genesis.hash());
    let signer = genesis.account(0);
    let shard = layout.shard_of(&signer.id);
    let receiver = (1..)
        .map(|index| genesis.account(index))
        .find(|account| layout.shard_of(&account.id) != shard)
        .unwrap();
    let elsewhere = (0..4)
        .find(|index| network.node(*index).identity.tracked() != Some(shard))
        .unwrap();
    let transfer = Transfer {
        signer: signer.id,
        receiver: receiver.id,
        amount: 5,
        nonce: 1,
    };
    let transaction = transfer.sign(&signer.key, &namespaces);
    let client = &network.node(elsewhere).client;

    let forged = transfer.sign(&receiver.key, &namespaces);
    assert_eq!(client.submit(forged).await, Err(SubmitError::Signature));
    assert_eq!(client.submit(transaction.clone()).await, Ok(shard));
    let again = client.submit(transaction.clone()).await;
    assert!(
        matches!(
            again,
            Ok(_) | Err(SubmitError::Pool(PoolError::Duplicate) | SubmitError::Nonce)
        ),
        "{again:?}"
    );

    for index in 0..4 {
        let client = &network.node(index).client;
        loop {
            match client.outcome(signer.id, transaction.hash()).await {
                Ok(Fate::Known(_, outcome)) => {
                    assert_eq!(outcome, Outcome::Executed);
                    break;
                }
                Ok(Fate::Unknown) | Err(_) => {
                    network.context.sleep(Duration::from_millis(50)).await;
                }
            }
        }
        let initial = genesis.accounts.initial_balance;
        loop {
            let (_, _, paid) = client.account(receiver.id).await.unwrap();
            if paid.unwrap().balance == initial + 5 {
                break;
            }
            network.context.sleep(Duration::from_millis(50)).await;
        }
        let (_, _, payer) = client.account(signer.id).await.unwrap();
        assert_eq!(payer.unwrap().balance, initial - 5);
        assert_eq!(payer.unwrap().nonce, 1);
    }

    let broke = Transfer {
        amount: u64::MAX,
        nonce: 2,
        ..transfer
    };
    assert_eq!(
        client.submit(broke.sign(&signer.key, &namespaces)).await,
        Err(SubmitError::Balance)
    );
    assert_eq!(client.submit(transaction).await, Err(SubmitError::Nonce));
}
