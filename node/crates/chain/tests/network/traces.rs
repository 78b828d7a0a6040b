// SPDX-License-Identifier: Apache-2.0
//! What nodes record of the life of blocks and chunks.

use crate::harness::{Network, run_with_chunk_validators};
use shardnode_primitives::{Block, ShardId};
use shardnode_traces::{BasisPoints, Detail, Name, Span, ids};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::SystemTime,
};

/// Two producers for each of two shards, then two chunk validators.
const PRODUCERS: usize = 4;
const VALIDATORS: usize = 6;

/// The spans of one height, with who recorded them.
struct Trace(Vec<(usize, Span)>);

impl Trace {
    fn of(&self, name: Name, shard: Option<ShardId>) -> Vec<&(usize, Span)> {
        let spans = self.0.iter();
        let found = spans.filter(|(_, span)| span.name == name && span.place.shard == shard);
        found.collect()
    }

    /// The one span of this name and shard.
    fn one(&self, name: Name, shard: Option<ShardId>) -> &(usize, Span) {
        let found = self.of(name, shard);
        assert_eq!(found.len(), 1, "{name:?} of {shard:?}: {found:?}");
        found[0]
    }

    /// How many there are of this name and shard.
    fn count(&self, name: Name, shard: Option<ShardId>) -> usize {
        self.of(name, shard).len()
    }

    /// The one that this node recorded.
    fn by(&self, node: usize, name: Name, shard: Option<ShardId>) -> &Span {
        let found = self.of(name, shard);
        let mut own = found.iter().filter(|(by, _)| *by == node);
        let (_, span) = own
            .next()
            .unwrap_or_else(|| panic!("n{node}: {name:?} {shard:?}"));
        span
    }

    /// When the first and the last span of this name and shard ended.
    fn ends(&self, name: Name, shard: Option<ShardId>) -> (SystemTime, SystemTime) {
        let ends = self.of(name, shard).into_iter().map(|(_, span)| span.end);
        let ends: Vec<_> = ends.collect();
        (*ends.iter().min().unwrap(), *ends.iter().max().unwrap())
    }
}

/// One after the other, on one node.
fn in_order(spans: &[&Span]) {
    for pair in spans.windows(2) {
        assert!(pair[0].end <= pair[1].begin, "{pair:?}");
    }
}

/// What nobody is without, of a chunk that is in its block.
fn check_chunk(trace: &Trace, block: &Block, shard: ShardId) {
    let (of, height) = (Some(shard), block.height);
    let (producer, chunk) = trace.one(Name::Chunk, of);
    assert_eq!(chunk.detail, Detail::Included(true));
    let own = |name| {
        let (by, span) = trace.one(name, of);
        assert_eq!(by, producer, "{name:?}");
        span
    };
    let made = [
        own(Name::Take),
        own(Name::Divide),
        own(Name::RecordHeader),
        own(Name::RecordBody),
        own(Name::Distribute),
    ];
    assert_eq!(chunk.begin, made[0].begin);
    in_order(&made);
    in_order(&[
        made[2],
        own(Name::WitnessMake),
        own(Name::WitnessDistribute),
    ]);

    // The chunk before is executed by all of the shard, and by its producer
    // before it makes this one.
    for name in [Name::Gather, Name::Execute, Name::Record] {
        let spans = trace.of(name, of);
        assert_eq!(spans.len(), 2, "{name:?} {spans:?}");
        let before = Detail::Executed(height - 1);
        assert!(spans.iter().all(|(_, span)| span.detail == before));
    }
    let executed = [Name::Gather, Name::Execute, Name::Record];
    let [gather, execute, record] = executed.map(|name| trace.by(*producer, name, of));
    in_order(&[gather, execute, record, made[0]]);

    // Everybody who votes gets what it votes with.
    assert_eq!(trace.count(Name::ReceiveBody, of), 1);
    let with_parts = block.chunk(shard).unwrap().content.body_len > 0;
    let parts = if with_parts { 2 } else { 0 };
    assert_eq!(trace.count(Name::ReceivePart, of), parts);
    for (_, span) in trace.of(Name::ReceivePart, of) {
        assert!(span.begin > made[4].begin, "{span:?}");
    }

    // The committee endorses, each from what it has.
    let endorsed: Vec<usize> = trace
        .of(Name::Endorse, of)
        .iter()
        .map(|(node, _)| *node)
        .collect();
    for node in &endorsed {
        let endorse = trace.by(*node, Name::Endorse, of);
        let tracks = *node < PRODUCERS && node / 2 == shard.index();
        if tracks {
            in_order(&[trace.by(*node, Name::Compare, of), endorse]);
            continue;
        }
        let received = trace.by(*node, Name::WitnessReceive, of);
        in_order(&[received, trace.by(*node, Name::Validate, of), endorse]);
        let witness = trace.by(*producer, Name::WitnessDistribute, of);
        assert!(received.begin > witness.begin, "{received:?}");
    }
    let (leader, waited) = trace.one(Name::Endorsed, of);
    assert_eq!(trace.one(Name::Collect, None).0, *leader);
    let (first, _) = trace.ends(Name::Endorse, of);
    assert!(first < waited.end, "{waited:?}");
}

