// SPDX-License-Identifier: Apache-2.0

import { Fragment, type ReactElement } from 'react';
import {
  type Filter, filtered, kinds, type NodeLanes, phases, type Segment, segmentsOf, shardName, type Span, type Timeline, type Waited, whereWaited,
} from './timeline';
import { to } from './route';

// rowHeight is that of a row of spans, in pixels.
const rowHeight = 18;

// around is how much before and after a block is shown of what the nodes did, in times of the block's.
const around = 0.5;

// TimelineView is what a block waited for, and below it what each node did, lit where the block waited for it.
export function TimelineView({ timeline, filter, setFilter }: {
  timeline: Timeline; filter: Filter; setFilter: (filter: Filter) => void;
}): ReactElement {
  const { height, milliseconds, leader, incomplete, path, nodes } = timeline;
  const scale = scaleOf(timeline);
  const segments = segmentsOf(path, filter);
  return (
    <>
      <p>
        {incomplete
          ? `It is not known what it waited for: ${incomplete}.`
          : <>It took {milliseconds.toFixed(1)} ms from when the block before was final and stored on {leader}, which proposed it. <a href={to('block', height)}>What is in it</a></>}
      </p>
      <Filters timeline={timeline} filter={filter} setFilter={setFilter} />
      <Legend path={path} />
      {path.length > 0 && <WhereItWaited waited={whereWaited(path)} />}
      <div className="lanes" aria-hidden="true">
        <Axis scale={scale} />
        {path.length > 0 && (
          <div className="node">
            <h3>critical path</h3>
            <div className="lane"><span /><div className="rows" style={{ height: rowHeight }}>
              {segments.map((segment) => (
                <Bar key={segment.beginMs} scale={scale} row={0} className={`phase lit ${segment.phase}`} {...segment}
                  label={segment.phase} title={`${segment.phase}, ${lasting(segment)}: ${inWords(segment)}\n${kinds[segment.kind]}`} />
              ))}
            </div></div>
          </div>
        )}
        {filtered(nodes, filter).map((node) => <Node key={node.node} node={node} path={path} scale={scale} milliseconds={milliseconds} />)}
      </div>
      {path.length > 0 && <PathTable segments={segments} />}
    </>
  );
}

// Scale says where times are, in percent of the width.
interface Scale {
  begin: number;
  end: number;
  at: (milliseconds: number) => number;
}

function scaleOf({ nodes, milliseconds }: Timeline): Scale {
  const spans = nodes.flatMap(({ lanes }) => lanes.flatMap((lane) => lane.spans));
  const first = Math.min(0, ...spans.map(({ beginMs }) => beginMs));
  const last = Math.max(milliseconds, ...spans.map(({ endMs }) => endMs));
  const begin = milliseconds > 0 ? Math.max(first, -around * milliseconds) : first;
  const end = milliseconds > 0 ? Math.min(last, (1 + around) * milliseconds) : last;
  const width = Math.max(end - begin, 0.001);
  return { begin, end, at: (time) => (100 * (Math.min(Math.max(time, begin), end) - begin)) / width };
}

// ticks are round times, about eight of them.
function ticks({ begin, end }: Scale): number[] {
  const rough = (end - begin) / 8;
  const magnitude = 10 ** Math.floor(Math.log10(rough));
  const step = magnitude * ([1, 2, 5, 10].find((factor) => factor * magnitude >= rough) ?? 10);
  const found = [];
  for (let tick = Math.ceil(begin / step) * step; tick <= end; tick += step) { found.push(Math.round(tick / step) * step); }
  return found;
}

function Axis({ scale }: { scale: Scale }): ReactElement {
  return (
    <div className="lane axis"><span>ms</span><div className="rows">
      {ticks(scale).map((tick) => <span key={tick} style={{ left: `${scale.at(tick)}%` }}>{Number(tick.toFixed(3))}</span>)}
    </div></div>
  );
}

