// SPDX-License-Identifier: Apache-2.0

import { Fragment, type ReactElement, type ReactNode, useEffect, useRef } from 'react';
import type { Polled } from './network';
import { to } from './route';
import { short } from './words';

// Facts are names and what they are; those that nobody told are left out.
export function Facts({ facts }: { facts: Array<[string, ReactNode]> }): ReactElement {
  return (
    <dl>
      {facts.filter(([, fact]) => fact !== undefined).map(([name, fact]) => (
        <Fragment key={name}><dt>{name}</dt><dd data-fact={name}>{fact}</dd></Fragment>
      ))}
    </dl>
  );
}

// Hash is a hash in full; undefined if it is not known.
export const hash = (text?: string) => (text ? <code>{text}</code> : undefined);

// AccountLink leads to an account.
export function AccountLink({ id, full }: { id: string; full?: boolean }): ReactElement {
  return <a href={to('account', id)} title={id}><code>{full ? id : short(id)}</code></a>;
}

// Lookup is something of the chain, once it is there, below its name. The focus goes
// there, so that who reads with a keyboard or by ear goes on from it.
export function Lookup<Data>({ title, waiting, answer: { data, error }, children }: {
  title: string; waiting?: string; answer: Polled<Data>; children: (data: Data) => ReactNode;
}): ReactElement {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus({ preventScroll: true }), []);
  return (
    <article>
      <h2 ref={heading} tabIndex={-1}>{title}</h2>
      {error && <p role="alert">{error}</p>}
      {!data && !error && <p>{waiting ?? 'asking a validator …'}</p>}
      {data && children(data)}
    </article>
  );
}
