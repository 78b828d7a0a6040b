// SPDX-License-Identifier: Apache-2.0

// What is shown, as the part of the page's address after # says it: #live,
// #blocks, #blocks/HEIGHT (from there downwards), #block/HEIGHT,
// #chunk/HEIGHT/SHARD, #chunk/HEIGHT/SHARD/from/POSITION (its transactions from
// there on), #transaction/HEIGHT/SHARD/POSITION, #account/ID, #find/TEXT, #traces
// (the newest traced block) and #traces/HEIGHT.

import { useEffect, useState } from 'react';

// Route is a view's name and what it is of.
export interface Route {
  view: string;
  of: string[];
}

export function parse(hash: string): Route {
  const [view, ...of] = hash.replace(/^#/, '').split('/').map(decoded);
  return { view: view || 'live', of };
}

// decoded is a part of an address that somebody may have written by hand.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

// to is the address of a view.
export const to = (view: string, ...of: Array<string | number | bigint>) => `#${[view, ...of].map((part) => encodeURIComponent(String(part))).join('/')}`;

// useRoute is what the address says, now and whenever it changes.
export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    window.addEventListener('hashchange', changed);
    return () => window.removeEventListener('hashchange', changed);
  }, []);
  return route;
}