function Node({ node: { node, region, lanes }, path, scale, milliseconds }: {
  node: NodeLanes; path: Segment[]; scale: Scale; milliseconds: number;
}): ReactElement {
  return (
    <div className="node" data-node={node}>
      <h3>{node} <small>{region}</small></h3>
      {lanes.map(({ shard, rows, spans }) => (
        <div key={shard ?? -1} className="lane">
          <span>{shardName(shard)}</span>
          <div className="rows" style={{ height: rows * rowHeight }}>
            {[0, milliseconds].map((edge) => <i key={edge} style={{ left: `${scale.at(edge)}%` }} />)}
            {spans.filter(({ beginMs, endMs }) => endMs >= scale.begin && beginMs <= scale.end).map((span) => (
              <Fragment key={`${span.name} ${span.beginMs}`}>
                <Bar scale={scale} {...span} className={`phase ${span.phase}`} label={span.name} title={titleOf(node, span)} />
                {waitedFor(path, node, shard, span).map((segment) => (
                  <Bar key={segment.beginMs} scale={scale} {...segment} row={span.row} className={`phase lit ${span.phase}`} label={span.name}
                    title={`${titleOf(node, span)}\nthe block waited for it for ${(segment.endMs - segment.beginMs).toFixed(2)} ms`} />
                ))}
                {span.waited?.map((segment) => (
                  <Part key={segment.beginMs} scale={scale} row={span.row} segment={segment} title={`${node}: of ${span.name}, ${partInWords(segment)}`} />
                ))}
              </Fragment>
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

// titleOf is a span of a node in words, with what it was spent on if it is a wait.
const titleOf = (node: string, { name, phase, beginMs, endMs, waited = [] }: Span) => [
  `${node}: ${name}, ${(endMs - beginMs).toFixed(2)} ms from ${beginMs.toFixed(2)} ms on (${phase})`,
  ...whereWaited(waited).filter(({ milliseconds }) => milliseconds >= shortest)
    .map(({ kind, phase, where, milliseconds }) => `  ${milliseconds.toFixed(1)} ms ${kinds[kind]}${phase === undefined ? '' : ` (${phase})`}, ${where}`),
].join('\n');

const lasting = ({ beginMs, endMs }: Segment) => `${(endMs - beginMs).toFixed(2)} ms`;

const partInWords = (segment: Segment) => `${lasting(segment)} ${kinds[segment.kind]}: ${inWords(segment)}`;

// waitedFor are the times for which the block waited for a span itself.
const waitedFor = (path: Segment[], node: string, shard: number | undefined, { name, phase, beginMs, endMs }: Span) =>
  path.filter((one) => one.span === name && one.phase === phase && one.node === node && one.shard === shard
    && one.beginMs < endMs && beginMs < one.endMs);

function Bar({ scale, row, beginMs, endMs, className, label, title }: {
  scale: Scale; row: number; beginMs: number; endMs: number; className: string; label: string; title: string;
}): ReactElement {
  const left = scale.at(beginMs);
  const width = scale.at(endMs) - left;
  const style = { left: `${left}%`, width: `max(${width}%, 1px)`, top: row * rowHeight, height: rowHeight - 2 };
  return <span className={className} style={style} title={title}>{width > 3 && label}</span>;
}

// Part is a part of a wait: a line below the bar of the span.
function Part({ scale, row, segment, title }: { scale: Scale; row: number; segment: Segment; title: string }): ReactElement {
  const left = scale.at(segment.beginMs);
  const style = { left: `${left}%`, width: `${scale.at(segment.endMs) - left}%`, top: (row + 1) * rowHeight - 7 };
  return <span className={`part ${segment.kind}`} data-kind={segment.kind} style={style} title={title} />;
}

// placesShown is how many places are named of those where a block waited.
const placesShown = 5;

// WhereItWaited divides the time of a block into work of nodes and what is between them.
function WhereItWaited({ waited }: { waited: Waited[] }): ReactElement {
  const sum = (of: Waited[]) => of.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
  const total = sum(waited);
  return (
    <div className="where">
      <ul className="legend" aria-label="Work of nodes, and the ways in between">
        {Object.entries(kinds).map(([kind, words]) => (
          <li key={kind} data-kind={kind}><span className={`part ${kind}`} aria-hidden="true" />{words} {sum(waited.filter((one) => one.kind === kind)).toFixed(1)} ms</li>
        ))}
      </ul>
      <table>
        <caption>Where it waited, the longest first, without pace and turns</caption>
        <tbody>
          {waited.filter(({ kind }) => kind !== 'rule').slice(0, placesShown).map(({ kind, phase, where, milliseconds }) => (
            <tr key={`${kind} ${phase} ${where}`} data-where={where}>
              <td>{milliseconds.toFixed(1)} ms</td>
              <td>{((100 * milliseconds) / total).toFixed(0)}%</td>
              <td><span className={`part ${kind}`} aria-hidden="true" />{where}</td>
              <td>{phase === undefined ? kinds[kind] : `${phase}, ${kinds[kind]}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

// Legend says which phase has which colour, and how long the block waited for it.
function Legend({ path }: { path: Segment[] }): ReactElement {
  const waited = new Map<string, number>();
  for (const { phase, beginMs, endMs } of path) { waited.set(phase, (waited.get(phase) ?? 0) + endMs - beginMs); }
  return (
    <ul className="legend" aria-label="What the block waited for">
      {phases.filter((phase) => waited.has(phase) || path.length === 0).map((phase) => (
        <li key={phase} data-phase={phase}><span className={`phase ${phase}`} aria-hidden="true" />{phase}{waited.has(phase) && ` ${waited.get(phase)!.toFixed(1)} ms`}</li>
      ))}
    </ul>
  );
}

// Filters choose a node, a shard and a span.
function Filters({ timeline: { nodes }, filter, setFilter }: {
  timeline: Timeline; filter: Filter; setFilter: (filter: Filter) => void;
}): ReactElement {
  const lanes = nodes.flatMap((node) => node.lanes);
  const offered: Array<[keyof Filter, string, string[]]> = [
    ['node', 'Node', nodes.map(({ node }) => node)],
    ['shard', 'Shard', sorted(lanes.map(({ shard }) => shardName(shard)))],
    ['span', 'Span', sorted(lanes.flatMap(({ spans }) => spans.map(({ name }) => name)))],
  ];
  return (
    <form className="filters" aria-label="Show only" onSubmit={(event) => event.preventDefault()}>
      {offered.map(([name, label, values]) => (
        <label key={name}>{label}{' '}
          <select name={name} value={filter[name] ?? ''} onChange={(event) => setFilter({ ...filter, [name]: event.target.value || undefined })}>
            <option value="">all</option>
            {/* What was chosen at another block stays a choice, though this one does not have it. */}
            {sorted([...values, filter[name] ?? '']).filter(Boolean).map((value) => <option key={value}>{value}</option>)}
          </select>
        </label>
      ))}
    </form>
  );
}

const sorted = (values: string[]) => [...new Set(values)].sort(new Intl.Collator('en', { numeric: true }).compare);

// shortest is how long, in milliseconds, something has to take to be told in words.
const shortest = 0.05;

// PathTable is the path in words.
function PathTable({ segments }: { segments: Segment[] }): ReactElement {
  return (
    <table className="path">
      <caption>The critical path: each moment is given to what the block waited for, and what took under {shortest} ms is left out</caption>
      <thead>
        <tr><th scope="col">From, ms</th><th scope="col">Waited, ms</th><th scope="col">For</th><th scope="col">Where</th></tr>
      </thead>
      <tbody>
        {segments.filter(({ beginMs, endMs }) => endMs - beginMs >= shortest).map((segment) => (
          <tr key={segment.beginMs}>
            <td>{segment.beginMs.toFixed(1)}</td>
            <td>{(segment.endMs - segment.beginMs).toFixed(1)}</td>
            <td><span className={`phase ${segment.phase}`} aria-hidden="true" />{segment.phase}</td>
            <td>{inWords(segment)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const gaps = ['network', 'queue', 'turn'];

function inWords({ phase, span, shard, node, region, fromNode, fromRegion }: Segment): string {
  const of = `${span}${shard === undefined ? '' : ` of shard ${shard}`}`;
  const where = `${node} in ${region}`;
  const from = fromNode ? `, from ${fromNode} in ${fromRegion}` : '';
  return gaps.includes(phase) ? `before ${of}, on ${where}${from}` : `${of}, on ${where}${from}`;
}
