// SPDX-License-Identifier: Apache-2.0

import { Fragment, type ReactElement, useCallback } from 'react';
import { type Network, usePolled, type Validator } from './network';
import { Prometheus } from './prometheus';
import type { Standing } from './standing';

const prometheus = new Prometheus();

// activityInterval is how often is asked what validators have produced and endorsed.
const activityInterval = 2_000;

// Activity is what each validator does, per second.
type Activity = Record<string, { chunks?: number; endorsements?: number }>;

// NetworkMap shows each shard's validators in each region.
export function NetworkMap({ network, standing }: { network: Network; standing?: Standing }): ReactElement {
  const { network: name, scrapeIntervalSeconds } = network;
  const ask = useCallback(() => activityOf(name, Math.max(10, 4 * scrapeIntervalSeconds)), [name, scrapeIntervalSeconds]);
  const activity = usePolled(ask, activityInterval).data ?? {};
  const regions = [...new Set(network.validators.map(({ region }) => region))].sort();
  const shards = [...new Set(network.validators.map(({ shard }) => shard))].sort((a, b) => (a ?? Infinity) - (b ?? Infinity));
  return (
    <div className="map">
      <table>
        <caption>Shards and their validators, by region</caption>
        <thead>
          <tr><th scope="col">Shard</th>{regions.map((region) => <th key={region} scope="col">{region}</th>)}</tr>
        </thead>
        <tbody>
          {shards.map((shard) => {
            const seen = network.shards.find((seen) => seen.shard === shard);
            return (
              <tr key={shard ?? 'none'}>
                <th scope="row">
                  {shard === null ? 'no shard' : `shard ${shard}`}
                  {seen && <State condition={seen.condition} says={seen.says} />}
                </th>
                {regions.map((region) => (
                  <td key={region}>
                    {network.validators.filter((one) => one.shard === shard && one.region === region).map((one) => (
                      <Place
                        key={one.name} validator={one} prefix={`${name}-`} activity={activity}
                        standsOut={standing?.validators.find(({ name }) => name === one.name)?.says ?? ''}
                      />
                    ))}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

// Place is a validator of the map.
function Place({ validator, prefix, activity, standsOut }: {
  validator: Validator; prefix: string; activity: Activity; standsOut: string;
}): ReactElement {
  const { name, condition, says, restarts } = validator;
  const does = [];
  const { chunks = 0, endorsements = 0 } = activity[name] ?? {};
  if (condition !== 'Down' && chunks > 0) { does.push(`produces ${chunks.toFixed(1)} chunks/s`); }
  if (condition !== 'Down' && endorsements > 0) { does.push(`endorses ${endorsements.toFixed(1)}/s`); }
  if (restarts > 0) { does.push(`restarted ${restarts === 1 ? 'once' : `${restarts} times`}`); }
  return (
    <article data-validator={name} data-condition={condition} className={standsOut && 'outlying'}>
      <h2 title={name}>{name.startsWith(prefix) ? name.slice(prefix.length) : name}</h2>
      <State condition={condition} says={says} />
      {standsOut && <p className="standsOut">▲ {standsOut}</p>}
      {does.map((text, i) => <Fragment key={text}>{i > 0 && ' · '}<small>{text}</small></Fragment>)}
    </article>
  );
}

const words: Record<string, string> = { NotReady: 'not ready' };

// State is a condition in a word, with a colour that says the same, and in more words.
function State({ condition, says }: { condition: string; says: string }): ReactElement {
  return (
    <p className="state">
      <span className={`dot ${condition}`} aria-hidden="true" />
      <strong>{words[condition] ?? condition.toLowerCase()}</strong>
      <span>{says}</span>
    </p>
  );
}

// activityOf asks what validators have done in the last seconds.
async function activityOf(network: string, seconds: number): Promise<Activity> {
  const now = Date.now();
  const rate = (metric: string) => prometheus.instant(`sum by (node) (rate(${metric}{network="${network}"}[${Math.ceil(seconds)}s]))`, now);
  const [chunks, endorsements] = await Promise.all([
    rate('shardnode_chunks_produced_total'), rate('shardnode_endorsements_total'),
  ]);
  const activity: Activity = {};
  for (const { metric, values } of chunks) { (activity[metric.node] ??= {}).chunks = Number(values[0][1]); }
  for (const { metric, values } of endorsements) { (activity[metric.node] ??= {}).endorsements = Number(values[0][1]); }
  return activity;
}
