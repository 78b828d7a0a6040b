// SPDX-License-Identifier: Apache-2.0

import { type ReactElement, useState } from 'react';
import { Blocks } from './Blocks';
import type { Dashboard } from './dashboard';
import { NetworkMap } from './NetworkMap';
import { getNetwork, type Network, type Polled, usePolled } from './network';
import { Page, type Settings } from './Page';

// pollInterval is how often the network is asked how it is.
const pollInterval = 1_000;

const views = ['Live', 'Blocks'] as const;

type View = (typeof views)[number];

export function App({ dashboard, settings }: { dashboard: Dashboard; settings: Settings }): ReactElement {
  const polled = usePolled(getNetwork, pollInterval);
  const [view, setView] = useState<View>(() => views.find((view) => view.toLowerCase() === location.hash.slice(1)) ?? 'Live');
  const choose = (view: View) => {
    history.replaceState(null, '', `#${view.toLowerCase()}`);
    setView(view);
  };
  return (
    <main>
      <header className="bar">
        <h1>{polled.data?.network ?? dashboard.title}</h1>
        <nav aria-label="Views">
          {views.map((name) => (
            <button key={name} type="button" aria-current={name === view ? 'page' : undefined} onClick={() => choose(name)}>{name}</button>
          ))}
        </nav>
        <Headline polled={polled} />
      </header>
      {view === 'Live' && polled.data && <NetworkMap network={polled.data} />}
      {view === 'Live' && <Dashboards shown={dashboard.title} />}
      {view === 'Live' && <Page dashboard={dashboard} settings={settings} />}
      {view === 'Blocks' && <Blocks finalizedHeight={polled.data?.finalizedHeight} />}
    </main>
  );
}

// dashboards are those that the page offers, by the name in their address.
const dashboards = { network: 'Network', node: 'Node', shard: 'Shard' };

// Dashboards leads to the other dashboards, of the same time.
function Dashboards({ shown }: { shown: string }): ReactElement {
  return (
    <nav className="dashboards" aria-label="Dashboards">
      {Object.entries(dashboards).map(([name, title]) => {
        const address = new URLSearchParams(location.search);
        address.set('dashboard', name);
        return <a key={name} href={`?${address}`} aria-current={shown.endsWith(name) ? 'page' : undefined}>{title}</a>;
      })}
    </nav>
  );
}

// Headline is the chain in a line.
function Headline({ polled: { data, error } }: { polled: Polled<Network> }): ReactElement {
  if (error) {
    return <p role="alert">The network does not answer ({error}). What is shown is what it said last.</p>;
  }
  if (!data) {
    return <p>asking the network …</p>;
  }
  if (data.finalizedHeight === 0) {
    return <p id="headline">no block is finalised yet</p>;
  }
  const live = data.validators.filter(({ condition }) => condition === 'Live').length;
  const seconds = Math.max(0, (Date.now() - data.finalizedTimeMs) / 1000);
  return (
    <p id="headline">
      <strong>{number(data.tps)} TPS</strong>
      {` · a block every ${number(data.blockTimeMs)} ms · block ${number(data.finalizedHeight)}, ${seconds.toFixed(1)} s ago`}
      {` · ${live} of ${data.validators.length} validators live · ${number(data.missedChunks)} missed ${data.missedChunks === 1 ? 'chunk' : 'chunks'}`}
      {data.supply && !data.supply.conserved && <strong className="bad"> · the supply is not conserved</strong>}
    </p>
  );
}

export const number = (value: number) => Math.round(value).toLocaleString('en');
