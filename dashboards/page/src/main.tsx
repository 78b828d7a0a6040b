// SPDX-License-Identifier: Apache-2.0

// The page that shows a dashboard without a Grafana server. Its address may say
// which one (?dashboard=network.json), where Prometheus is
// (&prometheus=http://host:port; by default where the page is), how far to look
// back (&last=30m) and how often Prometheus scrapes (&scrape=15s).

import { ThemeContext } from '@grafana/data';
import { GlobalStyles } from '@grafana/ui';
import { createRoot } from 'react-dom/client';
import { type Dashboard, milliseconds } from './dashboard';
import { theme } from './frames';
import { Page } from './Page';
import { Prometheus } from './prometheus';

const page = document.getElementById('page')!;

async function show(address: URLSearchParams): Promise<void> {
  const response = await fetch(address.get('dashboard') ?? 'network.json');
  if (!response.ok) {
    throw new Error(`${response.url}: ${response.statusText}`);
  }
  const dashboard: Dashboard = await response.json();
  const settings = {
    prometheus: new Prometheus(address.get('prometheus') ?? ''),
    range: milliseconds(address.get('last') ?? dashboard.time.from.replace(/^now-/, '')),
    scrapeInterval: milliseconds(address.get('scrape') ?? '15s'),
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
