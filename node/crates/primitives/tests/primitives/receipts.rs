// SPDX-License-Identifier: Apache-2.0
//! Receipts are proven under the root that a header commits to.

use crate::arbitrary;
use proptest::prelude::*;
use shardnode_primitives::{ProvenBucket, receipt::receipts_root};

proptest! {
    #[test]
    fn buckets_are_proven_at_their_destination_only(
        buckets in arbitrary::buckets(),
        other in arbitrary::digest(),
    ) {
        let root = receipts_root(&buckets);
        let (proven_root, proven) = ProvenBucket::prove_all(buckets.clone());
        prop_assert_eq!(proven_root, root);
        prop_assert_eq!(proven.len(), buckets.len());
        for (mut proven, bucket) in proven.into_iter().zip(buckets) {
            prop_assert_eq!(&proven.bucket, &bucket);
            prop_assert!(proven.verifies(&root));
            prop_assert!(!proven.verifies(&other));
            proven.bucket.height ^= 1;
            prop_assert!(!proven.verifies(&root));
            proven.bucket.height ^= 1;
            proven.bucket.destination.0 ^= 1;
            prop_assert!(!proven.verifies(&root));
        }
    }
}
