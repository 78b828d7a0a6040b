// SPDX-License-Identifier: Apache-2.0

import { type FormEvent, type ReactElement, useCallback, useState } from 'react';
import { number } from './App';
import { type Block, type Chunk, getBlocks, usePolled } from './network';

const pollInterval = 2_000;

// Blocks are the finalised blocks from a height downwards, or the newest, and what they say of each shard.
export function Blocks({ finalizedHeight }: { finalizedHeight?: number }): ReactElement {
  const [from, setFrom] = useState<number>();
  const [open, setOpen] = useState<number>();
  const ask = useCallback(() => getBlocks(from), [from]);
  const { data: blocks = [], error } = usePolled(ask, pollInterval);
  const find = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const height = Number(new FormData(event.currentTarget).get('height'));
    setFrom(height || undefined);
    setOpen(height || undefined);
  };
  const lowest = blocks[blocks.length - 1]?.height ?? 0;
  return (
    <section className="blocks" aria-label="Blocks">
      <form onSubmit={find}>
        <label>Block <input name="height" type="number" min="1" max={finalizedHeight} inputMode="numeric" /></label>
        <button type="submit">Find</button>
        <button type="button" onClick={() => setFrom(undefined)} aria-pressed={from === undefined}>Newest</button>
        <button type="button" onClick={() => setFrom(Math.max(1, lowest - 1))} disabled={lowest <= 1}>Older</button>
      </form>
      {error && <p role="alert">{error}</p>}
      {!error && blocks.length === 0 && <p>no block</p>}
      {blocks.map((block) => (
        <details
          key={block.height} data-block={block.height} open={open === block.height}
          onToggle={({ currentTarget }) => { if (currentTarget.open) { setOpen(block.height); } else if (open === block.height) { setOpen(undefined); } }}
        >
          <summary>
            <strong>{number(block.height)}</strong>
            <span>{new Date(block.timestampMs).toLocaleTimeString()}</span>
            <span>{summary(block)}</span>
            <code>{block.hash}</code>
          </summary>
          {open === block.height && <Chunks block={block} />}
        </details>
      ))}
    </section>
  );
}

function summary({ height, chunks }: Block): string {
  const own = chunks.filter((chunk) => chunk.height === height);
  const transactions = own.reduce((sum, chunk) => sum + (chunk.transactions ?? 0), 0);
  const missed = chunks.length - own.length;
  return `${number(transactions)} transactions in ${own.length} of ${chunks.length} chunks${missed > 0 ? `, ${missed} missed` : ''}`;
}

function Chunks({ block }: { block: Block }): ReactElement {
  return (
    <table>
      <caption>What block {number(block.height)} says of each shard</caption>
      <thead>
        <tr><th scope="col">Shard</th><th scope="col">Chunk</th><th scope="col">Transactions</th><th scope="col">Executions that it commits to</th></tr>
      </thead>
      <tbody>
        {block.chunks.map((chunk) => (
          <tr key={chunk.shard}>
            <th scope="row">{chunk.shard}</th>
            <td>{chunk.height === block.height ? 'of this height' : `missed; the last is of ${number(chunk.height)}`}</td>
            <td>{chunk.height === block.height ? number(chunk.transactions ?? 0) : ''}</td>
            <td>{executions(block, chunk)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function executions(block: Block, { height, results }: Chunk): ReactElement[] {
  if (height !== block.height) {
    return [];
  }
  return results.map(({ height, transfers, stateRoot }) => (
    <div key={height}>{number(height)}: {number(transfers ?? 0)} transfers, state root <code>{stateRoot}</code></div>
  ));
}
