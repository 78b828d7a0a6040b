// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useCallback } from 'react';
import { always, type Block, getBlock, type Header, useAnswer } from './chain';
import { Facts, hash, Lookup } from './Facts';
import { to } from './route';
import { number, plural, short } from './words';

// BlockView is a finalised block and what it says of each shard.
export function BlockView({ height }: { height: string }): ReactElement {
  const ask = useCallback(() => getBlock(height), [height]);
  const answer = useAnswer(ask, always);
  return <Lookup title={`Block ${height}`} answer={answer}>{(block) => <Contents block={block} />}</Lookup>;
}

function Contents({ block }: { block: Block }): ReactElement {
  const own = block.chunks.filter((chunk) => chunk.height === block.height);
  const missed = block.chunks.length - own.length;
  return (
    <>
      <nav aria-label="Other blocks">
        {block.height > 0 && <a href={to('block', block.height - 1)} rel="prev">← {number(block.height - 1)}</a>}
        <a href={to('block', block.height + 1)} rel="next">{number(block.height + 1)} →</a>
        <a href={to('blocks', block.height)}>List</a>
        <a href={to('traces', block.height)}>What it waited for</a>
      </nav>
      <Facts facts={[
        ['Time', <time key="time" dateTime={new Date(block.timestampMs).toISOString()}>{timeOf(block.timestampMs)}</time>],
        ['Hash', hash(block.hash)],
        ['Parent', hash(block.parent)],
        ['Chunks', `${own.length} of ${plural(block.chunks.length, 'shard')}${missed > 0 ? `, ${missed} missed` : ''}`],
        ['Transactions', number(own.reduce((sum, { transactions = 0 }) => sum + transactions, 0))],
      ]} />
      <table>
        <caption>What the block says of each shard</caption>
        <thead>
          <tr><th scope="col">Shard</th><th scope="col">Chunk</th><th scope="col">Transactions</th><th scope="col">Executed</th><th scope="col">State root</th></tr>
        </thead>
        <tbody>{block.chunks.map((chunk) => <Row key={chunk.shard} block={block} chunk={chunk} />)}</tbody>
      </table>
      <p className="note">Validators do not tell who led a block, nor who voted for it.</p>
    </>
  );
}

function Row({ block, chunk }: { block: Block; chunk: Header }): ReactElement {
  const { shard, height, transactions, results } = chunk;
  const missed = height !== block.height;
  // A chunk that the block has anew commits to executions; one that it repeats does not.
  const newest = missed ? undefined : results[results.length - 1];
  return (
    <tr data-chunk={`${height}/${shard}`} className={missed ? 'missed' : undefined}>
      <th scope="row">{shard}</th>
      <td>
        {height > 0 && <a href={to('chunk', height, shard)}>{missed ? `missed; the last is of ${number(height)}` : number(height)}</a>}
        {height === 0 && 'none yet'}
      </td>
      <td>{missed || transactions === undefined ? '' : number(transactions)}</td>
      <td>{newest?.transfers === undefined ? '' : plural(missed ? 0 : results.reduce((sum, { transfers = 0 }) => sum + Number(transfers), 0), 'transfer')}</td>
      <td>{newest && <code title={newest.stateRoot}>{short(newest.stateRoot)}</code>}</td>
    </tr>
  );
}

const timeOf = (milliseconds: number) => new Date(milliseconds).toLocaleString(undefined, {
  year: 'numeric', month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit', fractionalSecondDigits: 3,
});
