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

export interface Block {
  height: number;
  hash: string;
  timestampMs: number;
  chunks: Chunk[];
}

export interface Chunk {
  shard: number;
  // height is below the block's if the shard missed its chunk.
  height: number;
  transactions?: number;
  results: Array<{ height: number; stateRoot: string; transfers?: number }>;
}

export const getNetwork = () => get<Network>('network');

// getBlocks has the blocks from a height downwards; without one, the newest.
export const getBlocks = (from?: number) => get<Block[]>(from === undefined ? 'blocks' : `blocks?from=${from}`);

async function get<Data>(path: string): Promise<Data> {
  const response = await fetch(path);
  if (!response.ok) {
    throw new Error((await response.text()).trim() || response.statusText);
  }
  return response.json();
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
