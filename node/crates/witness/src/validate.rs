// SPDX-License-Identifier: Apache-2.0
//! Re-executing from a witness alone; see the [crate] for what is checked.

use crate::{
    error::{Difference, WitnessError},
    expected::{Due, Executable, Expected},
    witness::{StateWitness, Transition},
};
use commonware_parallel::Strategy;
use shardnode_execution::{
    ApplyError, ChunkInput, Crediting, Delivery, StateView as _, apply, body, execute as run,
    signatures::{BatchSize, KeyCache, verify_all},
    touched,
};
use shardnode_primitives::{ExecutionResult, ProvenBucket, ShardId, ShardTotals, Transaction};
use std::fmt::Display;

/// How the signatures of transactions are verified.
#[derive(Debug)]
pub struct Verifier<'a, S> {
    /// [`shardnode_primitives::Namespaces::transaction`].
    pub namespace: &'a [u8],
    /// Decoded signers.
    pub keys: &'a KeyCache,
    /// How many signatures are verified together.
    pub batch: BatchSize,
    /// Unpredictable to whoever made the signatures.
    pub seed: [u8; 32],
    /// CPU work.
    pub strategy: &'a S,
}

impl<S: Strategy> Verifier<'_, S> {
    fn verify(&self, transactions: &[Transaction]) -> bool {
        verify_all(
            transactions,
            self.namespace,
            self.keys,
            self.batch,
            self.seed,
            self.strategy,
        )
    }
}

/// Whether `witness` shows the results and totals of the expected header.
pub fn validate<S: Strategy>(
    witness: StateWitness,
    expected: &Expected,
    verifier: &Verifier<'_, S>,
) -> Result<(), WitnessError> {
    let content = &expected.header.content;
    if witness.shard != content.shard {
        return Err(WitnessError::Shard {
            got: witness.shard,
            want: content.shard,
        });
    }
    if witness.height != content.height {
        return Err(WitnessError::Height {
            got: witness.height,
            want: content.height,
        });
    }
    let results = &content.results;
    for got in [witness.transitions.len(), expected.executions.len()] {
        if got != results.len() {
            let want = results.len();
            return Err(WitnessError::Transitions { got, want });
        }
    }
    let transitions = witness.transitions.into_iter().zip(&expected.executions);
    let mut totals = expected.before.clone();
    let mut due = expected.due.as_slice();
    for (index, ((transition, executable), result)) in transitions.zip(results).enumerate() {
        let chunk = &executable.header.content;
        for got in [transition.height, chunk.height] {
            if got != result.height {
                let want = result.height;
                return Err(WitnessError::Order { index, got, want });
            }
        }
        totals = execute(
            transition, executable, result, &totals, &mut due, expected, verifier,
        )?;
    }
    totals_difference(&totals, &content.totals)
        .map_or(Ok(()), |difference| Err(WitnessError::Totals(difference)))
}

/// Executes one transition, whose result must be `want`, and returns the
/// totals after it. What it credits is no longer `due`.
fn execute<S: Strategy>(
    transition: Transition,
    executable: &Executable,
    want: &ExecutionResult,
    before: &ShardTotals,
    due: &mut &[Due],
    expected: &Expected,
    verifier: &Verifier<'_, S>,
) -> Result<ShardTotals, WitnessError> {
    let chunk = &executable.header.content;
    let (shard, execution) = (chunk.shard, chunk.height);
    let strategy = verifier.strategy;
    let verify = |transactions: &[Transaction]| verifier.verify(transactions);
    let judged = body::check(transition.body, chunk, &expected.code, strategy, verify)
        .map_err(|why| WitnessError::Body { execution, why })?;
    let transactions = judged.transactions.unwrap_or_default();
    let mut state = transition
        .pre_state
        .verify(&before.state_root)
        .map_err(|source| WitnessError::PreState { execution, source })?;
    let crediting = Crediting::new(expected.protocol, transactions.len(), state.leaf_count());
    let incoming = credited(transition.incoming, due, crediting, shard, execution)?;
    let input = ChunkInput {
        protocol: expected.protocol,
        layout: expected.layout,
        shard,
        height: execution,
        transactions: &transactions,
        incoming: &incoming,
        congestion: &executable.congestion,
    };
    let failed = |source| WitnessError::Apply { execution, source };
    let run = run(&state, input).map_err(|error| failed(ApplyError::Execution(error)))?;
    state
        .check_cover(&touched(&input), &run.changes)
        .map_err(|source| WitnessError::Cover { execution, source })?;
    let applied = apply(&mut state, run, execution, before).map_err(failed)?;
    match result_difference(&applied.result, want) {
        Some(difference) => Err(WitnessError::Result {
            execution,
            difference,
        }),
        None => Ok(applied.totals),
    }
}

