// SPDX-License-Identifier: Apache-2.0

import type { ReactElement } from 'react';
import { to } from './route';

// sentences lead from what one sees in a view to where to look next.
const sentences: Record<string, ReactElement[]> = {
  live: [
    <>If TPS falls, blocks take longer or chunks are missing, look for ▲: it is on the map and in the table of the last minute, at whoever is slower than its peers, with what points to why.</>,
    <>What is long of its figures says where: <em>executing</em> is its processor, <em>storing</em> its disk, <em>on the way</em> its connections, or those of its region; <em>endorsing late</em> and <em>missed chunks</em> follow from any of these.</>,
    <>If nobody stands out, all are equally slow or the cause is another: see in <a href={to('traces')}>Traces</a> what blocks wait for, and in the dashboards below since when; a diamond in a graph of durations leads to what that block waited for.</>,
  ],
  blocks: [
    <>If a block has fewer chunks than there are shards, one is missing: the block says of which shard.</>,
    <>Who had to produce it and why it is missing is in the table of missed chunks in <a href={to('live')}>Live</a>, for a minute.</>,
    <>If a transaction is not where it should be, find it by its hash, and see what became of it and at which height.</>,
  ],
  traces: [
    <>A high bar is a slow block, and its colour what it waited for: orange is the way between nodes, red a disk, green an execution, grey the pace that the chain keeps by its rules.</>,
    <>Of one block, <em>where it waited</em> names the validator, or the way between two, that took the most; whoever is first in several blocks one after the other is the slow one.</>,
    <>In the lanes, the line below a bar that waits says what it waited for, work of a node or the way in between; point at it for who, and see in <a href={to('live')}>Live</a> how that one stands beside its peers.</>,
  ],
};

// HowToRead says how to read a view.
export function HowToRead({ view }: { view: string }): ReactElement {
  return (
    <details className="how">
      <summary>How to read this</summary>
      <ol>{sentences[view]?.map((sentence, i) => <li key={i}>{sentence}</li>)}</ol>
    </details>
  );
}
