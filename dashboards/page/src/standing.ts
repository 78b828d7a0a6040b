// SPDX-License-Identifier: Apache-2.0

// How each validator stands beside its peers in the last minute, as whoever serves the page has it from spans, metrics and blocks.

import { get } from './network';

export interface Standing {
  seconds: number;
  // tracedHeights is of how many heights of that time there are spans, and blocks how many finalised blocks of it were looked at.
  tracedHeights: number;
  blocks: number;
  // unknown says what could not be found out.
  unknown: string[];
  validators: Row[];
  ways: Way[];
  missed: Missed[];
}

export interface Row {
  name: string;
  region: string;
  role: string;
  answers: boolean;
  blocksBehind: number | null;
  executing: Figure | null;
  storing: Figure | null;
  travelling: Figure | null;
  endorsingLate: Figure | null;
  executed: Figure | null;
  turns: number | null;
  missed: number | null;
  missedOutlying: boolean;
  // says is how it stands out, in words; empty if it does not.
  says: string;
}

// Figure is a mean, beside the median of the same of the others.
export interface Figure {
  milliseconds: number;
  of: number;
  peers: number | null;
  outlying: boolean;
}

export interface Way extends Figure {
  between: [string, string];
}

// Missed are chunks of a shard that a producer had to produce, missing for one cause.
export interface Missed {
  shard: number;
  producer: string;
  cause: string;
  heights: number[];
}

export const getStanding = () => get<Standing>('standing');

// Cell is what is in a column of a row: in words, as a number to sort by, and whether it stands out.
export interface Cell {
  text: string;
  value: number;
  outlying: boolean;
  title?: string;
}

export interface Column {
  name: string;
  title: string;
  // numeric columns begin with the largest.
  numeric: boolean;
  cell: (row: Row) => Cell;
}

const unknown: Cell = { text: 'not known', value: -1, outlying: false };

const figure = (figure: Figure | null): Cell => {
  if (!figure) {
    return unknown;
  }
  const { milliseconds, of, peers, outlying } = figure;
  return {
    text: `${milliseconds.toFixed(1)} ms`, value: milliseconds, outlying,
    title: `mean of ${of}${peers === null ? '' : `; its peers ${peers.toFixed(1)} ms`}`,
  };
};

export const columns: Column[] = [
  { name: 'Validator', title: 'its name', numeric: false, cell: ({ name, says }) => ({ text: name, value: 0, outlying: says !== '' }) },
  { name: 'Region', title: 'where it is', numeric: false, cell: ({ region }) => ({ text: region, value: 0, outlying: false }) },
  { name: 'Executing', title: 'by spans: executing one chunk; long where the processor is short', numeric: true, cell: ({ executing }) => figure(executing) },
  { name: 'Storing', title: 'by spans: making something durable, once; long where the disk is slow', numeric: true, cell: ({ storing }) => figure(storing) },
  {
    name: 'On the way', numeric: true, cell: ({ travelling }) => figure(travelling),
    title: 'by spans: from when one sends a chunk until the other hears of it, to and from most others, beyond the delay of links; long where connections are slow',
  },
  {
    name: 'Endorsing late', numeric: true, cell: ({ endorsingLate }) => figure(endorsingLate),
    title: 'by spans: how much later it endorses a chunk than most do; follows from any of those before',
  },
  { name: 'Executed, stored', title: 'by metrics: executing one chunk and making that durable', numeric: true, cell: ({ executed }) => figure(executed) },
  {
    name: 'Missed chunks', title: 'by finalised blocks: chunks missing, of those that were its turn', numeric: true,
    cell: ({ turns, missed, missedOutlying }) => (turns === null || missed === null
      ? { ...unknown, text: 'none to produce' }
      : { text: `${missed} of ${turns}`, value: missed, outlying: missedOutlying }),
  },
  {
    name: 'Blocks behind', title: 'now, by its answer', numeric: true,
    cell: ({ answers, blocksBehind }) => (answers && blocksBehind !== null
      ? { text: String(blocksBehind), value: blocksBehind, outlying: blocksBehind > farBehind }
      : { text: 'no answer', value: Infinity, outlying: true }),
  },
];

// farBehind is how far one may be behind and be as far as the others: not all answer at one moment.
const farBehind = 8;

// Order is by which column rows are, and in which direction.
export interface Order {
  column: string;
  descending: boolean;
}

// sorted are rows in an order; those that are equal by it keep theirs.
export function sorted(rows: Row[], { column: name, descending }: Order): Row[] {
  const column = columns.find((column) => column.name === name) ?? columns[0];
  const collator = new Intl.Collator('en', { numeric: true });
  return [...rows].sort((a, b) => {
    const [one, other] = [column.cell(a), column.cell(b)];
    return (descending ? -1 : 1) * (column.numeric ? Math.sign(one.value - other.value) || 0 : collator.compare(one.text, other.text));
  });
}
