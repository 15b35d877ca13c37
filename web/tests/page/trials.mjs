// Three tasks as a new user does them, by mouse and keyboard, with times: node tests/page/trials.mjs. Pictures are left beside those of the tests.
//
// Each step waits as a person does: a look at what has come, and a press of a key for each character. What the page needs is told apart.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { chromium } from 'playwright-core';

import { serve } from '../../serve.mjs';

const pictures = fileURLToPath(new URL('pictures', import.meta.url));
mkdirSync(pictures, { recursive: true });
const server = await serve();
const home = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });

/** Times of a person in milliseconds: a look at what has changed, the way to a control, a key. */
const [LOOK, WAY, KEY] = [3000, 1200, 200];

function normal(seed) {
  let state = seed;
  const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

async function trial(name, data, act) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'] });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  page.on('pageerror', error => { throw error; });
  let [actions, person] = [0, 0];
  const begun = performance.now();
  const step = async (time, of) => { actions += 1; person += time; await of(); };
  const user = {
    page,
    click: selector => step(LOOK + WAY, () => page.click(selector)),
    choose: (selector, value) => step(LOOK + WAY, () => page.selectOption(selector, value)),
    type: (selector, text) => step(LOOK + WAY + KEY * text.length, async () => { await page.fill(selector, ''); await page.type(selector, text); }),
    press: key => step(KEY, () => page.keyboard.press(key)),
    paste: text => step(LOOK + WAY, async () => { await page.evaluate(pasted => navigator.clipboard.writeText(pasted), text); await page.click('#paste'); await page.keyboard.press('Control+V'); await page.waitForSelector('#preview table'); }),
    fitted: async act => { const before = await page.evaluate(() => Number(document.body.dataset.fits ?? 0)); await act(); await page.waitForFunction(count => Number(document.body.dataset.fits ?? 0) > count && !document.body.classList.contains('busy'), before); },
    save: async selector => { const coming = page.waitForEvent('download'); await step(LOOK + WAY, () => page.click(selector)); return coming; },
  };
  await page.goto(home);
  await page.waitForSelector('.model');
  const result = await act(user, data);
  await page.screenshot({ path: join(pictures, `trial-${name}.png`), fullPage: true });
  const machine = performance.now() - begun;
  console.log(`${name}: ${actions} actions, ${((person + machine) / 1000).toFixed(0)} s with a person's looks and keys, of which the page ${(machine / 1000).toFixed(1)} s; ${result}`);
  await context.close();
}

const parameters = page => page.$$eval('.report section', sections => {
  const own = sections.find(one => one.querySelector('h2')?.textContent === 'Parameters');
  return [...own.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map(row => [...row.children].slice(0, 4).map(cell => cell.textContent).join(' ')).join('; ');
});

const of = (seed, count, row) => { const noise = normal(seed); return Array.from({ length: count }, (_, i) => row(i, noise).join('\t')).join('\n'); };

await trial('biologist', `dose (nM)\tA\tB\tC\n${of(5, 10, (i, noise) => { const dose = 0.03 * 3 ** i; return [dose.toPrecision(3), ...[0.4, 3, 20].map(middle => (6 + 90 / (1 + (middle / dose) ** 1.2) + 2 * noise()).toFixed(2))]; })}`, async (user, data) => {
  await user.paste(data);
  await user.click('text=Fit 3 columns of responses as groups');
  await user.type('#search', 'IC50');
  await user.fitted(() => user.click('[data-name="logistic4"]'));
  await user.fitted(() => user.click('[aria-label="All groups share top"]'));
  await user.save('text=Report (HTML)');
  return parameters(user.page);
});

await trial('physicist', `channel\tcounts\n${of(9, 180, (i, noise) => { const mean = 20 + 300 * Math.exp(-(((i - 60) / 9) ** 2) / 2) + 180 * Math.exp(-(((i - 105) / 12) ** 2) / 2); return [i, Math.max(0, Math.round(mean + Math.sqrt(mean) * noise()))]; })}`, async (user, data) => {
  await user.paste(data);
  await user.type('#search', 'peak spectrum');
  await user.fitted(() => user.click('[data-name="gaussian"]'));
  await user.fitted(() => user.choose('#term', 'gaussian'));
  await user.fitted(() => user.choose('#term', 'constant'));
  await user.click('text=Noise, outliers, intervals');
  await user.fitted(() => user.click('#option-counts'));
  await user.save('text=Report (HTML)');
  return parameters(user.page);
});

await trial('chemist', `t / min\tc / mM\n${of(3, 24, (i, noise) => [i * 2.5, (5.2 * Math.exp(-0.06 * i * 2.5) + 0.4 + 0.05 * noise()).toFixed(3)])}`, async (user, data) => {
  await user.paste(data);
  await user.type('#search', 'half-life');
  await user.fitted(() => user.click('[data-name="exponential_decay_offset"]'));
  await user.click('text=Noise, outliers, intervals');
  await user.fitted(() => user.click('#option-derive-all'));
  await user.save('text=Report (HTML)');
  return parameters(user.page);
});

await browser.close();
server.close();
