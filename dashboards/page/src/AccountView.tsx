// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useCallback } from 'react';
import { getAccount, proveAccount } from './chain';
import { Facts, hash, Lookup } from './Facts';
import { usePolled } from './network';
import { Proof } from './Proof';
import { to } from './route';
import { number } from './words';

const pollInterval = 2_000;

// AccountView is an account, as the newest blocks have it.
export function AccountView({ id }: { id: string }): ReactElement {
  const ask = useCallback(() => getAccount(id), [id]);
  const prove = useCallback(() => proveAccount(id), [id]);
  return (
    <Lookup title="Account" answer={usePolled(ask, pollInterval)}>
      {({ shard, exists, balance, nonce, height }) => (
        <>
          {!exists && <p>Its shard has no such account.</p>}
          <Facts facts={[
            ['Id', hash(id)],
            ['Shard', String(shard)],
            ['Balance', exists ? number(balance) : undefined],
            ['Nonce', exists ? number(nonce) : undefined],
            ['As of', <a key="height" href={to('block', height)}>block {number(height)}</a>],
          ]} />
          <Proof ask={prove} says={(proven) => (proven.exists
            ? <>balance <b>{number(proven.balance)}</b> and nonce <b>{number(proven.nonce)}</b> at height {number(proven.height)}</>
            : <>no such account at height {number(proven.height)}</>)} />
          <p className="note">Validators keep no list of an account's transactions: a chunk's page names who pays whom.</p>
        </>
      )}
    </Lookup>
  );
}
