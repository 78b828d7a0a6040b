// SPDX-License-Identifier: Apache-2.0

// Walks through the page of a network in a headless Chromium, as somebody with a
// keyboard on a wide screen and somebody with a small one does, and fails if
// anything is not there. With a folder, it leaves pictures of what was seen.
//
// usage: node walk.mjs 'ADDRESS OF THE PAGE' VALIDATORS [FOLDER]
import assert from 'node:assert/strict';
import puppeteer from 'puppeteer-core';

const [address, validators, folder] = process.argv.slice(2);
if (!validators) {
  console.error("usage: node walk.mjs 'ADDRESS OF THE PAGE' VALIDATORS [FOLDER]");
  process.exit(2);
}

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
  page.on('response', (response) => { if (!response.ok()) { errors.push(`${response.url()}: ${response.statusText()}`); } });

  const picture = async (name) => { if (folder) { await page.screenshot({ path: `${folder}/${name}.png` }); } };
  const press = async (name) => {
    for (let tabs = 0; tabs < 50; tabs++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate((name) => document.activeElement?.textContent === name, name)) {
        await page.keyboard.press('Enter');
        return;
      }
    }
    assert.fail(`the Tab key does not lead to ${name}`);
  };
  const isThere = (expression) => page.waitForFunction(expression);

  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(address);
    await isThere(`document.querySelectorAll('[data-validator][data-condition=Live]').length === ${Number(validators)}`);
    await isThere(`document.querySelector('.map small')?.textContent.startsWith('produces ')`);
    await isThere(`/^[1-9][0-9,]* TPS · a block every [0-9]+ ms · block [1-9]/.test(document.querySelector('#headline')?.textContent)`);
    await isThere(`[...document.querySelectorAll('[data-panel]')].some(({ dataset }) => dataset.state === 'shown')`);
    await picture(`live-${scheme}`);
    const contrast = await page.evaluate(() => {
      const parts = (color) => color.match(/[\d.]+/g).slice(0, 3).map(Number).map((part) => part / 255)
        .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      const luminance = (color) => parts(color).reduce((sum, part, i) => sum + part * [0.2126, 0.7152, 0.0722][i], 0);
      const article = getComputedStyle(document.querySelector('[data-validator]'));
      const weak = getComputedStyle(document.querySelector('[data-validator] .state > span:last-child'));
      const [low, high] = [luminance(article.backgroundColor), luminance(weak.color)].sort((a, b) => a - b);
      return (high + 0.05) / (low + 0.05);
    });
    assert(contrast > 4.5, `in the ${scheme} scheme, text has a contrast of ${contrast}`);
  }

  await press('Blocks');
  await isThere(`document.querySelectorAll('[data-block]').length > 1`);
  await page.focus('[data-block] summary');
  await page.keyboard.press('Enter');
  await isThere(`document.querySelector('[data-block] code')?.textContent.length === 64 && document.querySelector('[data-block][open] tbody tr')`);
  await picture('blocks');
  await page.type('input[name=height]', '2');
  await page.keyboard.press('Enter');
  await isThere(`document.querySelector('[data-block]').dataset.block === '2' && document.querySelector('[data-block="2"][open] tbody tr')`);

  // Another device loads the page anew, where its address says that it was.
  await page.setViewport({ width: 390, height: 800, isMobile: true });
  const isWideEnough = async (view) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert(overflow <= 0, `on a small screen, ${view} is ${overflow} pixels too wide`);
    await picture(`small-${view}`);
  };
  await isThere(`document.querySelectorAll('[data-block]').length > 1`);
  await isWideEnough('blocks');
  await press('Live');
  await isThere(`document.querySelectorAll('[data-validator]').length === ${Number(validators)}`);
  await isThere(`[...document.querySelectorAll('[data-panel]')].some(({ dataset }) => dataset.state === 'shown')`);
  await isWideEnough('live');
  for (const [name, title] of [['Shard', 'Shardyard shard'], ['Node', 'Shardyard node'], ['Network', 'Shardyard network']]) {
    await press(name);
    await isThere(`document.querySelector('section')?.getAttribute('aria-label') === '${title}'`);
    await isThere(`document.querySelector('.dashboards [aria-current]')?.textContent === '${name}'`);
  }
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
