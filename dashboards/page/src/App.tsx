// SPDX-License-Identifier: Apache-2.0

import type { ReactElement } from 'react';
import type { Dashboard } from './dashboard';
import { Explorer } from './Explorer';
import { HowToRead } from './HowToRead';
import { NetworkMap } from './NetworkMap';
import { getNetwork, type Network, type Polled, usePolled } from './network';
import { Page, type Settings } from './Page';
import { ProfileForm } from './ProfileForm';
import { to, useRoute } from './route';
import { getStanding } from './standing';
import { StandingView } from './StandingView';
import { Traces } from './Traces';
import { number } from './words';

// pollInterval is how often the network is asked how it is.
const pollInterval = 1_000;

// views are those that the page begins with, by their names in its address.
const views = { live: 'Live', blocks: 'Blocks', traces: 'Traces' };

export function App({ dashboard, settings }: { dashboard: Dashboard; settings: Settings }): ReactElement {
  const polled = usePolled(getNetwork, pollInterval);
  const route = useRoute();
  const view = route.view in views ? route.view : 'blocks';
  const live = view === 'live';
  return (
    <main>
      <header className="bar">
        <h1>{polled.data?.network ?? dashboard.title}</h1>
        <nav aria-label="Views">
          {Object.entries(views).map(([name, title]) => (
            <a key={name} href={to(name)} aria-current={name === view ? 'page' : undefined}>{title}</a>
          ))}
        </nav>
        <Headline polled={polled} />
      </header>
      <HowToRead view={view} />
      {live && <Live network={polled.data} />}
      {live && <Dashboards shown={dashboard.title} />}
      {live && <Page dashboard={dashboard} settings={settings} />}
      {view === 'traces' && <Traces route={route} />}
      {view === 'blocks' && <Explorer route={route} />}
    </main>
  );
}

// standingInterval is how often is asked how the validators stand.
const standingInterval = 2_000;

// Live is how the network and each of its validators is.
function Live({ network }: { network?: Network }): ReactElement {
  const standing = usePolled(getStanding, standingInterval);
  return (
    <>
      {network && <NetworkMap network={network} standing={standing.data} />}
      {network && <ProfileForm network={network} />}
      <StandingView polled={standing} />
    </>
  );
}

// dashboards are those that the page offers, by the name in their address.
const dashboards = { network: 'Network', node: 'Node', shard: 'Shard', benchmark: 'Benchmark' };

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