fn check_block(trace: &Trace, block: &Block) {
    let (leader, whole) = trace.one(Name::Block, None);
    let (collector, collect) = trace.one(Name::Collect, None);
    let (proposer, propose) = trace.one(Name::Propose, None);
    assert_eq!((leader, leader), (collector, proposer));
    in_order(&[collect, propose]);
    let view = Detail::View(block.context.round.view().get());
    assert_eq!(propose.detail, view);
    for shard in [ShardId(0), ShardId(1)] {
        check_chunk(trace, block, shard);
        let (_, endorsed) = trace.one(Name::Endorsed, Some(shard));
        assert!(endorsed.end <= collect.end);
    }

    // A quorum votes, and everybody who votes hears of it.
    assert!(trace.count(Name::Verify, None) >= 2);
    let verified = trace.of(Name::Verify, None);
    assert!(verified.iter().all(|(node, _)| node != leader));
    assert!(verified.iter().all(|(_, span)| span.begin > propose.end));
    for (node, finalise) in trace.of(Name::Finalise, None) {
        assert!(*node < PRODUCERS, "n{node} has no vote");
        let notarise = trace.by(*node, Name::Notarise, None);
        assert_eq!(notarise.end, finalise.begin);
        assert_eq!((notarise.detail, finalise.detail), (view, view));
        let record = trace.by(*node, Name::RecordBlock, None);
        in_order(&[notarise, finalise, record]);
    }
    assert!(trace.count(Name::Finalise, None) >= 3);
    let stored = trace.by(*leader, Name::RecordBlock, None);
    assert_eq!(stored.end, whole.end);
    assert!(whole.begin < propose.begin);
}

/// The spans of all nodes, by height.
fn traces(network: &mut Network) -> BTreeMap<u64, Trace> {
    let mut traces = BTreeMap::new();
    for node in 0..VALIDATORS {
        for span in network.spans(node) {
            let trace = traces
                .entry(span.place.height)
                .or_insert_with(|| Trace(Vec::new()));
            trace.0.push((node, span));
        }
    }
    traces
}

/// A measurement that leads to a trace.
struct Exemplar {
    histogram: String,
    trace: String,
    height: u64,
}

/// Those that a node exports.
fn exemplars(network: &Network, node: usize) -> Vec<Exemplar> {
    let exported = network.node(node).metrics.encode();
    let exemplars = exported.lines().filter_map(|line| {
        let (series, labels) = line.split_once(" # {")?;
        let label = |name: &str| {
            let (_, value) = labels.split_once(&format!("{name}=\"")).unwrap();
            value.split_once('"').unwrap().0.to_owned()
        };
        Some(Exemplar {
            histogram: series.split_once("_bucket{").unwrap().0.to_owned(),
            trace: label("trace_id"),
            height: label("height").parse().unwrap(),
        })
    });
    exemplars.collect()
}

/// The histograms with exemplars, and the span that a node records of what one
/// measures; not every node does of a block.
const MEASURED: [(&str, Option<Name>); 7] = [
    ("shardnode_block_time_seconds", None),
    ("shardnode_finality_lag_seconds", None),
    ("shardnode_execution_seconds", Some(Name::Execute)),
    ("shardnode_witness_bytes", Some(Name::WitnessMake)),
    ("shardnode_witness_make_seconds", Some(Name::WitnessMake)),
    (
        "shardnode_witness_receive_seconds",
        Some(Name::WitnessReceive),
    ),
    ("shardnode_witness_validation_seconds", Some(Name::Validate)),
];

