// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, type ReactNode, useState } from 'react';
import type { Proven } from './chain';
import type { Polled } from './network';
import { to } from './route';
import { number, short } from './words';

// Proof asks for a proof when somebody wants one, and says what was proven and what that rests on.
export function Proof<Data extends { verified: Proven }>({ ask, says }: {
  ask: () => Promise<Data>; says: (proven: Data) => ReactNode;
}): ReactElement {
  const [asked, setAsked] = useState(false);
  const [{ data, error }, setAnswer] = useState<Polled<Data>>({});
  const prove = () => {
    setAsked(true);
    setAnswer({});
    ask().then((data) => setAnswer({ data }), (error) => setAnswer({ error: String((error as Error).message ?? error) })).finally(() => setAsked(false));
  };
  return (
    <section className="proof" aria-label="Proof">
      <button type="button" disabled={asked} onClick={prove}>{asked ? 'asking a validator …' : 'Verify'}</button>
      <div role="status">
        {error && <p role="alert">{error}</p>}
        {data && (
          <p data-proven={data.verified.blockHeight}>
            <strong>Verified:</strong> {says(data)}, by <a href={to('block', data.verified.blockHeight)}>block {number(data.verified.blockHeight)}</a>
            {' '}<code title={data.verified.blockHash}>{short(data.verified.blockHash)}</code>, which {data.verified.votes} of {data.verified.voters} votes
            made final. This rests on the keys of the genesis document alone.
          </p>
        )}
      </div>
    </section>
  );
}