/// What the chunk at `execution` credits of what is due, which must be exactly
/// these buckets; without their proofs, once those hold.
fn credited(
    buckets: Vec<ProvenBucket>,
    due: &mut &[Due],
    mut crediting: Crediting,
    destination: ShardId,
    execution: u64,
) -> Result<Vec<Delivery>, WitnessError> {
    let got = buckets.len();
    let mut buckets = buckets.into_iter();
    let mut deliveries = Vec::new();
    while crediting.wants_more()
        && let Some((block, source)) = due.first().map(|due| (due.block, due.source))
        && block <= execution
    {
        let of_header = |due: &&Due| (due.block, due.source) == (block, source);
        let (delivered, rest) = due.split_at(due.iter().take_while(of_header).count());
        *due = rest;
        let mut delivery = Delivery {
            block,
            source,
            buckets: Vec::with_capacity(delivered.len()),
        };
        for due in delivered {
            let proven = buckets.next().ok_or(WitnessError::Buckets {
                execution,
                got,
                want: got + 1,
            })?;
            let bucket = &proven.bucket;
            let named = bucket.source == due.source
                && bucket.height == due.height
                && bucket.destination == destination;
            if !named || !proven.verifies(&due.receipts_root) {
                return Err(WitnessError::Receipts {
                    execution,
                    source_shard: due.source,
                    height: due.height,
                });
            }
            delivery.buckets.push(proven.bucket);
        }
        crediting.credit(&delivery);
        deliveries.push(delivery);
    }
    match buckets.len() {
        0 => Ok(deliveries),
        superfluous => Err(WitnessError::Buckets {
            execution,
            got,
            want: got - superfluous,
        }),
    }
}

/// How one field differs, if it does.
fn differs<T: PartialEq + Display>(field: &'static str, got: &T, want: &T) -> Option<Difference> {
    (got != want).then(|| Difference {
        field,
        got: got.to_string(),
        want: want.to_string(),
    })
}

fn result_difference(got: &ExecutionResult, want: &ExecutionResult) -> Option<Difference> {
    // Names every field, so that none is forgotten.
    let ExecutionResult {
        height,
        state_root,
        outcomes_root,
        receipts_root,
        transfers,
        credits,
    } = got;
    differs("height", height, &want.height)
        .or_else(|| differs("state root", state_root, &want.state_root))
        .or_else(|| differs("outcomes root", outcomes_root, &want.outcomes_root))
        .or_else(|| differs("receipts root", receipts_root, &want.receipts_root))
        .or_else(|| differs("number of transfers", transfers, &want.transfers))
        .or_else(|| differs("number of credits", credits, &want.credits))
}

fn totals_difference(got: &ShardTotals, want: &ShardTotals) -> Option<Difference> {
    let ShardTotals {
        height,
        state_root,
        transfers,
        cross_shard,
        credits,
        balance,
        burnt,
        sent,
        received,
        next_due,
    } = got;
    differs("height", height, &want.height)
        .or_else(|| differs("state root", state_root, &want.state_root))
        .or_else(|| differs("number of transfers", transfers, &want.transfers))
        .or_else(|| {
            differs(
                "number of cross-shard transfers",
                cross_shard,
                &want.cross_shard,
            )
        })
        .or_else(|| differs("number of credits", credits, &want.credits))
        .or_else(|| differs("balance", balance, &want.balance))
        .or_else(|| differs("value burnt", burnt, &want.burnt))
        .or_else(|| differs("value sent", sent, &want.sent))
        .or_else(|| differs("value received", received, &want.received))
        .or_else(|| differs("next receipts to credit", next_due, &want.next_due))
}