#[test]
fn every_block_has_a_trace_of_all_that_it_waited_for() {
    run_with_chunk_validators(31, 2, 2, 2, |mut network| async move {
        network.traced = Some(BasisPoints::ALL);
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(24).await;
        let traces = traces(&mut network);
        let genesis = network.genesis.hash();
        let mut checked = 0;
        for height in 3..=20 {
            let block = network.block(0, height).await;
            let trace = &traces[&height];
            let of = |span: &Span, node: usize| span.id(&genesis, &format!("n{node}"));
            let ids: BTreeSet<_> = trace.0.iter().map(|(node, span)| of(span, *node)).collect();
            assert_eq!(ids.len(), trace.0.len(), "two spans have one id");
            for (node, span) in &trace.0 {
                assert!(span.begin <= span.end);
                let parent = span.parent(&genesis);
                assert!(
                    parent.is_none_or(|parent| ids.contains(&parent)),
                    "n{node}: {span:?} has a parent that is not there"
                );
            }
            let before = network.block(0, height - 1).await;
            if [&before, &block].map(|block| block.new_chunks().count()) == [2, 2] {
                check_block(trace, &block);
                checked += 1;
            }
        }
        assert!(checked >= 15, "{checked} blocks without a missed chunk");
    });
}

#[test]
fn all_nodes_trace_the_same_heights_and_no_others() {
    run_with_chunk_validators(32, 2, 2, 2, |mut network| async move {
        network.traced = BasisPoints::new(2_500);
        network.start_all().await;
        network.set_load(50);
        network.wait_for_height(40).await;
        let traces = traces(&mut network);
        let complete: Vec<_> = traces.range(3..=36).collect();
        assert!((3..20).contains(&complete.len()), "{}", complete.len());
        for (height, trace) in complete {
            let nodes: BTreeSet<_> = trace.0.iter().map(|(node, _)| *node).collect();
            assert_eq!(nodes.len(), VALIDATORS, "height {height}");
            assert_eq!(trace.count(Name::Block, None), 1, "height {height}");
        }
    });
}

#[test]
fn what_is_measured_of_a_traced_height_names_its_trace() {
    run_with_chunk_validators(34, 2, 2, 2, |mut network| async move {
        network.traced = BasisPoints::new(2_500);
        network.start_all().await;
        network.set_load(100);
        network.wait_for_height(40).await;
        let traces = traces(&mut network);
        let genesis = network.genesis.hash();
        let spans: BTreeMap<_, _> = MEASURED.into_iter().collect();
        let mut seen = BTreeSet::new();
        for node in 0..VALIDATORS {
            for exemplar in exemplars(&network, node) {
                let height = exemplar.height;
                let id = u128::from_be_bytes(ids::trace(&genesis, height));
                assert_eq!(exemplar.trace, format!("{id:032x}"));
                let recorded = &traces[&height].0;
                let span = spans[exemplar.histogram.as_str()];
                assert!(
                    span.is_none_or(|name| recorded
                        .iter()
                        .any(|(by, span)| *by == node && span.name == name)),
                    "n{node} has measured {} at {height} and recorded {recorded:?}",
                    exemplar.histogram
                );
                seen.insert(exemplar.histogram);
            }
        }
        let measured = MEASURED.map(|(histogram, _)| histogram.to_owned());
        assert_eq!(seen, BTreeSet::from(measured));
    });
}

#[test]
fn tracing_changes_nothing() {
    let story = |traced| {
        run_with_chunk_validators(33, 2, 2, 2, move |mut network| async move {
            network.traced = traced;
            network.start_all().await;
            network.set_load(50);
            network.wait_for_height(8).await;
            let measured = (0..VALIDATORS).map(|node| exemplars(&network, node).len());
            assert_eq!(measured.sum::<usize>() > 0, traced.is_some());
        })
    };
    assert_eq!(story(None), story(Some(BasisPoints::ALL)));
}
