// SPDX-License-Identifier: Apache-2.0
//! Traces: what a node records of the life of a block and of its chunks, as
//! spans.
//!
//! There is one trace for each height `h`: what the block of height `h` waited
//! for. So the execution that chunk headers at `h` are the first to commit to,
//! that of the chunks `executionLag` heights before, belongs to the trace of
//! `h`, and a single trace says why its block came when it came.
//!
//! No message carries anything for it. Which heights are traced
//! ([`Sampling`]), a trace's id, and the ids of the spans that others have as
//! their parent ([`ids`]) follow from genesis, height and shard, so that all
//! nodes come to the same. Times are those of the recording node's clock.
//!
//! # The spans
//!
//! *Block*, *chunk* and *view* say what there is one span of, on each node that
//! records it. The parent of a chunk's spans is the span `chunk` of its height and
//! shard, the parent of `chunk` and of a block's or view's spans is `block`, and
//! `block` has none.
//!
//! | span | of | recorded by | begins | ends |
//! |---|---|---|---|---|
//! | `block` | block | the leader that proposed it | the block before is final and stored | the block is |
//! | `chunk` | chunk | its producer | transactions are asked for | a block of its height is final; `included` says whether with it |
//! | `gather` | chunk | producers of the shard | the chunk to execute is the next one | its body and its receipts are at hand |
//! | `execute` | chunk | producers of the shard | as `gather` ends | it is executed |
//! | `record` | chunk | producers of the shard | as `execute` ends | the execution is durable |
//! | `take` | chunk | its producer | as `chunk` begins | the pool has given transactions |
//! | `divide` | chunk | its producer | as `take` ends | the body is in Reed-Solomon parts |
//! | `record_header` | chunk | its producer | the header is signed | it is durable |
//! | `record_body` | chunk | its producer | as `record_header` ends | the body is durable |
//! | `distribute` | chunk | its producer | whoever sends takes it up | body, parts, receipts and header are given to the network |
//! | `witness_make` | chunk | its producer | whoever makes witnesses takes it up | the state witness is in parts |
//! | `witness_distribute` | chunk | its producer | as `witness_make` ends | the parts are given to the network |
//! | `receive_body` | chunk | the shard's other producers | its header is heard of | its body is checked and durable |
//! | `receive_part` | chunk | producers of other shards | its header is heard of | the own part of its body is held |
//! | `witness_receive` | chunk | members of its committee without its state | the first part comes | parts, header and the block before suffice to check it |
//! | `validate` | chunk | members of its committee without its state | as `witness_receive` ends | it was executed again |
//! | `compare` | chunk | members of its committee with its state | header and the block before are there | own results and body are as it says |
//! | `endorse` | chunk | members of its committee | it was found right | the endorsement is signed and given to whoever sends |
//! | `endorsed` | chunk | the leader | it begins to wait | the chunk is at hand and a quorum of its committee has endorsed it |
//! | `collect` | view | the leader | its turn begins; not if it proposes without chunks | every shard is endorsed, or the wait is over |
//! | `pace` | view | the leader | as `collect` ends, or would begin | the earliest time that the block may have; only if it is later |
//! | `propose` | view | the leader | the chunks are there and it is time | the block is made |
//! | `verify` | view | producers but the leader | the block and its parent are there | the verdict |
//! | `notarise` | view | producers | the own verdict or proposal is there | the certificate of notarisation is |
//! | `finalise` | view | producers | as `notarise` ends, or as `notarise` would begin if it never came | the certificate of finalisation is there |
//! | `record_block` | block | producers | as `finalise` ends | the block is durable and given to the ledger |
//!
//! Spans of work that was given up, of chunks and blocks that were refused, and of
//! what a node was still doing when it stopped are not recorded. A node that
//! catches up records its executions when it does them.
//!
//! # Attributes
//!
//! Every span has `height`, a chunk's `shard`, a view's `view`, and `gather`,
//! `execute` and `record` have `executed_height`, the height of the chunk that
//! is executed. Which node recorded a span, in which region and network, is
//! said by the resource that it is exported with.
//!
//! # Exemplars
//!
//! A [`Histogram`] keeps of each bucket the latest observation of a traced
//! height as an [`Exemplar`], with the labels `trace_id` and `height`, and when it was
//! made: so a value that is out of the ordinary leads to the trace of its block.
//! What is observed of an execution belongs to the height that commits to it, as
//! its spans do.
//!
//! # Cost
//!
//! An actor hands a finished span to the [`Recorder`], which never waits: it
//! drops the span and counts that if whoever exports is behind. Of a height that
//! is not traced nothing is kept, and no clock is read.

mod exemplar;
pub mod ids;
mod metrics;
mod name;
mod recorder;
mod sampling;
mod span;

pub use exemplar::{Exemplar, Histogram};
pub use metrics::Metrics;
pub use name::{Name, Parent};
pub use recorder::{Begun, Recorder};
pub use sampling::{BasisPoints, Sampling};
pub use span::{Detail, Place, Span};
