// SPDX-License-Identifier: Apache-2.0

// What whoever serves the page knows of its network, beside the metrics.

import { useEffect, useState } from 'react';

export interface Network {
  network: string;
  genesisHash: string;
  scrapeIntervalSeconds: number;
  finalizedHeight: number;
  finalizedTimeMs: number;
  blockTimeMs: number;
  tps: number;
  missedChunks: number;
  supply: { conserved: boolean } | null;
  shards: Shard[];
  validators: Validator[];
}

export interface Shard {
  shard: number;
  condition: string;
  says: string;
}

export interface Validator {
  name: string;
  region: string;
  role: string;
  shard: number | null;
  condition: string;
  says: string;
  restarts: number;
}

export const getNetwork = () => get<Network>('network');

// Refusal is an answer that is not what was asked for.
export class Refusal extends Error {
  constructor(message: string, readonly status: number) {
    super(message);
  }
}

export async function get<Data>(path: string): Promise<Data> {
  const response = await fetch(path);
  const text = await response.text();
  if (!response.ok) {
    throw new Refusal(text.trim() || response.statusText, response.status);
  }
  return JSON.parse(text, exact);
}

// exact keeps whole numbers whole that are too large for a number, where the browser tells how they were written.
function exact(_: string, value: unknown, written?: { source?: string }): unknown {
  const lost = typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  return lost && /^-?[0-9]+$/.test(written?.source ?? '') ? BigInt(written!.source!) : value;
}

// Polled is the newest answer to a question, and why there is no newer one.
export interface Polled<Data> {
  data?: Data;
  error?: string;
}

// usePolled asks again and again while somebody looks at the page, each time once the last answer has come.
export function usePolled<Data>(ask: () => Promise<Data>, interval: number): Polled<Data> {
  const [polled, setPolled] = useState<Polled<Data>>({});
  useEffect(() => {
    let wanted = true;
    let timer: ReturnType<typeof setTimeout>;
    const again = async () => {
      if (!document.hidden) {
        try {
          const data = await ask();
          if (wanted) { setPolled({ data }); }
        } catch (error) {
          if (wanted) { setPolled(({ data }) => ({ data, error: String((error as Error).message ?? error) })); }
        }
      }
      if (wanted) { timer = setTimeout(again, interval); }
    };
    void again();
    return () => { wanted = false; clearTimeout(timer); };
  }, [ask, interval]);
  return polled;
}
