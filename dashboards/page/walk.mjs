// SPDX-License-Identifier: Apache-2.0

// Walks through the page of a network in a headless Chromium, as somebody with a
// keyboard on a wide screen and somebody with a small one does, and fails if
// anything is not there. With a folder, it leaves pictures of what was seen.
//
// usage: node walk.mjs 'ADDRESS OF THE PAGE' VALIDATORS [FOLDER]
import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import puppeteer from 'puppeteer-core';

const [address, validators, folder] = process.argv.slice(2);
if (!validators) {
  console.error("usage: node walk.mjs 'ADDRESS OF THE PAGE' VALIDATORS [FOLDER]");
  process.exit(2);
}

// mostTabs is more often than the Tab key has to be pressed to be through all of a view.
const mostTabs = 300;
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
  // tab goes with the Tab key to something.
  const tab = async (what, isReached, ...args) => {
    for (let tabs = 0; tabs < mostTabs; tabs++) {
      await page.keyboard.press('Tab');
      if (await page.evaluate(isReached, ...args)) {
        return;
      }
    }
    assert.fail(`the Tab key does not lead to ${what}`);
  };
  // press goes to what has a name, or leads to an address, and presses Enter.
  const press = async (name) => {
    await tab(name, (name) => [document.activeElement?.textContent, document.activeElement?.getAttribute('href')].includes(name), name);
    await page.keyboard.press('Enter');
  };
  const isThere = (expression, ...args) => page.waitForFunction(expression, {}, ...args);
  // search goes with a key to where one types what to find.
  const search = async (text) => {
    await page.keyboard.press('/');
    await isThere(`document.activeElement?.name === 'text'`);
    await page.evaluate(() => { document.activeElement.value = ''; });
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
  };
  const isAt = (hash) => isThere((hash) => location.hash === hash, hash);
  // shows waits for what an article says, in the order in which it says it.
  const shows = async (facts) => {
    const shown = () => page.$$eval('[data-fact]', (facts) => facts.map(({ dataset, textContent }) => [dataset.fact, textContent]));
    await isThere((facts) => {
      const shown = [...document.querySelectorAll('[data-fact]')];
      return facts.every(([name, text]) => shown.some(({ dataset, textContent }) => dataset.fact === name && textContent === text));
    }, facts).catch(async (error) => assert.fail(`${error}: waited for ${JSON.stringify(facts)}, and there is ${JSON.stringify(await shown())}`));
  };

  for (const scheme of ['light', 'dark']) {
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
    await page.setViewport({ width: 1280, height: 900 });
    await page.goto(address);
    await isThere(`document.querySelectorAll('[data-validator][data-condition=Live]').length === ${Number(validators)}`);
    await isThere(`document.querySelector('.map small')?.textContent.startsWith('produces ')`);
    await isThere(`/^[1-9][0-9,]* TPS · a block every [0-9]+ ms · block [1-9]/.test(document.querySelector('#headline')?.textContent)`);
    await isThere(`[...document.querySelectorAll('[data-panel]')].some(({ dataset }) => dataset.state === 'shown')`);
    // Nobody has figures before the first spans have come, and as many have as there are validators.
    await isThere(`document.querySelectorAll('[data-standing] td:nth-child(4)').length === ${Number(validators)}`);
    await isThere(`[...document.querySelectorAll('[data-standing] td:nth-child(4)')].every(({ textContent }) => / ms$/.test(textContent))`);
    await isThere(`document.querySelector('.verdict')?.textContent !== ''`);
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

  // A profile of a validator opens beside the page, as a flame graph.
  for (const [kind, extent] of [['CPU', 'of the next block'], ['Allocations', 'of 10 s']]) {
    await page.select('.profile select[name=kind]', kind);
    const before = browser.targets();
    await press(extent);
    const opened = (target) => !before.includes(target) && target.url() === new URL('profile', address).href;
    const graph = await (await browser.waitForTarget(opened, { timeout })).page();
    // A block may be too short for a sample.
    await graph.waitForFunction(`document.querySelector('#stack-chart > *') !== null || /has no samples/.test(document.body?.textContent)`, { timeout });
    if (folder) { await graph.screenshot({ path: `${folder}/profile-${kind}.png` }); }
    await graph.close();
    await page.bringToFront();
  }
  // Whoever stands out says so on the map as well, in the same words.
  const mismatch = () => {
    const said = (element, selector) => element.querySelector(selector)?.textContent.replace('▲ ', '') ?? '';
    return [...document.querySelectorAll('[data-standing]')].find((row) =>
      said(row, 'small') !== said(document.querySelector(`[data-validator="${row.dataset.standing}"]`), '.standsOut'))?.dataset.standing;
  };
  assert.equal(await page.evaluate(mismatch), undefined);
  // The table is sorted by any column, the largest first, and then the smallest.
  // In one step: $$eval finds the cells and reads them in two, and the page may have asked the nodes in between.
  const storing = () => page.evaluate(() => [...document.querySelectorAll('[data-standing] td:nth-child(4)')]
    .map(({ textContent }) => parseFloat(textContent.replace('▲ ', ''))));
  await press('Storing');
  for (const [sort, sign] of [['descending', -1], ['ascending', 1]]) {
    await isThere((sort) => document.querySelector('[aria-sort]')?.getAttribute('aria-sort') === sort, sort);
    const shown = await storing();
    assert.deepEqual(shown, [...shown].sort((a, b) => sign * (a - b)));
    await page.keyboard.press('Enter');
  }
  // Each view says in three sentences how to read it.
  const explained = async () => {
    await press('How to read this');
    await isThere(`document.querySelectorAll('.how[open] li').length === 3`);
    await picture('how');
    await page.keyboard.press('Enter');
    await isThere(`!document.querySelector('.how[open]')`);
  };
  await explained();

  // What took long leads to what its block waited for: the largest of each graph by keyboard, any by mouse.
  const inGraphs = ['Block time', 'Finality lag, 95th percentile', 'Chunk execution time', 'Time to check chunks, 99th percentile'];
  await isThere((titles) => titles.every((title) => document.querySelector(`[data-panel="${title}"] .exemplars a`)), inGraphs);
  await tab('a measurement of a traced block', () => document.activeElement?.matches('.exemplars a'));
  await picture('exemplars');
  const measured = await page.evaluate((titles) => {
    const graph = (title) => [...document.querySelectorAll(`[data-panel="${title}"] .exemplars a`)];
    const newest = graph(titles[0]).at(-1);
    newest.click();
    return {
      hash: newest.hash, says: newest.title,
      stops: titles.map((title) => graph(title).filter(({ tabIndex }) => tabIndex === 0).length),
      places: titles.flatMap(graph).flatMap(({ style }) => [parseFloat(style.left), parseFloat(style.top)]),
    };
  }, inGraphs);
  assert(measured.stops.every((stops) => stops > 0) && measured.places.every(Number.isFinite), JSON.stringify(measured));
  const [, measuredHeight, ofTrace] = /^block ([0-9]+): [0-9.]+ m?s on [^ ]+, p99\ntrace ([0-9a-f]{32})$/.exec(measured.says) ?? [];
  assert(ofTrace, JSON.stringify(measured));
  assert.equal(measured.hash, `#traces/${measuredHeight}`);
  await isAt(measured.hash);
  await isThere((height) => document.querySelector('[data-height]')?.dataset.height === height && document.querySelector('.lanes [data-node]'), measuredHeight);

  // What the explorer shows is what a validator says.
  const { validators: [{ http }] } = await (await fetch(new URL('network', address))).json();
  const ask = async (method, params) => {
    for (const deadline = Date.now() + timeout; ;) {
      const response = await fetch(`http://${http}/rpc`, {
        method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      });
      const { result, error } = await response.json();
      if (result) {
        return result;
      }
      // The page asks whoever is the furthest.
      assert(Date.now() < deadline, `${method} of ${JSON.stringify(params)}: ${error?.message}`);
      await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
  };
  const number = (value) => value.toLocaleString('en');

  await press('Blocks');
  await isThere(`document.querySelectorAll('[data-block]').length > 1`);
  await picture('blocks');
  // Some block of those that are listed has a chunk that is not empty.
  await isThere(`[...document.querySelectorAll('[data-block]')].some(({ textContent }) => /[1-9] transactions? in /.test(textContent))`);
  const full = await page.$$eval('[data-block]', (blocks) => blocks.find(({ textContent }) => /[1-9] transactions? in /.test(textContent)).dataset.block);
  await search(full);
  await isAt(`#block/${full}`);
  const block = await ask('block_get', { height: Number(full) });
  await shows([['Hash', block.hash], ['Parent', block.parent]]);
  const rows = block.chunks.map(({ height, shard }) => `${height}/${shard}`);
  assert.deepEqual(await page.$$eval('[data-chunk]', (chunks) => chunks.map(({ dataset }) => dataset.chunk)), rows);
  await picture('block');

  const { height, shard } = block.chunks.find((chunk) => chunk.height === block.height && chunk.transactions > 0);
  await press(`#chunk/${height}/${shard}`);
  const { header, transactions: [transaction] } = await ask('chunk_get', { height, shard });
  await shows([
    ['Transactions', number(header.transactions)], ['Body hash', header.bodyHash], ['Signature', header.signature],
    ...header.results.flatMap(({ transfers, stateRoot }) => [['Transfers', number(transfers)], ['State root', stateRoot]]),
  ]);
  await picture('chunk');

  await press(`#transaction/${height}/${shard}/0`);
  await shows([
    ['Hash', transaction.hash], ['From', transaction.signer], ['To', transaction.receiver], ['Amount', number(transaction.amount)],
    ['Outcome', `Executed, at height ${number(height)}`],
  ]);
  await press('Verify');
  await isThere(`/^Verified: executed, at height [0-9,]+, by block [0-9,]+ .*, which [1-9] of [1-9] votes made final/.test(document.querySelector('[data-proven]')?.textContent)`);
  await picture('transaction');

  await press(`#account/${transaction.signer}`);
  await shows([['Id', transaction.signer], ['Shard', String(shard)]]);
  // The account goes on paying: what the page shows is what a validator says of the same height.
  const deadline = Date.now() + timeout;
  for (const said = new Map(); ;) {
    const { height, balance, nonce } = await ask('account_get', { id: transaction.signer });
    said.set(`block ${number(height)}`, [number(balance), number(nonce)]);
    const shown = await page.$$eval('[data-fact]', (facts) => Object.fromEntries(facts.map(({ dataset, textContent }) => [dataset.fact, textContent])));
    if (said.has(shown['As of'])) {
      assert.deepEqual([shown.Balance, shown.Nonce], said.get(shown['As of']));
      break;
    }
    assert(Date.now() < deadline, `the page shows the account as of ${shown['As of']}, a validator told of ${[...said.keys()]}`);
  }
  await press('Verify');
  await isThere(`/^Verified: balance [0-9,]+ and nonce [0-9,]+ at height [0-9,]+, by block [0-9,]+ /.test(document.querySelector('[data-proven]')?.textContent)`);
  const proven = await page.$eval('[data-proven]', ({ dataset }) => Number(dataset.proven));
  assert.equal((await ask('block_get', { height: proven })).height, proven);
  await picture('account');

  await search(transaction.hash);
  await isAt(`#transaction/${height}/${shard}/0`);
  assert.deepEqual(errors, []);
  await search('ab');
  await isThere(`document.querySelector('article [role=alert]')?.textContent.startsWith('"ab" is no height')`);
  assert.equal(errors.length, 1, `what makes no sense is asked again: ${errors}`);
  errors.length = 0;
  await search(full);
  await isAt(`#block/${full}`);

  // The newest traced block, then one that stays the same, and what of it is chosen.
  await press('Traces');
  await isThere(`document.querySelectorAll('.lanes .lit').length > 2`);
  await press('Earlier');
  await isThere(`location.hash.startsWith('#traces/')`);
  const traced = await page.evaluate(() => location.hash);
  await isThere((height) => document.querySelector('[data-height]')?.dataset.height === height, traced.split('/')[1]);
  // Nodes send their spans once a second: the last ones of a new block come after the first.
  await isThere((nodes) => document.querySelectorAll('[data-node]').length === nodes, Number(validators));
  // Spans that come late change what it waited for, and the page asks for it every 2 s.
  const phases = () => page.evaluate(() => [...document.querySelectorAll('.traces .path tbody td:nth-child(3)')].map(({ textContent }) => textContent));
  let timeline;
  for (const deadline = Date.now() + timeout; ;) {
    timeline = await (await fetch(new URL(`traces/${traced.split('/')[1]}`, address))).json();
    const told = timeline.path.filter(({ beginMs, endMs }) => endMs - beginMs >= 0.05).map(({ phase }) => phase);
    const shown = await phases();
    if (timeline.path.length > 2 && isDeepStrictEqual(shown, told)) {
      break;
    }
    assert(Date.now() < deadline, `${traced} is ${JSON.stringify(timeline)}, and the page shows ${JSON.stringify(shown)}`);
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  await picture('traces');
  // Whatever is pointed at names its validator, and waits are divided.
  assert.deepEqual(await page.$$eval('.lanes [data-node]', (nodes) => nodes.flatMap(({ dataset, children }) =>
    [...children].flatMap((lane) => [...lane.querySelectorAll('[title]')]).filter(({ title }) => !title.startsWith(`${dataset.node}: `)).map(({ title }) => title))), []);
  const divided = timeline.nodes.flatMap(({ lanes }) => lanes.flatMap(({ spans }) => spans.flatMap(({ waited = [] }) => waited)));
  assert(divided.some(({ kind }) => kind === 'way') && divided.some(({ kind }) => kind === 'work'), JSON.stringify(divided));
  await isThere(`document.querySelector('.lanes [data-kind=way]') && document.querySelector('.lanes [data-kind=work]')`);
  await isThere(`document.querySelectorAll('[data-where]').length > 0`);
  await explained();
  // Under the mouse, the strip of blocks stands still, and then goes on.
  const strip = () => page.$$eval('.times a', (blocks) => blocks.map(({ ariaLabel }) => ariaLabel));
  await page.hover('.times');
  await isThere(`document.querySelector('[data-held]')`);
  const held = await strip();
  const newest = async () => (await (await fetch(new URL('traces/', address))).json()).blocks[0].height;
  for (const before = await newest(), deadline = Date.now() + timeout; await newest() < before + 2;) {
    assert(Date.now() < deadline, 'there are no new blocks');
    await new Promise((resolve) => { setTimeout(resolve, 100); });
  }
  // What is asked next has been answered once the page has asked for the block again.
  await page.waitForResponse((response) => response.url().endsWith('/traces/'));
  await page.waitForResponse((response) => response.url().endsWith('/traces/'));
  assert.deepEqual(await strip(), held);
  await page.mouse.move(0, 0);
  await isThere((first) => document.querySelector('.times a').ariaLabel !== first, held[0]);
  const { node } = timeline.nodes[0];
  await page.select('select[name=node]', node);
  await isThere((node) => [...document.querySelectorAll('[data-node]')].map(({ dataset }) => dataset.node).join() === node, node);
  await page.select('select[name=shard]', 'shard 1');
  await isThere(`[...document.querySelectorAll('[data-node] .lane > span')].every(({ textContent }) => textContent === 'shard 1')`);
  await page.select('select[name=node]', '');
  await page.select('select[name=shard]', '');
  await press('Blocks');

  // Another device loads the page anew, where its address says that it was.
  await page.setViewport({ width: 390, height: 800, isMobile: true });
  const isWideEnough = async (view) => {
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert(overflow <= 0, `on a small screen, ${view} is ${overflow} pixels too wide`);
    await picture(`small-${view}`);
  };
  await isThere(`document.querySelectorAll('[data-block]').length > 1`);
  await isWideEnough('blocks');
  await press('Traces');
  await isThere(`document.querySelectorAll('.lanes .lit').length > 2`);
  await isWideEnough('traces');
  await page.evaluate((hash) => { location.hash = hash; }, `#block/${full}`);
  await shows([['Hash', block.hash]]);
  await isWideEnough('block');
  await press(`#chunk/${height}/${shard}`);
  await isThere(`document.querySelector('[data-transaction]')`);
  await isWideEnough('chunk');
  await press(`#transaction/${height}/${shard}/0`);
  await shows([['Hash', transaction.hash]]);
  await isWideEnough('transaction');
  await press('Live');
  await isThere(`document.querySelectorAll('[data-validator]').length === ${Number(validators)}`);
  await isThere(`[...document.querySelectorAll('[data-panel]')].some(({ dataset }) => dataset.state === 'shown')`);
  await isWideEnough('live');
  for (const [name, title] of [['Shard', 'Shardyard shard'], ['Node', 'Shardyard node'], ['Benchmark', 'Shardyard benchmark'], ['Network', 'Shardyard network']]) {
    await press(name);
    await isThere(`document.querySelector('section[aria-label="${title}"]')`);
    await isThere(`document.querySelector('.dashboards [aria-current]')?.textContent === '${name}'`);
  }
  assert.deepEqual(errors, []);
} finally {
  await browser.close();
}
