// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useCallback } from 'react';
import { always, type Chunk, getChunk, type Header, transactionsShown, useAnswer } from './chain';
import { AccountLink, Facts, hash, Lookup } from './Facts';
import { to } from './route';
import { number, plural, short } from './words';

// ChunkView is a chunk of a finalised block, with its transactions from a position on.
export function ChunkView({ height, shard, from }: { height: string; shard: string; from: string }): ReactElement {
  const ask = useCallback(() => getChunk(height, shard, from, transactionsShown), [height, shard, from]);
  const answer = useAnswer(ask, always);
  return (
    <Lookup title={`Chunk of shard ${shard} at height ${height}`} answer={answer}>
      {(chunk) => <><HeaderFacts header={chunk.header} /><Transactions chunk={chunk} /></>}
    </Lookup>
  );
}

function HeaderFacts({ header }: { header: Header }): ReactElement {
  const { shard, height, sequence, transactions, bodyBytes, results, uncommitted, totals } = header;
  return (
    <>
      <Facts facts={[
        ['Block', <a key="block" href={to('block', height)}>{number(height)}</a>],
        ['Transactions', transactions === undefined ? undefined : number(transactions)],
        ['Body', bodyBytes === undefined ? undefined : `${number(bodyBytes)} bytes`],
        ['Sequence', sequence === undefined ? undefined : `${number(sequence)} of the shard's chunks`],
        ['Hash', hash(header.hash)],
        ['Previous', hash(header.previous)],
        ['Body hash', hash(header.bodyHash)],
        ['Parts root', hash(header.partsRoot)],
        ['Anchor', hash(header.anchor)],
        ['Signature', hash(header.signature)],
      ]} />
      {results.map((result) => (
        <section key={result.height} aria-label={`Execution of height ${result.height}`}>
          <h3>It commits to the execution of <a href={to('chunk', result.height, shard)}>height {number(result.height)}</a></h3>
          <Facts facts={[
            ['Transfers', result.transfers === undefined ? undefined : number(result.transfers)],
            ['Credits', result.credits === undefined ? undefined : number(result.credits)],
            ['State root', hash(result.stateRoot)],
            ['Outcomes root', hash(result.outcomesRoot)],
            ['Receipts root', hash(result.receiptsRoot)],
          ]} />
        </section>
      ))}
      {results.length === 0 && <p>It commits to no execution that no header before it did.</p>}
      {uncommitted && uncommitted.length > 0 && <p className="note">Not committed yet: {uncommitted.map((height) => number(height)).join(', ')}</p>}
      {totals && (
        <details>
          <summary>Shard {shard} since genesis, as of height {number(totals.height)}</summary>
          <Facts facts={[
            ['Transfers', number(totals.transfers)],
            ['To other shards', number(totals.crossShard)],
            ['Credits', number(totals.credits)],
            ['All balances', number(totals.balance)],
            ['Value sent', number(totals.sent)],
            ['Value received', number(totals.received)],
            ['Burnt', number(totals.burnt)],
          ]} />
        </details>
      )}
      <p className="note">
        Validators do not tell who produced a chunk, nor who endorsed it: every chunk here has the endorsements of more than two thirds of its
        committee's stake, or it would be missed. <a href={to('live')}>The map</a> says how much endorsed the newest one.
      </p>
    </>
  );
}

function Transactions({ chunk: { header, from, transactions } }: { chunk: Chunk }): ReactElement {
  const { height, shard } = header;
  const all = header.transactions ?? from + transactions.length;
  const next = from + transactions.length;
  const page = (position: number, name: string) => <a href={to('chunk', height, shard, 'from', position)}>{name}</a>;
  if (transactions.length === 0) {
    return <p>{all === 0 ? 'The chunk has no transactions.' : `The chunk has ${plural(all, 'transaction')}, none from ${number(from)} on.`}</p>;
  }
  return (
    <>
      <table className="transactions">
        <caption>Transactions {number(from)} to {number(next - 1)} of {number(all)}</caption>
        <thead>
          <tr><th scope="col">Position</th><th scope="col">Transaction</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Amount</th></tr>
        </thead>
        <tbody>
          {transactions.map(({ hash, signer, receiver, amount }, i) => (
            <tr key={hash} data-transaction={hash}>
              <td>{number(from + i)}</td>
              <td><a href={to('transaction', height, shard, from + i)} title={hash}><code>{short(hash)}</code></a></td>
              <td><AccountLink id={signer} /></td>
              <td><AccountLink id={receiver} /></td>
              <td>{number(amount)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <nav aria-label="Other transactions">
        {from > 0 && page(Math.max(0, from - transactionsShown), 'Before')}
        {next < all && page(next, 'After')}
      </nav>
    </>
  );
}
