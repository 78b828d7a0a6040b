// SPDX-License-Identifier: Apache-2.0

// Takes a picture of the page in a headless Chromium, and fails if any panel
// has nothing to show or the browser has an error to tell.
//
// usage: node picture.mjs 'ADDRESS OF THE PAGE' FILE.png [dark]
import puppeteer from 'puppeteer-core';

const [address, file, scheme = 'light'] = process.argv.slice(2);
if (!file) {
  console.error("usage: node picture.mjs 'ADDRESS OF THE PAGE' FILE.png [dark]");
  process.exit(2);
}

const width = 1600;
// Everything may take its time on a machine that is busy with other tests.
const timeout = 90_000;
const browser = await puppeteer.launch({
  executablePath: '/usr/bin/chromium',
  timeout,
  args: ['--no-sandbox', '--disable-dev-shm-usage', '--hide-scrollbars'],
});
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(timeout);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => { if (message.type() === 'error') { errors.push(message.text()); } });
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  await page.setViewport({ width, height: 1000 });
  await page.goto(address);
  await page.waitForFunction(() => {
    const panels = [...document.querySelectorAll('[data-panel]')];
    return panels.length > 0 && panels.every(({ dataset }) => dataset.state !== 'asking');
  });
  // Grown for the picture alone, the window would leave no time to draw what it shows more of.
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  await page.setViewport({ width, height });
  await page.waitForNetworkIdle();
  const panels = await page.$$eval('[data-panel]', (panels) => panels.map(({ dataset }) => ({ ...dataset })));
  await page.screenshot({ path: file });
  errors.push(...panels.filter(({ state }) => state !== 'shown').map(({ panel, state }) => `${panel}: ${state}`));
  if (errors.length) {
    throw new Error(errors.join('\n'));
  }
  console.log(`${panels.length} panels are in ${file}`);
} finally {
  await browser.close();
}
