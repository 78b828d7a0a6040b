// SPDX-License-Identifier: Apache-2.0

import { type PointerEvent, type ReactElement, useCallback, useState } from 'react';
import { usePolled } from './network';
import { type Route, to } from './route';
import { TimelineView } from './TimelineView';
import { type Filter, getTimeline, getTracedBlocks, phases, type TracedBlock, type TracedBlocks } from './timeline';
import { number } from './words';

const pollInterval = 2_000;

// shown is how many blocks can be chosen at a time.
const shown = 60;

// Traces shows what the newest traced blocks waited for, and what the nodes did for one of them.
export function Traces({ route }: { route: Route }): ReactElement {
  const { data: newest, error } = usePolled(getTracedBlocks, pollInterval);
  // What somebody points at stands still.
  const [held, setHeld] = useState<TracedBlocks>();
  const data = held ?? newest;
  const hold = (event: PointerEvent) => { if (event.pointerType === 'mouse') { setHeld(newest); } };
  // The choices stay while one goes from block to block.
  const [filter, setFilter] = useState<Filter>({});
  const blocks = data?.blocks.slice(0, shown) ?? [];
  const height = route.of[0] ?? blocks[0]?.height;
  return (
    <section className="explorer traces" aria-label="Traces">
      {error && <p role="alert">{error}</p>}
      {data?.sampleBasisPoints === 0 && (
        <p>
          The nodes of this network record no spans. With <code>shardyard up --trace-basis-points 10000</code> they do for every height,
          and with fewer for so many of 10,000.
        </p>
      )}
      {data && data.sampleBasisPoints > 0 && blocks.length === 0 && <p>no traced block is whole yet</p>}
      <div data-held={held ? '' : undefined} onPointerEnter={hold} onPointerLeave={() => setHeld(undefined)}>
        {blocks.length > 0 && <Chooser blocks={blocks} chosen={height} newest={route.of.length === 0} held={held !== undefined} />}
        {height !== undefined && <One key={height} height={height} filter={filter} setFilter={setFilter} />}
      </div>
    </section>
  );
}

// Chooser has a bar for each block, as high as the block took long, of what it waited for.
function Chooser({ blocks, chosen, newest, held }: {
  blocks: TracedBlock[]; chosen?: string | number; newest: boolean; held: boolean;
}): ReactElement {
  const longest = Math.max(...blocks.map(({ milliseconds }) => milliseconds));
  const index = blocks.findIndex(({ height }) => String(height) === String(chosen));
  const [earlier, later] = index < 0 ? [] : [blocks[index + 1], blocks[index - 1]];
  const times = blocks.map(({ milliseconds }) => milliseconds).sort((a, b) => a - b);
  return (
    <>
      <nav aria-label="Which block">
        <a href={to('traces')} aria-current={newest ? 'page' : undefined}>Newest</a>
        {earlier && <a href={to('traces', earlier.height)} rel="prev">Earlier</a>}
        {later && <a href={to('traces', later.height)} rel="next">Later</a>}
        <span className="note">
          {blocks.length} traced blocks, the newest to the right: {number(times[Math.floor(times.length / 2)])} ms in the middle, {number(longest)} ms at most
          {held && ' · stands still while you point here'}
        </span>
      </nav>
      <ol className="times" reversed>
        {blocks.map(({ height, leader, milliseconds, waited }) => (
          <li key={height}>
            {/* With a keyboard, one goes from block to block by the links above. */}
            <a
              tabIndex={-1} href={to('traces', height)} aria-current={String(chosen) === String(height) ? 'true' : undefined}
              aria-label={`Block ${height}, ${number(milliseconds)} ms`} title={`block ${height}, led by ${leader}: ${number(milliseconds)} ms\n${summary(waited)}`}
            >
              {phases.filter((phase) => waited[phase] > 0).map((phase) => (
                <span key={phase} className={`phase ${phase}`} style={{ height: `${(100 * waited[phase]) / longest}%` }} />
              ))}
            </a>
          </li>
        ))}
      </ol>
    </>
  );
}

const summary = (waited: Record<string, number>) =>
  Object.entries(waited).sort(([, a], [, b]) => b - a).slice(0, 4).map(([phase, time]) => `${phase} ${time.toFixed(1)} ms`).join('\n');

// One is a block. Spans of the newest one may still come.
function One({ height, filter, setFilter }: { height: string | number; filter: Filter; setFilter: (filter: Filter) => void }): ReactElement {
  const ask = useCallback(() => getTimeline(height), [height]);
  const { data, error } = usePolled(ask, pollInterval);
  return (
    <article data-height={height}>
      <h2>Block {number(Number(height))}</h2>
      {error && <p role="alert">{error}</p>}
      {!data && !error && <p>asking …</p>}
      {data && <TimelineView timeline={data} filter={filter} setFilter={setFilter} />}
    </article>
  );
}
