// SPDX-License-Identifier: Apache-2.0

// What blocks waited for and what nodes did meanwhile, as whoever serves the page has it from the nodes' spans.

import { get } from './network';

export interface TracedBlocks {
  // sampleBasisPoints is how many of 10,000 heights are traced.
  sampleBasisPoints: number;
  blocks: TracedBlock[];
}

export interface TracedBlock {
  height: number;
  leader: string;
  milliseconds: number;
  // waited is how long the block waited for each phase, in milliseconds.
  waited: Record<string, number>;
}

export interface Timeline {
  height: number;
  // incomplete says why there is no path.
  incomplete?: string;
  leader?: string;
  milliseconds: number;
  path: Segment[];
  nodes: NodeLanes[];
}

export interface Segment {
  // kind is work of a node, the way between two, the arrival of something on a node, or what the chain waits for by its rules.
  kind: Kind;
  phase: string;
  span: string;
  shard?: number;
  node: string;
  region: string;
  fromNode?: string;
  fromRegion?: string;
  beginMs: number;
  endMs: number;
}

export type Kind = 'work' | 'way' | 'arrival' | 'rule';

// kinds are what a wait is divided into, in words.
export const kinds: Record<Kind, string> = {
  work: 'work of a node', way: 'on the way between nodes', arrival: 'arriving and being stored', rule: 'pace and turns',
};

export interface NodeLanes {
  node: string;
  region: string;
  lanes: Lane[];
}

export interface Lane {
  // shard is absent for whole blocks.
  shard?: number;
  rows: number;
  spans: Span[];
}

export interface Span {
  name: string;
  phase: string;
  row: number;
  beginMs: number;
  endMs: number;
  // waited is what a span that waits was spent on.
  waited?: Segment[];
}

export const getTracedBlocks = () => get<TracedBlocks>('traces/');
export const getTimeline = (height: number | string) => get<Timeline>(`traces/${encodeURIComponent(height)}`);

// phases are what can be waited for, in the order of a block's life.
export const phases = [
  'pacing', 'turn', 'production', 'execution', 'persistence', 'witness', 'validation', 'availability', 'leading', 'consensus', 'network', 'queue',
];

// Filter is what is looked at; what is absent is not chosen.
export interface Filter {
  node?: string;
  shard?: string;
  span?: string;
}

// wholeBlocks is the choice of what is of no shard.
export const wholeBlocks = 'blocks';

export const shardName = (shard?: number) => (shard === undefined ? wholeBlocks : `shard ${shard}`);

// filtered is what is left of nodes.
export function filtered(nodes: NodeLanes[], { node, shard, span }: Filter): NodeLanes[] {
  return nodes
    .filter((one) => !node || one.node === node)
    .map((one) => ({
      ...one,
      lanes: one.lanes
        .filter((lane) => !shard || shardName(lane.shard) === shard)
        .map((lane) => ({ ...lane, spans: lane.spans.filter(({ name }) => !span || name === span) }))
        .filter((lane) => lane.spans.length > 0),
    }))
    .filter((one) => one.lanes.length > 0);
}

// segmentsOf is what is left of a path.
export function segmentsOf(path: Segment[], { node, shard, span }: Filter): Segment[] {
  return path.filter((one) =>
    (!node || one.node === node || one.fromNode === node) && (!shard || shardName(one.shard) === shard) && (!span || one.span === span));
}

// Waited is how long something was waited for.
export interface Waited {
  kind: Kind;
  where: string;
  // phase is absent for what is on the way.
  phase?: string;
  milliseconds: number;
}

// whereWaited sums segments up by their kind, their phase and where they are, the longest first.
export function whereWaited(segments: Segment[]): Waited[] {
  const sums = new Map<string, Waited>();
  for (const { kind, phase, node, fromNode, beginMs, endMs } of segments) {
    const where = kind === 'rule' ? 'of the chain' : kind === 'way' && fromNode ? `from ${fromNode} to ${node}` : node;
    const key = `${kind} ${where} ${kind === 'way' ? '' : phase}`;
    const sum = sums.get(key) ?? { kind, where, milliseconds: 0, ...(kind !== 'way' && { phase }) };
    sums.set(key, { ...sum, milliseconds: sum.milliseconds + endMs - beginMs });
  }
  return [...sums.values()].sort((a, b) => b.milliseconds - a.milliseconds);
}
