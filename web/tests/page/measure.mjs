// Times of the page in Chromium: node tests/page/measure.mjs.
import { chromium } from 'playwright-core';

import { toFragment } from '../../page/link.js';
import { EXAMPLES } from '../../page/examples.js';
import { serve } from '../../serve.mjs';

const server = await serve();
const home = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
const example = EXAMPLES[0];
const fragment = await toFragment({ source: { name: example.file, text: example.text() }, model: example.model, formula: '', options: {}, log: [false, false], excluded: [] });
const isDrawn = () => document.querySelector('.report #picture .panel path') != null;

for (let run = 0; run < 3; run++) {
  const context = await browser.newContext();
  for (const kind of ['cold', 'warm']) {
    const page = await context.newPage();
    const begun = performance.now();
    await page.goto(`${home}#${fragment}`, { waitUntil: 'commit' });
    await page.waitForFunction(isDrawn);
    console.log(`${kind} load to first fit ms=${(performance.now() - begun).toFixed(0)}`);
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForTimeout(500);
    await page.close();
  }
  await context.close();
}

const page = await browser.newPage();
await page.goto(home);
await page.waitForSelector('.model');
let state = 1;
const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
const rows = Array.from({ length: 100_000 }, (_, i) => `${(2e-4 * i).toFixed(4)}\t${(9 * Math.exp(-0.3 * 2e-4 * i) + 1 + 0.5 * (uniform() - 0.5)).toFixed(5)}`);
const time = await page.evaluate(async text => {
  const begun = performance.now();
  const data = new DataTransfer();
  data.setData('text/plain', text);
  const field = document.querySelector('#paste');
  field.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, cancelable: true }));
  while (!document.querySelector('#preview table')) await new Promise(done => setTimeout(done, 5));
  const read = performance.now();
  document.querySelector('[data-name="exponential_decay_offset"]').click();
  while (!document.querySelector('.report #picture .panel path')) await new Promise(done => setTimeout(done, 5));
  return [read - begun, performance.now() - begun];
}, `t\ty\n${rows.join('\n')}\n`);
console.log(`100000 rows: read ms=${time[0].toFixed(0)}, pasted to picture with fit ms=${time[1].toFixed(0)}`);
const frames = await page.evaluate(async () => {
  const chart = document.querySelector('#picture .chart');
  const box = chart.getBoundingClientRect();
  const begun = performance.now();
  let count = 0;
  while (performance.now() - begun < 2000) {
    chart.dispatchEvent(new WheelEvent('wheel', { deltaY: count % 2 ? 60 : -60, clientX: box.left + 300, clientY: box.top + 100, bubbles: true, cancelable: true }));
    await new Promise(requestAnimationFrame);
    count += 1;
  }
  return count / 2;
});
console.log(`100000 rows: zooming, frames a second=${frames.toFixed(0)}`);
await browser.close();
server.close();
