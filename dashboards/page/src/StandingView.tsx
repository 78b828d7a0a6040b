// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useState } from 'react';
import type { Polled } from './network';
import { to } from './route';
import { columns, type Missed, type Order, sorted, type Standing, type Way } from './standing';
import { number, plural } from './words';

// StandingView is how each validator stands beside its peers, and what was missed.
export function StandingView({ polled: { data, error } }: { polled: Polled<Standing> }): ReactElement {
  const [order, setOrder] = useState<Order>({ column: 'Validator', descending: false });
  return (
    <section className="explorer standing" aria-label="Last minute by validator">
      {error && <p role="alert">How the validators stand is not known ({error}). What is shown is what was known last.</p>}
      {data && (
        <>
          <Verdict standing={data} />
          <Validators standing={data} order={order} setOrder={setOrder} />
          <p className="note">
            {`Means of the last ${data.seconds} s, of ${plural(data.tracedHeights, 'traced height')} and ${plural(data.blocks, 'block')}. `}
            {data.tracedHeights === 0 && <>Nothing was traced: with <code>shardyard up --trace-basis-points 10000</code> the figures by spans are known. </>}
            Marked ▲ is what is more than twice the median of the other validators and above it by 3 ms (executing), 10 ms (storing, on
            the way, executed), 20 ms (endorsing late) or 2 chunks; and who does not answer, or is more than 8 blocks behind.
            {data.unknown.map((why) => <span key={why} role="alert"> Not known: {why}.</span>)}
          </p>
          <details open={data.ways.some(({ outlying }) => outlying) || undefined}>
            <summary>On the way between regions</summary>
            <Ways ways={data.ways} />
          </details>
          <MissedChunks missed={data.missed} blocks={data.blocks} seconds={data.seconds} />
        </>
      )}
    </section>
  );
}

// Verdict names those that stand out or, if none does, the ways between regions that do.
function Verdict({ standing: { validators, ways } }: { standing: Standing }): ReactElement {
  const outlying = validators.filter(({ says }) => says);
  return (
    <div className="verdict" role="status">
      {outlying.length === 0 && <p>No validator stands out.</p>}
      {outlying.length === 0 && ways.filter(({ outlying }) => outlying).map(({ between, milliseconds }) => (
        <p key={between.join()}>▲ <strong>{wayName(between)}</strong> takes {milliseconds.toFixed(0)} ms, longer than most ways</p>
      ))}
      {outlying.map(({ name, says }) => <p key={name}>▲ <strong>{name}</strong> {says}</p>)}
    </div>
  );
}

function Validators({ standing, order, setOrder }: { standing: Standing; order: Order; setOrder: (order: Order) => void }): ReactElement {
  return (
    <div className="wide">
      <table>
        <caption>Last minute by validator</caption>
        <thead>
          <tr>
            {columns.map(({ name, title, numeric }) => {
              const chosen = order.column === name;
              const sort = chosen ? (order.descending ? 'descending' : 'ascending') : undefined;
              return (
                <th key={name} scope="col" aria-sort={sort}>
                  <button type="button" title={title} onClick={() => setOrder({ column: name, descending: chosen ? !order.descending : numeric })}>
                    {name}<span aria-hidden="true">{chosen ? (order.descending ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                </th>
              );
            })}
          </tr>
        </thead>
        <tbody>
          {sorted(standing.validators, order).map((row) => (
            <tr key={row.name} data-standing={row.name} className={row.says ? 'outlying' : undefined}>
              {columns.map(({ name, cell }) => {
                const { text, outlying, title } = cell(row);
                return name === 'Validator'
                  ? <th key={name} scope="row">{text}{row.says && <small>{row.says}</small>}</th>
                  : <td key={name} title={title} className={outlying ? 'outlying' : undefined}>{outlying && <span title="stands out">▲ </span>}{text}</td>;
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const wayName = ([one, other]: [string, string]) => (one === other ? `within ${one}` : `between ${one} and ${other}`);

function Ways({ ways }: { ways: Way[] }): ReactElement {
  if (ways.length === 0) {
    return <p>not known: nothing was traced</p>;
  }
  return (
    <table>
      <caption>From when a chunk is sent until it is heard of, beyond the delay of links</caption>
      <thead><tr><th scope="col">Way</th><th scope="col">Mean</th><th scope="col">Of</th></tr></thead>
      <tbody>
        {ways.map(({ between: [one, other], milliseconds, of, outlying }) => (
          <tr key={`${one} ${other}`} className={outlying ? 'outlying' : undefined}>
            <td>{wayName([one, other])}</td>
            <td className={outlying ? 'outlying' : undefined}>{outlying && '▲ '}{milliseconds.toFixed(1)} ms</td>
            <td>{number(of)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

// heightsShown is how many heights lead to their blocks.
const heightsShown = 5;

function MissedChunks({ missed, blocks, seconds }: { missed: Missed[]; blocks: number; seconds: number }): ReactElement {
  if (missed.length === 0) {
    return <p className="missing">{blocks === 0 ? 'Missed chunks are not known: no block was looked at.' : `No chunk is missing in the ${plural(blocks, 'block')} of the last ${seconds} s.`}</p>;
  }
  return (
    <div className="wide">
      <table>
        <caption>Missed chunks of the last {seconds} s, by whose turn it was</caption>
        <thead>
          <tr><th scope="col">Shard</th><th scope="col">Producer</th><th scope="col">Missed</th><th scope="col">Why</th><th scope="col">Newest blocks</th></tr>
        </thead>
        <tbody>
          {missed.map(({ shard, producer, cause, heights }) => (
            <tr key={`${shard} ${producer} ${cause}`} data-missed={producer}>
              <td>{shard}</td>
              <td>{producer || 'not known'}</td>
              <td>{number(heights.length)}</td>
              <td>{cause}</td>
              <td>{heights.slice(0, heightsShown).map((height) => <a key={height} href={to('block', height)}>{height} </a>)}{heights.length > heightsShown && '…'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
