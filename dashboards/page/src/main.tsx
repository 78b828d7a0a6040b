// SPDX-License-Identifier: Apache-2.0

// The page of a network: a map of it, its blocks, and a dashboard without a
// Grafana server. Its address may say which dashboard (?dashboard=network), how
// far to look back (&last=30m) and what variables are to begin with
// (&var-region=us-east1). Whoever serves it answers the queries.

import { ThemeContext } from '@grafana/data';
import { GlobalStyles } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { type Dashboard, milliseconds } from './dashboard';
import { theme } from './frames';
import { getNetwork } from './network';
import './page.css';
import { Prometheus } from './prometheus';

const page = document.getElementById('page')!;

// refresh is how often the dashboard is drawn anew, unless there is something new less often.
const refresh = 2_000;

async function show(address: URLSearchParams): Promise<void> {
  const response = await fetch(`dashboards/${encodeURIComponent(address.get('dashboard') ?? 'network')}.json`);
  if (!response.ok) {
    throw new Error(`${response.url}: ${response.statusText}`);
  }
  const dashboard: Dashboard = await response.json();
  const { network, scrapeIntervalSeconds } = await getNetwork();
  const chosen = Object.fromEntries([...address].flatMap(([name, value]) => (name.startsWith('var-') ? [[name.slice(4), value]] : [])));
  const settings = {
    prometheus: new Prometheus(),
    refresh: Math.max(refresh, scrapeIntervalSeconds * 1_000),
    range: milliseconds(address.get('last') ?? '5m'),
    choices: { network, scrape: duration(scrapeIntervalSeconds), ...chosen },
  };
  document.title = `${network} – Shardyard`;
  createRoot(page).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <App dashboard={dashboard} settings={settings} />
    </ThemeContext.Provider>,
  );
}

const duration = (seconds: number) => (Number.isInteger(seconds) ? `${seconds}s` : `${seconds * 1_000}ms`);

show(new URLSearchParams(location.search)).catch((error) => {
  page.textContent = `There is nothing to show: ${error.message}`;
});
