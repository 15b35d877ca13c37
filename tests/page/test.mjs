// Opens pages of `marquardt fit --report` and `marquardt many --report` in Chromium: node test.mjs PROGRAM FOLDER [CHROMIUM].
// Needs puppeteer-core and axe-core in FOLDER/node_modules; pages and pictures of them are left in FOLDER.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import { FITS, prepare } from './data.mjs';

const [program, folder] = process.argv.slice(2, 4).map(path => resolve(path));
const chromium = process.argv[4] ?? '/usr/bin/chromium';
const need = createRequire(join(folder, 'package.json'));
const puppeteer = need('puppeteer-core');
const axe = readFileSync(need.resolve('axe-core/axe.min.js'), 'utf8');

const LIMITS = { small: 300_000, thousand: 300_000, million: 2_000_000, crowd: 2_000_000, image: 2_000_000, large: 2_000_000 };
const SIZES = { desktop: { width: 1440, height: 900 }, telephone: { width: 390, height: 800, deviceScaleFactor: 2, isMobile: true, hasTouch: true } };

const browser = await puppeteer.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });

/** Opens a page, and returns it with what it complained of. */
async function open(name, size, scheme) {
  const page = await browser.newPage();
  const complaints = [];
  page.on('console', message => ['error', 'warn'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  page.on('request', request => request.url().startsWith('http') && complaints.push(`request: ${request.url()}`));
  page.on('dialog', dialog => { complaints.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.setViewport(SIZES[size]);
  await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: scheme }]);
  const begun = Date.now();
  await page.goto(pathToFileURL(join(folder, `${name}.html`)).href, { waitUntil: 'load' });
  await page.waitForSelector('#picture .chart path');
  return { page, complaints, milliseconds: Date.now() - begun };
}

/** Violations of accessibility, each with the elements. */
async function violations(page) {
  // The page forbids scripts from elsewhere, but not those of the debugger.
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`);
}

const numbers = page => page.$eval('#picture .chart', chart => [...chart.querySelectorAll('text')].map(text => text.textContent).join(' '));

/** Hovers, zooms, and presses the entries of the legend. */
async function use(page, name, described = /fitted/) {
  await page.$eval('#picture', picture => picture.scrollIntoView());
  const box = await (await page.$('#picture .panel')).boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
  let isShown = false;
  for (let i = 1; i < 20 && !isShown; i++) {
    for (let j = 1; j < 20 && !isShown; j++) {
      await page.mouse.move(box.x + (i * box.width) / 20, box.y + (j * box.height) / 20);
      isShown = described.test(await page.$eval('#picture .tip', tip => (tip.hidden ? '' : tip.textContent)));
    }
  }
  assert(isShown, `${name}: no point is described`);
  const before = await numbers(page);
  await page.mouse.move(x, y);
  for (let i = 0; i < 4; i++) await page.mouse.wheel({ deltaY: -300 });
  await new Promise(done => setTimeout(done, 200));
  const zoomed = await numbers(page);
  assert.notEqual(zoomed, before, `${name}: the wheel changes nothing`);
  await page.click('#reset');
  assert.equal(await numbers(page), before, `${name}: the reset does not bring the axes back`);
  await page.mouse.move(x - 80, y - 60);
  await page.mouse.down();
  await page.mouse.move(x + 80, y + 60, { steps: 4 });
  await page.mouse.up();
  assert.notEqual(await numbers(page), before, `${name}: dragging changes nothing`);
  await page.focus('#picture .chart');
  await page.keyboard.press('0');
  assert.equal(await numbers(page), before, `${name}: the key 0 does not bring the axes back`);
  await page.keyboard.press('ArrowRight');
  assert.match(await page.$eval('#picture .chart [aria-live]', voice => voice.textContent), described, `${name}: keys read no point`);
}

/** Presses the entries of the legend. */
async function useLegend(page, name) {
  const drawn = () => page.$$eval('#picture .panel path', paths => paths.length);
  await page.focus('.legend button');
  const all = await drawn();
  await page.keyboard.press('Space');
  assert((await drawn()) < all, `${name}: the legend hides nothing`);
  await page.keyboard.press('Space');
  assert.equal(await drawn(), all, `${name}: the legend shows nothing again`);
}

const texts = (page, selector) => page.$eval(selector, one => one.textContent);

/** Presses the button with a text. */
async function press(page, text) {
  const pressed = await page.evaluate(wanted => {
    const found = [...document.querySelectorAll('button')].find(button => button.textContent === wanted);
    if (found) found.click();
    return Boolean(found);
  }, text);
  assert(pressed, `there is no button ${text}`);
  await new Promise(done => setTimeout(done, 100));
}

/** What single pages have besides. */
const FURTHER = {
  async errors(page) {
    await press(page, 'log x');
    assert.match(await texts(page, '.lost'), /^2 points are not drawn/);
    await press(page, 'log x');
    assert.equal(await texts(page, '.lost'), '');
    assert.match(await texts(page, '.legend'), /error bars/);
  },
  async robust(page) {
    assert.match(await texts(page, '.legend'), /weight below 50 %/);
    const spoken = new Set();
    await page.focus('#picture .chart');
    for (let i = 0; i < 40; i++) {
      await page.keyboard.press('ArrowRight');
      spoken.add((await texts(page, '#picture .chart [aria-live]')).match(/weight in the fit ([^%]*) %/)?.[1]);
    }
    assert(spoken.has('0') && spoken.size > 20, 'weights are not described');
  },
  async several(page) {
    assert.equal(await page.$$eval('.disks i', disks => disks.length), 60);
    await page.focus('.map');
    await page.keyboard.press('ArrowRight');
    assert.match(await texts(page, '.map [aria-live]'), /^u, v −?[\d.]+, [\d.]+, fitted z /);
  },
  async failed(page) {
    assert.match(await texts(page, '.summary'), /^✗ 2 further fits could not be made\. All 3 fits have converged/);
    assert.match(await texts(page, 'main'), /group "<b>1" of "g"/);
  },
  async outliers(page) {
    assert.match(await texts(page, '.legend'), /outliers, left out/);
  },
  async complex(page) {
    for (const [text, chart] of [['Nyquist', /Nyquist plot/], ['Bode', /Bode plot: modulus/]]) {
      await press(page, text);
      assert.match(await page.$eval('#picture .chart', one => one.getAttribute('aria-label')), chart);
      await use(page, text, /modulus/);
      assert.deepEqual(await violations(page), [], text);
      await page.screenshot({ path: join(folder, `${text}.png`), fullPage: true });
    }
    await press(page, 'Real and imaginary parts');
  },
  async settings(page) {
    const all = await texts(page, 'main');
    assert.match(all, /marquardt fit --bounds=k=0.. '--formula=a/);
    const rows = await page.$$eval('[aria-label="Options in force"] tbody tr', rows => rows.map(row => row.textContent));
    assert(rows.includes('max-iterations80study.toml') && rows.includes('yythe command line'), rows.join());
  },
  async crowd(page) {
    assert.match(await texts(page, 'main'), /Of 400 fits, 1\d\d are drawn/);
    assert.equal(await page.$$eval('tbody tr', rows => rows.length), 400);
    await page.evaluate(() => [...document.querySelectorAll('.link')].find(link => link.textContent === 'w1').click());
    assert.match(await texts(page, '#picture'), /not drawn/);
  },
  async plate(page) {
    await useTable(page);
    await page.click('.multiples button:nth-child(5)');
    assert.match(await texts(page, '#picture h2'), /[A-H]\d/);
  },
  async image(page) {
    await page.focus('.map');
    for (const key of ['ArrowRight', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    assert.match(await texts(page, '.map [aria-live]'), /row, column 1, 1, amplitude/);
    const shown = () => page.$eval('.map canvas', canvas => canvas.toDataURL());
    const before = await shown();
    await press(page, 'decay');
    assert.notEqual(await shown(), before, 'the map does not change');
    assert.match(await texts(page, '.color-bar'), /decay/);
    assert.match(await texts(page, 'main'), /Failed fits/);
    const box = await (await page.$('.map canvas')).boundingBox();
    assert(Math.abs(box.width / box.height - 80 / 60) < 0.02, `${box.width} × ${box.height}`);
    await page.mouse.move(box.x + box.width * 0.51, box.y + box.height * 0.51);
    assert.match(await texts(page, '.map .tip'), /no fit/);
  },
};

/** Sorts the column of a table by its heading. */
async function useTable(page) {
  const column = () => page.$$eval('tbody tr', rows => rows.slice(0, 8).map(row => row.children[1].textContent));
  await page.$$eval('.sort', heads => heads[1].click());
  const value = text => Number(text.replace('−', '-').split(' ')[0]);
  const found = (await column()).map(value);
  assert.deepEqual(found, [...found].sort((a, b) => a - b), 'the column is not sorted');
}

/** Sorts the table of groups, and selects one. */
async function useGroups(page) {
  const column = () => page.$$eval('tbody tr', rows => rows.slice(0, 8).map(row => row.children[3].textContent));
  const before = await column();
  await page.$$eval('.sort', heads => heads[3].focus());
  await page.keyboard.press('Enter');
  const ascending = await column();
  const value = text => Number(text.replace('−', '-').split(' ')[0]);
  assert.deepEqual(ascending.map(value), before.map(value).sort((a, b) => a - b), 'the column is not sorted');
  await page.$$eval('.sort', heads => heads[3].click());
  assert.deepEqual(await column(), ascending.reverse(), 'the column is not sorted the other way round');
  await page.click('.multiples button:nth-child(2)');
  assert.match(await page.$eval('#picture', one => one.textContent), /converged/);
}

try {
  const only = process.env.PAGES?.split(',');
  for (const name of Object.keys(FITS).filter(name => !only || only.includes(name))) {
    const { status, stderr } = spawnSync(program, prepare(folder, name), { cwd: folder, encoding: 'utf8' });
    assert(status === FITS[name].code || (status !== null && status !== 2 && status < 100), `${name}: ${stderr}`);
    const { size } = statSync(join(folder, `${name}.html`));
    assert(size <= (LIMITS[name] ?? 500_000), `${name}: ${size} bytes`);
    for (const [kind, scheme] of [['desktop', 'light'], ['desktop', 'dark'], ['telephone', 'light'], ['telephone', 'dark']]) {
      const { page, complaints, milliseconds } = await open(name, kind, scheme);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert(wide <= 0, `${name}, ${kind}: ${wide} pixels too wide`);
      await page.screenshot({ path: join(folder, `${name}-${kind}-${scheme}.png`), fullPage: true });
      assert.deepEqual(await violations(page), [], `${name}, ${kind}, ${scheme}`);
      if (kind === 'desktop' && scheme === 'light') {
        console.log(`${name}: ${size} bytes, opened in ${milliseconds} ms`);
        const isMany = FITS[name].command === 'many';
        await use(page, name, isMany ? /y/ : name === 'outliers' ? /fitted|outlier/ : /fitted/);
        if (!isMany) await useLegend(page, name);
        await FURTHER[name]?.(page);
        if (name === 'groups') {
          await useGroups(page);
          await page.screenshot({ path: join(folder, 'group.png'), fullPage: true });
          assert.deepEqual(await violations(page), [], 'a group');
        }
        await page.emulateMediaType('print');
        await page.pdf({ path: join(folder, `${name}.pdf`), format: 'A4' });
      }
      assert.deepEqual(complaints, [], `${name}, ${kind}, ${scheme}`);
      await page.close();
    }
  }
  console.log('all pages work');
} finally {
  await browser.close();
}
