// SPDX-License-Identifier: Apache-2.0

// The page that shows a dashboard without a Grafana server. Its address may say
// which one (?dashboard=network), how far to look back (&last=30m) and what
// variables are to begin with (&var-region=us-east1). Whoever serves it answers
// the queries.

import { ThemeContext } from '@grafana/data';
import { GlobalStyles } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { type Dashboard, milliseconds } from './dashboard';
import { theme } from './frames';
import { Page } from './Page';
import { Prometheus } from './prometheus';

const page = document.getElementById('page')!;

async function show(address: URLSearchParams): Promise<void> {
  const response = await fetch(`dashboards/${encodeURIComponent(address.get('dashboard') ?? 'network')}.json`);
  if (!response.ok) {
    throw new Error(`${response.url}: ${response.statusText}`);
  }
  const dashboard: Dashboard = await response.json();
  const settings = {
    prometheus: new Prometheus(),
    range: milliseconds(address.get('last') ?? dashboard.time.from.replace(/^now-/, '')),
    choices: Object.fromEntries([...address].flatMap(([name, value]) => (name.startsWith('var-') ? [[name.slice(4), value]] : []))),
  };
  document.title = dashboard.title;
  createRoot(page).render(
    <ThemeContext.Provider value={theme}>
      <GlobalStyles />
      <Page dashboard={dashboard} settings={settings} />
    </ThemeContext.Provider>,
  );
}

show(new URLSearchParams(location.search)).catch((error) => {
  page.textContent = `There is nothing to show: ${error.message}`;
});
