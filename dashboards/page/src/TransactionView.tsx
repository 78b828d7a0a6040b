// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useCallback } from 'react';
import { always, getChunk, getOutcome, type Outcome, proveOutcome, type Transaction, useAnswer } from './chain';
import { AccountLink, Facts, hash, Lookup } from './Facts';
import { Proof } from './Proof';
import { to } from './route';
import { number } from './words';

// TransactionView is a transaction, by its place in a chunk.
export function TransactionView({ height, shard, position }: { height: string; shard: string; position: string }): ReactElement {
  const ask = useCallback(() => getChunk(height, shard, position, 1), [height, shard, position]);
  const answer = useAnswer(ask, always);
  return (
    <Lookup title={`Transaction ${position} of shard ${shard} at height ${height}`} answer={answer}>
      {({ header, transactions: [transaction] }) => (transaction
        ? (
          <>
            <Contents transaction={transaction} />
            <nav aria-label="Where it is">
              <a href={to('chunk', header.height, header.shard)}>Its chunk</a><a href={to('block', header.height)}>Its block</a>
            </nav>
          </>
        )
        : <p role="alert">The chunk has no transaction there.</p>)}
    </Lookup>
  );
}

function Contents({ transaction }: { transaction: Transaction }): ReactElement {
  const { hash: name, signer } = transaction;
  const ask = useCallback(() => getOutcome(name, signer), [name, signer]);
  const { data: outcome, error } = useAnswer(ask, settled);
  const prove = useCallback(() => proveOutcome(name, signer), [name, signer]);
  return (
    <>
      <Facts facts={[
        ['Outcome', error ? <span role="alert">{error}</span> : outcome ? inWords(outcome) : 'asking a validator …'],
        ['Hash', hash(name)],
        ['Kind', transaction.kind],
        ['From', <AccountLink key="from" id={signer} full />],
        ['To', <AccountLink key="to" id={transaction.receiver} full />],
        ['Amount', number(transaction.amount)],
        ['Nonce', number(transaction.nonce)],
        ['Expires', transaction.expiresAt === 0 ? 'never' : `at height ${number(transaction.expiresAt)}`],
        ['Signature', hash(transaction.signature)],
      ]} />
      {outcome && settled(outcome) && <Proof ask={prove} says={(proven) => inWords(proven).toLowerCase()} />}
    </>
  );
}

// settled outcomes do not change any more.
const settled = ({ status }: Outcome) => status !== 'Unknown';

function inWords({ status, height, reason }: Outcome): string {
  switch (status) {
    case 'Executed':
      return `Executed, at height ${number(height)}`;
    case 'Failed':
      return `Failed, at height ${number(height)}: ${reason}`;
    case 'Unknown':
      return 'Unknown: not executed yet, or so long ago that the validators do not keep it';
  }
}
