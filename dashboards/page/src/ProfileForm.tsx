// SPDX-License-Identifier: Apache-2.0

import type { ReactElement } from 'react';
import type { Network } from './network';

// ProfileForm has a validator take a profile, whose flame graph opens beside the page when it has been taken.
export function ProfileForm({ network: { validators } }: { network: Network }): ReactElement {
  return (
    <form className="profile" method="post" action="profile" target="_blank" aria-label="Profile">
      <label>Profile of <select name="validator">{validators.map(({ name }) => <option key={name}>{name}</option>)}</select></label>
      <label>by <select name="kind">
        <option value="CPU">CPU time</option>
        <option value="Allocations">bytes allocated</option>
      </select></label>
      <button name="blocks" value="1" title="Takes as long as a block">of the next block</button>
      <button name="seconds" value="10" title="Takes somewhat more than 10 s">of 10 s</button>
    </form>
  );
}
