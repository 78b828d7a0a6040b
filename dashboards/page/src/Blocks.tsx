// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useCallback } from 'react';
import { getBlocks, type ListedBlock } from './chain';
import { usePolled } from './network';
import { to } from './route';
import { number, plural, short } from './words';

const pollInterval = 2_000;

// Blocks are the finalised blocks from a height downwards, or the newest.
export function Blocks({ from }: { from?: string }): ReactElement {
  const ask = useCallback(() => getBlocks(from), [from]);
  const { data: blocks, error } = usePolled(ask, pollInterval);
  const lowest = blocks?.[blocks.length - 1]?.height ?? 0;
  return (
    <div className="blocks">
      <nav aria-label="Which blocks">
        <a href={to('blocks')} aria-current={from === undefined ? 'page' : undefined}>Newest</a>
        {lowest > 1 && <a href={to('blocks', lowest - 1)}>Older</a>}
      </nav>
      {error && <p role="alert">{error}</p>}
      {!error && blocks?.length === 0 && <p>no block</p>}
      <ul>
        {blocks?.map((block) => (
          <li key={block.height} data-block={block.height}>
            <a href={to('block', block.height)}>
              <strong>{number(block.height)}</strong>
              <span>{new Date(block.timestampMs).toLocaleTimeString()}</span>
              <span>{summary(block)}</span>
              <code>{short(block.hash)}</code>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}

function summary({ chunks, missed, transactions }: ListedBlock): string {
  return `${plural(transactions, 'transaction')} in ${chunks} of ${plural(chunks + missed, 'chunk')}${missed > 0 ? `, ${missed} missed` : ''}`;
}
