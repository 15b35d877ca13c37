// Uses the page in Chromium: node tests/page/run.mjs [NAME...]. Pictures are left in tests/page/pictures. CHROMIUM names another browser.
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { strToU8, zipSync } from 'fflate';
import { chromium } from 'playwright-core';

import { serve } from '../../serve.mjs';
import { FORMULAS, digits, load } from '../nist.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const pictures = join(here, 'pictures');
mkdirSync(pictures, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const program = process.env.CHROMIUM ?? '/usr/bin/chromium';
if (!existsSync(program)) {
  console.log(`left out: the page in a browser, as ${program} is not there`);
  process.exit(0);
}
const server = await serve();
const home = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
const PATIENCE = 60_000;

/** What a page has complained of, and requests to elsewhere. */
const complaints = [];

async function open({ size = { width: 1440, height: 900 }, scheme = 'light', url = home, isMobile = false } = {}) {
  const context = await browser.newContext({ viewport: size, colorScheme: scheme, acceptDownloads: true, permissions: ['clipboard-read', 'clipboard-write'], reducedMotion: 'reduce', ...(isMobile ? { isMobile, hasTouch: true, deviceScaleFactor: 2 } : {}) });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on('console', message => ['error', 'warning'].includes(message.type()) && complaints.push(message.text()));
  page.on('pageerror', error => complaints.push(String(error)));
  context.on('request', request => { if (!request.url().startsWith(home) && !/^(data|blob):/.test(request.url())) complaints.push(`request: ${request.url()}`); });
  await page.goto(url);
  return page;
}

const fits = page => page.evaluate(() => Number(document.body.dataset.fits ?? 0));

/** Does something, and waits for the fit that follows. */
async function fitted(page, act) {
  const before = await fits(page);
  await act();
  await page.waitForFunction(count => Number(document.body.dataset.fits ?? 0) > count && !document.body.classList.contains('busy'), before);
  await page.waitForSelector('.report #picture .panel path');
}

const example = (page, name) => fitted(page, () => page.selectOption('#example', { label: name }));
const text = (page, selector) => page.textContent(selector);

/** The parameters in the table of the result. */
const parameters = page => page.$$eval('.report section', sections => {
  const own = sections.find(one => one.querySelector('h2')?.textContent === 'Parameters');
  return Object.fromEntries([...own.querySelectorAll('table')[0].querySelectorAll('tbody tr')].map(row => [row.children[0].textContent, row.children[1].textContent]));
});

async function violations(page) {
  // The page forbids scripts from elsewhere, but not those of the debugger.
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
  return found.violations.map(({ id, nodes }) => `${id}: ${nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`);
}

async function paste(page, content) {
  await page.focus('#paste');
  await page.evaluate(value => navigator.clipboard.writeText(value), content);
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Control+V');
}

const TSV = 'dose\trate\n0.5\t1.9\n1\t3.1\n2\t4.6\n4\t5.9\n8\t6.9\n16\t7.4\n';

const TESTS = {
  async 'paste, choose, fit, hover'(page) {
    await paste(page, TSV);
    await page.waitForSelector('#preview table');
    assert.match(await text(page, '#preview'), /6 rows, 2 columns/);
    await page.waitForFunction(() => /Choose a model/.test(document.querySelector('#answer').textContent));
    await page.fill('#search', 'michaelis');
    await fitted(page, () => page.click('[data-name="michaelis_menten"]'));
    const found = await parameters(page);
    assert.match(found.vmax, /^8\.2/);
    assert.match(await text(page, '#voice'), /The fit has converged\. vmax 8\.2/);
    const box = await (await page.$('#picture .panel')).boundingBox();
    let isShown = false;
    for (let i = 1; i < 30 && !isShown; i++) for (let j = 1; j < 12 && !isShown; j++) {
      await page.mouse.move(box.x + (i * box.width) / 30, box.y + (j * box.height) / 12);
      isShown = /fitted/.test(await page.$eval('#picture .tip', tip => (tip.hidden ? '' : tip.textContent)));
    }
    assert(isShown, 'no point is described');
    assert.deepEqual(await violations(page), []);
  },

  async 'formulas, right and wrong'(page) {
    await paste(page, TSV);
    await page.waitForSelector('#preview table');
    await page.fill('#formula', 'a*sine(dose)');
    await page.waitForFunction(() => document.querySelector('#formula-problem').textContent);
    assert.match(await text(page, '#formula-problem'), /Character 3: there is no function "sine"/);
    assert.equal(await text(page, '.paint mark'), 's');
    assert.deepEqual(await violations(page), []);
    await fitted(page, () => page.fill('#formula', 'v*dose/(k + dose)'));
    assert.equal(await text(page, '#formula-problem'), '');
    assert.deepEqual(Object.keys(await parameters(page)), ['v', 'k']);
    await fitted(page, () => page.fill('[aria-label="Lower bound of k"]', '2').then(() => page.keyboard.press('Tab')));
    assert.match(await text(page, '.report'), /at its lower bound, 2/);
    await fitted(page, () => page.check('[aria-label="k is fixed"]'));
    assert.match(await text(page, '.report'), /fixed/);
  },

  async 'a fit without a minimum says so'(page) {
    await example(page, 'Not determined by the data');
    assert.match(await text(page, '.report .status'), /with warnings|Nothing can be concluded|not converged/);
    assert.match(await text(page, '.report .status'), /Warning: /);
    assert.deepEqual(await violations(page), []);
  },

  async 'groups with shared parameters'(page) {
    await example(page, 'Plate: dose and response of three compounds');
    assert.match(await text(page, '.report'), /All 3 fits have converged/);
    await fitted(page, () => page.check('[aria-label="All groups share hill"]'));
    assert.match(await text(page, '.report'), /Is a parameter the same in all groups/);
    assert.deepEqual(await violations(page), []);
  },

  async 'columns of responses are fitted as groups, and the wheel zooms'(page) {
    const rows = Array.from({ length: 12 }, (_, i) => { const dose = 0.02 * 3 ** i; return [dose, ...[0.5, 4, 30].map(middle => (5 + 90 / (1 + middle / dose) + Math.cos(7 * i + middle)).toFixed(2))].join('\t'); });
    await paste(page, `dose\tA\tB\tC\n${rows.join('\n')}\n`);
    await page.waitForSelector('#preview table');
    await page.click('text=Fit 3 columns of responses as groups');
    await page.waitForFunction(() => /36 rows, 3 columns/.test(document.querySelector('#preview').textContent));
    await fitted(page, () => page.click('[data-name="logistic4"]'));
    assert.match(await text(page, '.report'), /All 3 fits have converged/);
    assert(await page.isChecked('#log-x'), 'doses have a logarithmic axis');
    await page.$eval('#picture .chart', chart => chart.scrollIntoView({ block: 'center' }));
    const drawn = () => page.$$eval('#picture .panel path', paths => paths.map(path => path.getAttribute('d')).join());
    const [before, box] = [await drawn(), await (await page.$('#picture .panel')).boundingBox()];
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.mouse.wheel(0, -200);
    await page.waitForFunction(old => [...document.querySelectorAll('#picture .panel path')].map(path => path.getAttribute('d')).join() !== old, before);
    assert.deepEqual(await violations(page), []);
  },

  async 'points are left out by a click, and rows by a condition'(page) {
    await example(page, 'Line with outliers');
    const before = await parameters(page);
    await page.$eval('#picture .chart', chart => chart.scrollIntoView({ block: 'center' }));
    await page.focus('#picture .chart');
    for (let i = 0; i < 5; i++) await page.keyboard.press('ArrowRight');
    await fitted(page, () => page.keyboard.press('Enter'));
    assert.match(await text(page, '#preview'), /1 left out/);
    assert.notDeepEqual(await parameters(page), before);
    await fitted(page, () => page.click('text=Take all rows'));
    assert.deepEqual(await parameters(page), before);
    await page.click('#options summary');
    await fitted(page, () => page.fill('#option-where', 'x < 20').then(() => page.keyboard.press('Tab')));
    assert.match(await text(page, '.report'), /observations20/);
    assert.deepEqual(await violations(page), []);
  },

  async 'sliders move the curve'(page) {
    await example(page, 'Enzyme kinetics');
    await page.click('#parameters summary');
    await page.waitForSelector('#parameters .chart path');
    const drawn = () => page.$$eval('#parameters .chart path', paths => paths.map(path => path.getAttribute('d')).join());
    const before = await drawn();
    await page.focus('#parameters input[type=range]');
    await fitted(page, async () => { for (let i = 0; i < 20; i++) await page.keyboard.press('ArrowRight'); });
    assert.notEqual(await drawn(), before);
    assert.match((await parameters(page)).vmax, /^8\./);
    assert.deepEqual(await violations(page), []);
  },

  async 'what is handed on'(page) {
    await example(page, 'Enzyme kinetics');
    const saved = {};
    for (const name of ['Report (HTML)', 'Picture (SVG)', 'Picture (PNG)', 'Parameters (CSV)', 'Residuals (CSV)', 'All (JSON)']) {
      const [download] = await Promise.all([page.waitForEvent('download'), page.click(`button:text-is("${name}")`)]);
      saved[name] = readFileSync(await download.path());
    }
    assert.match(String(saved['Parameters (CSV)']), /^parameter,value,standard_error,low,high,state\nvmax,8\./);
    assert.match(String(saved['Residuals (CSV)']), /^line,conc \(mmol\/l\),rate \(umol\/min\),fitted,residual\n/);
    assert.match(String(saved['Picture (SVG)']), /^<svg/);
    assert.equal(saved['Picture (PNG)'].subarray(1, 4).toString(), 'PNG');
    assert(JSON.parse(saved['All (JSON)']).fit);
    const file = join(pictures, 'report.html');
    writeFileSync(file, saved['Report (HTML)']);
    const report = await browser.newPage();
    report.on('pageerror', error => complaints.push(`report: ${error}`));
    await report.goto(`file://${file}`);
    await report.waitForSelector('#picture .panel path');
    assert.match(await report.textContent('body'), /marquardt fit enzyme\.csv .*--model michaelis_menten/);
    await report.close();
    for (const [style, expected] of [['excel', /^=8\./], ['latex', /\\frac/], ['python', /^y = 8\./], ['r', /^y <- 8\./]]) {
      await page.selectOption('#style', style);
      assert.match(await text(page, '#numbers'), expected);
    }
    await page.click('#link');
    await page.waitForFunction(() => location.hash.length > 40);
    const link = await page.evaluate(() => navigator.clipboard.readText());
    const before = await parameters(page);
    const other = await open({ url: link });
    await other.waitForSelector('.report #picture .panel path');
    assert.deepEqual(await parameters(other), before);
    await other.context().close();
  },

  async 'spreadsheets, JSON and decimal commas'(page) {
    const sheet = zipSync({
      'xl/workbook.xml': strToU8('<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="run" sheetId="1" r:id="rId1"/></sheets></workbook>'),
      'xl/_rels/workbook.xml.rels': strToU8('<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>'),
      'xl/sharedStrings.xml': strToU8('<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><si><t>time</t></si><si><t>height</t></si></sst>'),
      'xl/worksheets/sheet1.xml': strToU8(`<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>${[1, 2, 3, 4, 5].map(i => `<row r="${i + 1}"><c r="A${i + 1}"><v>${i}</v></c><c r="B${i + 1}"><v>${2 * i + 1 + 0.01 * (i % 2)}</v></c></row>`).join('')}</sheetData></worksheet>`),
    });
    await page.setInputFiles('#file', { name: 'book.xlsx', mimeType: 'application/octet-stream', buffer: Buffer.from(sheet) });
    await page.waitForSelector('#preview table');
    assert.match(await text(page, '#preview'), /book\.csv: 5 rows, 2 columns/);
    await fitted(page, () => page.click('[data-name="linear"]'));
    assert.match((await parameters(page)).slope, /^(1\.99|2\.0)/);
    await paste(page, '[{"x": 1, "y": 2.1}, {"x": 2, "y": 3.9}, {"x": 3, "y": 6.1}, {"x": 4, "y": 8}]');
    await page.waitForFunction(() => /4 rows/.test(document.querySelector('#preview').textContent));
    await paste(page, 'x;y\n0,5;1,1\n1,5;3,0\n2,5;5,2\n3,5;7,1\n');
    await page.waitForFunction(() => /4 rows/.test(document.querySelector('#preview').textContent) && /decimal/.test(document.querySelector('main').textContent));
    await page.click('#data summary');
    await page.check('#read-decimal-comma');
    await page.waitForFunction(() => document.querySelector('#preview .number'));
    await fitted(page, () => page.click('[data-name="linear"]'));
    assert.match((await parameters(page)).slope, /^2\.0/);
    assert.deepEqual(await violations(page), []);
  },

  async 'bad data get a message'(page) {
    await paste(page, 'x,y\n1,2\n2,\n3,5\n4,6.9\n');
    await page.waitForSelector('#preview table');
    await page.click('[data-name="linear"]');
    await page.waitForSelector('#failure');
    assert.match(await text(page, '#failure'), /line 3, column "y": "" is a missing value/);
    assert.deepEqual(await violations(page), []);
    await fitted(page, () => page.click('text=Leave out such rows').then(() => page.waitForSelector('#preview table')).then(() => page.click('[data-name="linear"]')));
    assert.match(await text(page, '.report'), /rows left out1/);
  },

  async 'models are compared'(page) {
    await example(page, 'Enzyme kinetics');
    await page.click('text=Compare all models');
    await page.waitForSelector('[aria-label="Comparison of models"] tbody tr');
    assert.match(await text(page, '[aria-label="Comparison of models"]'), /michaelis menten|hill/);
    assert.deepEqual(await violations(page), []);
  },

  async 'the keyboard alone'(page) {
    await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.className), 'skip');
    for (let i = 0; i < 12 && (await page.evaluate(() => document.activeElement.id)) !== 'example'; i++) await page.keyboard.press('Tab');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'example');
    await fitted(page, () => page.keyboard.press('ArrowDown'));
    await page.focus('.model[tabindex="0"]');
    await page.keyboard.press('ArrowRight');
    const name = await page.evaluate(() => document.activeElement.dataset.name);
    await fitted(page, () => page.keyboard.press('Enter'));
    assert.equal(await page.getAttribute(`[data-name="${name}"]`, 'aria-checked'), 'true');
  },

  async 'no network'(page) {
    await page.evaluate(() => navigator.serviceWorker.ready);
    await page.waitForFunction(async () => (await caches.keys()).length > 0 && (await (await caches.open((await caches.keys())[0])).keys()).length > 5);
    await page.context().setOffline(true);
    await page.reload();
    await example(page, 'Decay of counts');
    assert.match(await text(page, '.report'), /half_life/);
    await page.context().setOffline(false);
  },

  async 'all 54 runs of NIST'(page) {
    const sets = Object.keys(FORMULAS).map(load);
    const found = await page.evaluate(async runs => {
      const thread = new Worker('thread.js', { type: 'module' });
      const call = (name, args) => new Promise((resolve, reject) => { thread.onmessage = ({ data }) => (data.error ? reject(new Error(data.error.message)) : resolve(data.value)); thread.postMessage({ id: 1, name, args }); });
      const values = [];
      for (const { text: table, options } of runs) {
        const { json } = await call('fitTable', [table, options]);
        values.push([json.is_converged, Object.fromEntries(json.parameters.map(one => [one.name, one.value]))]);
      }
      thread.terminate();
      return values;
    }, sets.flatMap(({ x, y, formula, starts }) => starts.map(start => ({
      text: `${Array.isArray(x[0]) ? 'x1,x2,y' : 'x,y'}\n${y.map((value, i) => [x[i], value].flat().join(',')).join('\n')}\n`,
      options: { formula, y: ['y'], start: Object.entries(start).map(([name, value]) => `${name}=${value}`) },
    }))));
    const solved = found.filter(([isConverged, values], i) => isConverged && digits(sets[i >> 1].certified.map((_, k) => values[`b${k + 1}`]), sets[i >> 1].certified) > 6).length;
    console.log(`  nist on the page: solved ${solved}/${found.length}`);
    assert.equal(solved, 54);
  },

  async 'pictures in both sizes and schemes'() {
    for (const [name, size, isMobile] of [['1440', { width: 1440, height: 900 }, false], ['390', { width: 390, height: 844 }, true]]) for (const scheme of ['light', 'dark']) {
      const page = await open({ size, scheme, isMobile });
      await example(page, 'Plate: dose and response of three compounds');
      await page.screenshot({ path: join(pictures, `${name}-${scheme}.png`), fullPage: true });
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert(width <= size.width, `the page is ${width} wide at ${size.width}`);
      assert.deepEqual(await violations(page), []);
      await page.context().close();
    }
  },
};

let failed = 0;
const asked = process.argv.slice(2);
for (const [name, run] of Object.entries(TESTS).filter(([name]) => !asked.length || asked.some(word => name.includes(word)))) {
  const begun = Date.now();
  const page = await open();
  complaints.length = 0;
  try {
    await run(page);
    assert.deepEqual(complaints, [], 'the browser complained');
    console.log(`ok ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    failed += 1;
    console.log(`not ok ${name}\n${error.stack}`);
    await page.screenshot({ path: join(pictures, `failed-${failed}.png`) }).catch(() => {});
  }
  await page.context().close();
}
await browser.close();
server.close();
process.exit(failed ? 1 : 0);
