// SPDX-License-Identifier: Apache-2.0
//! What is kept of an execution is read back as it was, or not at all.

use crate::{Case, HEIGHT, LAYOUT, case};
use commonware_codec::{Decode as _, Encode as _, Error};
use proptest::prelude::*;
use shardnode_execution::{
    apply, execute,
    record::{Evidence, Executed, Proven},
    touched,
};
use shardnode_primitives::{Digest, ProvenBucket, ReceiptBucket};
use std::sync::Arc;

/// Shards, and as many transactions as a case has at most.
const LIMITS: (u16, u32) = (LAYOUT.shards(), 40);

/// As if its source had sent nothing else.
fn proven(bucket: &ReceiptBucket) -> ProvenBucket {
    ProvenBucket::prove_all(vec![bucket.clone()]).1.remove(0)
}

fn kept(case: &Case) -> Proven {
    let execution = execute(&case.state, case.input()).unwrap();
    let credited = case.incoming.iter().flat_map(|one| &one.buckets);
    let evidence = Evidence {
        body_hash: Digest([0xb0; 32]),
        parts_root: Digest([0x9a; 32]),
        incoming: credited.map(proven).collect(),
        pre_state: case
            .state
            .partial(&touched(&case.input()), &execution.changes),
    };
    let applied = apply(&mut case.state.clone(), execution, HEIGHT, &case.totals()).unwrap();
    let executed = Executed {
        result: applied.result,
        totals: applied.totals,
        buckets: applied.buckets,
        outcomes: applied.outcomes,
    };
    Proven {
        executed: Arc::new(executed),
        evidence: Arc::new(evidence),
    }
}

proptest! {
    #[test]
    fn what_is_kept_is_read_back(case in case(), cut in any::<prop::sample::Index>()) {
        let kept = kept(&case);
        let bytes = kept.encode();
        let read = Proven::decode_cfg(bytes.clone(), &LIMITS).unwrap();
        prop_assert_eq!(&read.executed, &kept.executed);
        prop_assert_eq!(&read.evidence, &kept.evidence);
        let cut = bytes.slice(..cut.index(bytes.len()));
        prop_assert!(Proven::decode_cfg(cut, &LIMITS).is_err());
    }

    #[test]
    fn outcomes_are_those_that_there_are_and_no_more_than_a_chunk_has(case in case()) {
        let mut executed = Arc::unwrap_or_clone(kept(&case).executed);
        for proven in &mut executed.buckets {
            proven.bucket.receipts.clear();
        }
        let count = executed.outcomes.len();
        prop_assume!(count > 0);
        let most = u32::try_from(count).unwrap();
        let read = |most| Executed::decode_cfg(executed.encode(), &(LIMITS.0, most));
        prop_assert_eq!(read(most).unwrap(), executed.clone());
        let refused = read(most - 1).unwrap_err();
        prop_assert!(matches!(refused, Error::InvalidLength(length) if length == count));

        // The last byte is the last outcome.
        let mut bytes = executed.encode().to_vec();
        *bytes.last_mut().unwrap() = 10;
        let refused = Executed::decode_cfg(bytes, &LIMITS).unwrap_err();
        prop_assert!(matches!(refused, Error::InvalidEnum(10)));
    }
}
