// SPDX-License-Identifier: Apache-2.0
//! What executing one chunk takes, beside the state: the chunk, and the receipts
//! that it credits.

use shardnode_execution::{Crediting, Delivery};
use shardnode_mailboxes::{availability, bodies::CheckedChunk};
use shardnode_network::chunk_requests::Key;
use shardnode_primitives::{
    ChunkHeader, Congestion, Digest, ProvenBucket, ShardId, genesis::Protocol,
};
use shardnode_witness::Due;
use std::sync::Arc;

/// Headers whose receipts are asked for side by side.
const SIDE_BY_SIDE: usize = 1_024;

/// What executing one chunk takes, beside the state.
pub(crate) struct Inputs {
    pub(crate) chunk: Arc<CheckedChunk>,
    /// What it credits.
    pub(crate) incoming: Vec<Delivered>,
    /// What the block before its own says of the shards.
    pub(crate) congestion: Congestion,
}

/// What fell due with one header, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Delivered {
    /// The receipts.
    pub(crate) delivery: Delivery,
    /// The same, with proofs.
    pub(crate) proven: Vec<Arc<ProvenBucket>>,
    /// The roots that these are under.
    roots: Vec<Digest>,
}

impl Delivered {
    /// The buckets for each of `due`, which are of one header.
    pub(crate) fn new(due: &[Due], proven: Vec<Arc<ProvenBucket>>) -> Option<Self> {
        let first = due.first()?;
        let delivery = Delivery {
            block: first.block,
            source: first.source,
            buckets: proven.iter().map(|one| one.bucket.clone()).collect(),
        };
        let roots = due.iter().map(|due| due.receipts_root).collect();
        Some(Self {
            delivery,
            proven,
            roots,
        })
    }

    /// The source and the height of each bucket, and the root that it is under.
    pub(crate) fn roots(&self) -> impl Iterator<Item = ((ShardId, u64), Digest)> {
        let from = |proven: &Arc<ProvenBucket>| (proven.bucket.source, proven.bucket.height);
        let roots = self.roots.iter().copied();
        self.proven.iter().map(from).zip(roots)
    }
}

/// `due` by the header that committed to it.
fn by_header(due: &[Due]) -> impl Iterator<Item = &[Due]> {
    due.chunk_by(|one, next| (one.block, one.source) == (next.block, next.source))
}

/// Waits for the chunk with this header and for what it credits: of what is
/// due as much as an execution on a state of so many leaves wants.
pub(crate) async fn gather(
    availability: &availability::Mailbox,
    header: ChunkHeader,
    destination: ShardId,
    (due, protocol, leaves): (&[Due], Protocol, u32),
    congestion: Congestion,
) -> Option<Inputs> {
    let headers: Vec<&[Due]> = by_header(due).collect();
    let mut headers = headers.chunks(SIDE_BY_SIDE);
    let first = headers.next().unwrap_or_default();
    // The chunk and, unless there is more than usual, all receipts.
    let (chunk, mut delivered) = futures::join!(
        availability.chunk(header, true),
        deliveries(availability, first, destination),
    );
    let chunk = chunk?;
    let mut crediting = Crediting::new(protocol, chunk.transactions.len(), leaves);
    let mut incoming = Vec::new();
    loop {
        for one in delivered? {
            if !crediting.wants_more() {
                break;
            }
            crediting.credit(&one.delivery);
            incoming.push(one);
        }
        let more = headers.next().filter(|_| crediting.wants_more());
        let Some(more) = more else { break };
        delivered = deliveries(availability, more, destination).await;
    }
    Some(Inputs {
        chunk,
        incoming,
        congestion,
    })
}

/// The receipts that fell due with these headers.
async fn deliveries(
    availability: &availability::Mailbox,
    headers: &[&[Due]],
    destination: ShardId,
) -> Option<Vec<Delivered>> {
    let headers = headers.iter().map(|due| async move {
        let buckets = due.iter().map(|due| {
            let key = Key::Bucket {
                source: due.source,
                height: due.height,
                destination,
                root: due.receipts_root,
            };
            availability.bucket(key, true)
        });
        let buckets = futures::future::join_all(buckets).await;
        Delivered::new(due, buckets.into_iter().collect::<Option<_>>()?)
    });
    let headers = futures::future::join_all(headers).await;
    headers.into_iter().collect()
}
