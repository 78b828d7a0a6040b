// SPDX-License-Identifier: Apache-2.0

import { type FormEvent, type ReactElement, useCallback, useEffect, useRef } from 'react';
import { AccountView } from './AccountView';
import { BlockView } from './BlockView';
import { Blocks } from './Blocks';
import { always, find, type Found, useAnswer } from './chain';
import { ChunkView } from './ChunkView';
import { Lookup } from './Facts';
import { type Route, to } from './route';
import { TransactionView } from './TransactionView';

// Explorer shows what is on the chain.
export function Explorer({ route }: { route: Route }): ReactElement {
  return (
    <section className="explorer" aria-label="Explorer">
      <Search />
      <View key={to(route.view, ...route.of)} route={route} />
    </section>
  );
}

function View({ route: { view, of } }: { route: Route }): ReactElement {
  const [first, second, third, fourth] = of;
  switch (true) {
    case view === 'block' && of.length === 1:
      return <BlockView height={first} />;
    case view === 'chunk' && of.length === 2:
      return <ChunkView height={first} shard={second} from="0" />;
    case view === 'chunk' && of.length === 4 && third === 'from':
      return <ChunkView height={first} shard={second} from={fourth} />;
    case view === 'transaction' && of.length === 3:
      return <TransactionView height={first} shard={second} position={third} />;
    case view === 'account' && of.length === 1:
      return <AccountView id={first} />;
    case view === 'find' && of.length > 0:
      return <Finding text={of.join('/')} />;
    default:
      return <Blocks from={view === 'blocks' ? first : undefined} />;
  }
}

// Search leads to what has a height, a hash or an account.
function Search(): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
      if (event.key === '/' && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
        event.preventDefault();
        input.current?.focus();
      }
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  }, []);
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text')).trim();
    if (text) { location.hash = to('find', ...text.split('/')); }
  };
  return (
    <form role="search" onSubmit={submit}>
      <label htmlFor="text">Find</label>
      <input
        ref={input} id="text" name="text" type="search" autoComplete="off" spellCheck={false} autoCapitalize="off"
        placeholder="height, transaction, account or genesis/0" title="The key / leads here"
      />
      <button type="submit">Find</button>
    </form>
  );
}

// Finding goes where the text leads, in place of the search.
function Finding({ text }: { text: string }): ReactElement {
  const ask = useCallback(() => find(text), [text]);
  const found = useAnswer(ask, always, 'final');
  useEffect(() => { if (found.data) { location.replace(addressOf(found.data)); } }, [found.data]);
  return <Lookup title={`Find ${text}`} waiting="asking every shard …" answer={found}>{() => <p>found</p>}</Lookup>;
}

function addressOf(found: Found): string {
  switch (found.kind) {
    case 'Block':
      return to('block', found.height);
    case 'Transaction':
      return to('transaction', found.height, found.shard, found.position);
    case 'Account':
      return to('account', found.account);
  }
}
