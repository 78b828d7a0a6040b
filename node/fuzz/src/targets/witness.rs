// SPDX-License-Identifier: Apache-2.0
//! State witnesses, compressed and not, and executing from them.

use super::{CODE, LAG, MOST, Target, header_of, make_tables};
use crate::{Budget, Decoder};
use commonware_parallel::Sequential;
use shardnode_execution::{
    body::{Shown, ShownLimits},
    signatures::{BatchSize, KeyCache},
};
use shardnode_primitives::{
    ChunkBody, Congestion, Digest, ExecutionResult, Namespaces, ProvenBucket, ShardLayout,
    ShardTotals,
    genesis::{CongestionControl, Protocol},
    hash::ZERO,
};
use shardnode_state::PartialState;
use shardnode_witness::{
    Due, Executable, Expected, Limits, StateWitness, Transition, Verifier, decode, encode, validate,
};

/// The raw size is far below that of a network, so that a bomb shows.
const LIMITS: Limits = Limits {
    raw_bytes: 64 << 10,
    transitions: LAG,
    receipts: MOST,
    code: CODE,
};

const SHOWN: ShownLimits = ShownLimits {
    code: CODE,
    transactions: MOST,
};

const PROTOCOL: Protocol = Protocol {
    execution_lag: LAG,
    min_block_time_ms: 250,
    chunk_wait_ms: 1_000,
    max_transactions_per_chunk: MOST,
    mandates_per_shard: 8,
    epoch_length: 1_000,
    congestion_control: CongestionControl::Enabled,
    transfer_fee: 2,
    least_balance: 3,
};

/// What a frame may decompress to is bounded by the limit, not by its length;
/// a buffer that grows is there twice while it moves.
const COMPRESSED: Budget = Budget {
    per_byte: Budget::BINARY.per_byte,
    fixed: Budget::BINARY.fixed + (3 + Budget::BINARY.per_byte) * LIMITS.raw_bytes,
};

/// The target.
#[must_use]
pub fn target() -> Target {
    let namespaces = Namespaces::new("fuzz", &ZERO);
    make_tables();
    Target {
        name: "witness",
        decoders: vec![
            Decoder::of::<Shown>(SHOWN, drop),
            Decoder::of::<Transition>(LIMITS, drop),
            Decoder::of::<StateWitness>(LIMITS, move |witness| execute(witness, &namespaces)),
            Decoder::new("encoded witness", compressed),
        ],
    }
}

/// One witness has many encodings, but only one of them is made here.
fn compressed(bytes: &[u8]) -> bool {
    let decoded = COMPRESSED.within("encoded witness", bytes.len(), || decode(bytes, &LIMITS));
    let Ok(witness) = decoded else { return false };
    let again = encode(&witness).map(|bytes| decode(&bytes, &LIMITS));
    assert!(
        matches!(again, Ok(Ok(same)) if same == witness),
        "what was decoded cannot be encoded and decoded again"
    );
    true
}

/// Validates the witness against the header that it fits best, so that it gets
/// as far as it can.
fn execute(witness: StateWitness, namespaces: &Namespaces) {
    let verifier = Verifier {
        namespace: &namespaces.transaction,
        keys: &KeyCache::new(8),
        batch: BatchSize::Whole,
        seed: [7; 32],
        strategy: &Sequential,
    };
    let expected = expected(&witness);
    let shown = validate(witness, &expected, &verifier);
    assert!(
        shown.is_err() || expected.executions.is_empty(),
        "a state has the root of zeroes"
    );
}

fn expected(witness: &StateWitness) -> Expected {
    let shard = witness.shard;
    let before = witness
        .transitions
        .first()
        .map_or(ZERO, |first| own_root(first.pre_state.clone()));
    let before = ShardTotals::genesis(before, u64::MAX / 2);
    let empty = ChunkBody::of(&[]);
    let mut header = header_of(shard, &before, &empty);
    header.content.height = witness.height;
    header.content.results = witness.transitions.iter().map(result).collect();
    let executions = witness.transitions.iter().map(|transition| {
        let body = transition.body.body().unwrap_or(&empty);
        let mut executed = header_of(shard, &before, body);
        executed.content.height = transition.height;
        Executable {
            header: executed,
            congestion: Congestion::default(),
        }
    });
    let incoming = |transition: &Transition| {
        let block = transition.height;
        let due = transition.incoming.iter();
        due.map(|proven| due_at(block, proven)).collect::<Vec<_>>()
    };
    Expected {
        protocol: PROTOCOL,
        due: witness.transitions.iter().flat_map(incoming).collect(),
        layout: ShardLayout::new(2),
        code: CODE,
        executions: executions.collect(),
        header,
        before,
    }
}

fn result(transition: &Transition) -> ExecutionResult {
    ExecutionResult {
        height: transition.height,
        state_root: ZERO,
        outcomes_root: ZERO,
        receipts_root: ZERO,
        transfers: 0,
        credits: 0,
    }
}

fn due_at(block: u64, proven: &ProvenBucket) -> Due {
    Due {
        block,
        source: proven.bucket.source,
        height: proven.bucket.height,
        receipts_root: proven.receipts_root().unwrap_or(ZERO),
    }
}

/// The root of the state that this is of, whatever that is.
fn own_root(state: PartialState) -> Digest {
    match state.verify(&ZERO) {
        Ok(_) => ZERO,
        Err(error) => error.got,
    }
}
