// SPDX-License-Identifier: Apache-2.0

// What is on the chain, as a validator tells it to whoever serves the page.

import { useEffect, useState } from 'react';
import { get, type Polled, Refusal } from './network';

// Whole is a whole number, which may be too large for a number.
export type Whole = number | bigint;

export interface ListedBlock {
  height: number;
  hash: string;
  timestampMs: number;
  chunks: number;
  missed: number;
  transactions: Whole;
}

export interface Block {
  height: number;
  hash: string;
  parent: string;
  timestampMs: number;
  chunks: Header[];
}

// Header is a chunk's; what a node does not tell is absent.
export interface Header {
  shard: number;
  // height is below the block's if the shard missed its chunk.
  height: number;
  sequence?: number;
  hash?: string;
  previous?: string;
  anchor?: string;
  bodyHash?: string;
  partsRoot?: string;
  bodyBytes?: Whole;
  transactions?: number;
  results: Array<{ height: number; stateRoot: string; outcomesRoot?: string; receiptsRoot?: string; transfers?: Whole; credits?: Whole }>;
  uncommitted?: number[];
  totals?: {
    height: number; stateRoot: string; transfers: Whole; crossShard: Whole; credits: Whole;
    balance: Whole; burnt: Whole; sent: Whole; received: Whole;
  };
  signature?: string;
}

export interface Chunk {
  header: Header;
  from: number;
  transactions: Transaction[];
}

export interface Transaction {
  hash: string;
  kind: string;
  signer: string;
  receiver: string;
  amount: Whole;
  nonce: Whole;
  expiresAt: Whole;
  signature: string;
}

export interface Outcome {
  status: 'Executed' | 'Failed' | 'Unknown';
  height: number;
  reason: string;
}

export interface Account {
  id: string;
  shard: number;
  exists: boolean;
  balance: Whole;
  nonce: Whole;
  height: number;
}

// Proven is where something was proven, by the genesis document alone.
export interface Proven {
  blockHeight: number;
  blockHash: string;
  blockTimeMs: number;
  votes: number;
  voters: number;
}

export type Found =
  | { kind: 'Block'; height: number }
  | { kind: 'Transaction'; height: number; shard: number; position: number }
  | { kind: 'Account'; account: string };

// transactionsShown is how many transactions of a chunk are shown at a time.
export const transactionsShown = 100;

const path = (...parts: Array<string | number>) => ['chain', ...parts.map((part) => encodeURIComponent(part))].join('/');

// getBlocks has the blocks from a height downwards; without one, the newest.
export const getBlocks = (from?: string) => get<ListedBlock[]>(path('blocks') + (from === undefined ? '' : `?${new URLSearchParams({ from })}`));
export const getBlock = (height: string) => get<Block>(path('blocks', height));
export const getChunk = (height: string, shard: string, from: string, limit: number) =>
  get<Chunk>(`${path('chunks', height, shard)}?${new URLSearchParams({ from, limit: String(limit) })}`);
export const getOutcome = (hash: string, signer: string) => get<Outcome>(`${path('outcomes', hash)}?${new URLSearchParams({ signer })}`);
export const getAccount = (id: string) => get<Account>(path('accounts', id));
export const proveAccount = (id: string) => get<Account & { verified: Proven }>(path('accounts', id, 'proof'));
export const proveOutcome = (hash: string, signer: string) =>
  get<Outcome & { verified: Proven }>(`${path('outcomes', hash, 'proof')}?${new URLSearchParams({ signer })}`);
export const find = (text: string) => get<Found>(`${path('find')}?${new URLSearchParams({ text })}`);

const retryInterval = 2_000;

// useAnswer asks until there is an answer that will not change. What makes no sense
// is not asked again, and what is not there only if it may come.
export function useAnswer<Data>(ask: () => Promise<Data>, final: (data: Data) => boolean, absent: 'may come' | 'final' = 'may come'): Polled<Data> {
  const [answer, setAnswer] = useState<Polled<Data>>({});
  useEffect(() => {
    let wanted = true;
    let timer: ReturnType<typeof setTimeout>;
    const again = () => { timer = setTimeout(() => (document.hidden ? again() : void once()), retryInterval); };
    const once = async () => {
      try {
        const data = await ask();
        if (wanted) { setAnswer({ data }); }
        if (wanted && !final(data)) { again(); }
      } catch (error) {
        if (wanted) {
          setAnswer({ error: String((error as Error).message ?? error) });
          if (!(error instanceof Refusal && (error.status === 400 || (error.status === 404 && absent === 'final')))) { again(); }
        }
      }
    };
    void once();
    return () => { wanted = false; clearTimeout(timer); };
  }, [ask, final, absent]);
  return answer;
}

// always is for answers of which no other will come.
export const always = () => true;
