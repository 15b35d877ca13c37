import assert from 'node:assert/strict';
import { test } from 'node:test';

import { EngineError, FitError, FormulaError, compare, evaluate, fit, fitMany, fitTable, models, parseFormula, parseTable } from '../package/index.js';
import { add, div, exp, mul, neg } from '../package/functions.js';
import { createWorker } from '../package/worker.js';

const x = [0.5, 1, 2, 4, 8, 16];
const y = [1.9, 3.1, 4.6, 5.9, 6.9, 7.4];
const near = (value, expected, share = 1e-9) => assert(Math.abs(value - expected) <= share * Math.abs(expected), `${value} is not ${expected}`);

test('a model, a formula and functions give the same fit', async () => {
  const named = await fit({ x, y, model: 'michaelis_menten' });
  assert(named.converged && !named.unusable);
  assert.deepEqual(named.names, ['vmax', 'km']);
  const [vmax, km] = named.values;
  const ways = {
    formula: { formula: 'v*x/(k+x)' },
    source: { function: (at, v, k) => v * at / (k + at), start: [5, 1] },
    recorded: { function: (at, v, k) => div(mul(v, at), add(k, at)), start: { v: 5, k: 1 } },
    differences: { function: (at, v, k) => { let total = 0; for (let i = 0; i < 1; i++) total += (v * at) / (k + at); return total; }, start: { v: 5, k: 1 } },
  };
  for (const [how, way] of Object.entries(ways)) {
    const found = await fit({ x, y, ...way });
    assert.equal(found.how, how);
    near(found.value('v'), vmax, 1e-8);
    near(found.value('k'), km, 1e-8);
    near(found.standardErrors[0], named.standardErrors[0], 1e-5);
  }
});

test('functions that only look like formulas are called', async () => {
  const factor = 3;
  const closed = await fit({ x: [1, 2, 3], y: [3, 6, 9.1], function: (at, a) => factor * a * at, start: [1] });
  assert.equal(closed.how, 'differences');
  near(closed.value('a'), 1.0071428571, 1e-6);
  // The names of its arguments say nothing of what it does with them.
  const swapped = await fit({ x: [1, 2, 3, 4], y: [3, 5, 7, 9], function: (p, q, r) => q * p + r, parameters: ['slope', 'offset'] });
  assert.equal(swapped.how, 'source');
  near(swapped.value('slope'), 2);
  near(swapped.value('offset'), 1);
  const boolean = await fit({ x: [0, 1, 2, 3], y: [1, 1, 4, 4.2], function: (at, a, b) => (at > 1.5 ? a : b), start: [1, 1] });
  assert.equal(boolean.how, 'differences');
});

test('statistics of a fit', async () => {
  const found = await fit({ x, y, model: 'michaelis_menten', derive: { half: 'vmax/2' } });
  const [low, high] = found.interval('km');
  assert(low < found.value('km') && found.value('km') < high);
  const band = found.confidenceBand([1, 2]);
  const wide = found.predictionBand([1, 2]);
  assert(band.low[0] < band.value[0] && wide.low[0] < band.low[0] && wide.high[1] > band.high[1]);
  near(found.predict(3)[0], (found.values[0] * 3) / (found.values[1] + 3));
  near(found.covariance[0][0], found.standardErrors[0] ** 2);
  near(found.correlation[0][1], found.correlation[1][0]);
  assert.equal(found.residuals.length, 6);
  near(found.residuals.reduce((sum, r) => sum + r * r, 0), found.chiSquare, 1e-8);
  const profile = found.profile('km', { points: 5 });
  assert(profile.low < found.value('km') && profile.high > found.value('km') && profile.values.length > 5);
  near(found.derive('vmax/2').value, found.values[0] / 2);
  near(found.derived[0].value, found.values[0] / 2);
  near(found.xFor(found.predict(3)[0])[0].x, 3, 1e-6);
  const { parameters, failed } = found.bootstrap(100, { seed: 1 });
  assert(parameters[0].standardError > 0 && failed < 10);
  assert.deepEqual(found.bootstrap(100, { seed: 1 }).parameters, parameters);
  assert(found.rSquared > 0.99 && found.criteria.aicc > found.criteria.aic);
  assert.match(String(found), /vmax/);
  assert(JSON.parse(JSON.stringify(found)).parameters);
  found.free();
  assert.throws(() => found.predict(1), FitError);
});

test('options of parameters, noise and loss', async () => {
  const line = { x: [0, 1, 2, 3, 4, 5], y: [1, 3.1, 4.9, 7.2, 30, 11] };
  const robust = await fit({ ...line, model: 'linear', loss: 'tukey' });
  assert(Math.abs(robust.value('slope') - 2) < 0.1);
  const fixed = await fit({ ...line, formula: 'a*x+b', fixed: { b: 1 } });
  assert.equal(fixed.parameters.b.state, 'fixed');
  assert.equal(fixed.value('b'), 1);
  const bounded = await fit({ ...line, formula: 'a*x+b', bounds: { a: [null, 1.5] } });
  assert.equal(bounded.parameters.a.state, 'at upper bound');
  const tied = await fit({ ...line, formula: 'a*x+b', tie: { b: 'a/2' } });
  near(tied.value('b'), tied.value('a') / 2);
  const known = await fit({ ...line, formula: 'a*x+b', sigma: 0.1, absoluteSigma: true });
  near(known.standardErrors[0], 0.1 / Math.sqrt(17.5), 1e-6);
  const several = await fit({ x: [[0, 1], [1, 0], [1, 1], [2, 1], [1, 3]], y: [5, 3, 6, 7, 12], formula: 'a*x1 + b*x2 + c' });
  near(several.predict([[2, 2]])[0], several.value('a') * 2 + several.value('b') * 2 + several.value('c'));
});

test('many fits, those that failed, and starts by name', async () => {
  const at = Float64Array.from({ length: 20 }, (_, i) => 0.5 * i);
  const fits = 50;
  const rows = Float64Array.from({ length: fits * 20 }, (_, i) => (1 + Math.floor(i / 20)) * Math.exp(-0.3 * at[i % 20]));
  for (const start of [{ a: 5, k: 0.5 }, null]) {
    const found = await fitMany({ x: at, y: rows, fits, formula: 'a*exp(-k*x)', start });
    assert.equal(found.convergedCount, fits);
    near(found.parametersOf(7)[0], 8);
    near(found.parametersOf(49)[1], 0.3);
  }
  const named = await fitMany({ x: at, y: [Array.from(rows.subarray(0, 20)), Array.from(rows.subarray(20, 40))], model: 'exponential_decay' });
  near(named.parametersOf(1)[0], 2);
});

test('models are compared', async () => {
  const ranked = await compare({ x: [0, 1, 2, 3, 4, 5, 6], y: [1.02, 2.98, 5.01, 7.03, 8.97, 11.02, 12.99], models: ['quadratic', 'linear', { formula: 'a*exp(k*x)', name: 'grows' }] });
  assert.equal(ranked[0].name, 'linear');
  assert.equal(ranked[0].difference, 0);
  near(ranked.filter(row => row.weight != null).reduce((sum, row) => sum + row.weight, 0), 1);
});

test('tables are read and fitted as by the command', async () => {
  const text = '# a comment\ndose;rate;plate\n0,5;1,9;A\n1;3,1;A\n2;4,6;A\n4;5,9;B\n8;6,9;B\n16;7,4;B\n';
  const table = await parseTable(text, { decimalComma: true });
  assert.deepEqual(table.columns.map(column => [column.name, column.numbers?.length ?? null]), [['dose', 6], ['rate', 6], ['plate', null]]);
  assert.equal(table.columns[0].numbers[0], 0.5);
  assert.deepEqual([...table.lines].slice(0, 2), [3, 4]);
  const found = await fitTable(text, { decimalComma: true, model: 'michaelis_menten', profile: true, residuals: true, name: 'plate.csv' });
  assert.equal(found.ending, 'solved');
  near(found.json.parameters[0].value, (await fit({ x, y, model: 'michaelis_menten' })).values[0], 1e-12);
  assert.match(found.text, /Profile-likelihood intervals/);
  assert.match(found.residuals, /^line,dose,rate,fitted,residual/);
  assert.equal(found.page.fits[0].series.length, 1);
  assert.equal(found.page.fits[0].profiles.length, 2);
  const groups = await fitTable(text, { decimalComma: true, model: 'linear', groupBy: 'plate', share: ['slope'] });
  assert.equal(groups.json.groups.length, 2);
  const enzyme = await fitTable(null);
  assert.match(enzyme.markdown, /^\|/m);
  const brief = await fitTable(null, { formats: ['csv'] });
  assert.deepEqual([brief.csv, brief.json, brief.text, brief.markdown, brief.page.fits.length], [enzyme.csv, undefined, undefined, undefined, 1]);
  assert.match(enzyme.text, /michaelis_menten/);
});

test('differential equations are fitted to a table', async () => {
  const hours = [0.5, 1, 2, 4, 6, 9, 12];
  const [ka, ke, v] = [0.8, 0.25, 20];
  // What a dose of 100 gives in one compartment with absorption.
  const rows = hours.map(t => `${t},${(100 * ka / (v * (ka - ke))) * (Math.exp(-ke * t) - Math.exp(-ka * t))}`);
  const equations = { ode: { gut: '-ka*gut', blood: 'ka*gut - ke*blood' }, initial: { gut: 100, blood: 0 }, observe: ['blood/v'], start: { ke: 0.1, v: 10 } };
  const found = await fitTable(`hours,conc\n${rows.join('\n')}\n`, equations);
  found.json.parameters.forEach(({ name, value }) => near(value, { ka, ke, v }[name], 1e-5));
  assert.equal(found.json.model, "conc = blood/v with gut' = -ka*gut, blood' = ka*gut - ke*blood");
  const table = 'x,y\n0,1\n1,2\n2,3\n3,5\n';
  await assert.rejects(fitTable(table, { ...equations, model: 'linear' }), /"ode" and "model" exclude each other/);
  await assert.rejects(fitTable(table, { model: 'linear', stiff: true }), /need "ode"/);
  await assert.rejects(fitTable(table, { ode: ['y2=-k*y2'] }), /the state "y2" has no initial value/);
});

test('errors name what is wrong', async () => {
  const fails = async (options, kind, message) => {
    await assert.rejects(fit({ x, y, ...options }), error => {
      assert(error instanceof kind, `${error.name}: ${error.message}`);
      assert.match(error.message, message);
      return true;
    });
  };
  await fails({ formula: 'a*sine(x)' }, FormulaError, /there is no function "sine"/);
  await assert.rejects(fit({ x, y, formula: 'a*sine(x)' }), { position: 3 });
  await fails({ model: 'michaelis' }, FitError, /did you mean michaelis_menten/);
  await fails({}, FitError, /one of "model", "formula" and "function"/);
  await fails({ model: 'linear', formula: 'a*x' }, FitError, /one of/);
  await fails({ model: 'linear', y: [1, 2] }, FitError, /x has 6 rows, and y has 2/);
  await fails({ model: 'linear', y: [1, 2, 3, 4, 5, '6'] }, FitError, /y: "6" in row 5 is no number/);
  await fails({ model: 'linear', y: [1, 2, 3, NaN, 5, 6] }, FitError, /NaN/);
  await fails({ model: 'linear', sigma: [1, 1, 1, 0, 1, 1] }, FitError, /0/);
  await fails({ model: 'linear', strat: { slope: 1 } }, FitError, /"strat" is no option/);
  await fails({ formula: 'a*x', start: { b: 1 } }, FitError, /"b"/);
  await fails({ formula: 'a*x', start: [1, 2] }, FitError, /start has 2 values for the parameters "a"/);
  await fails({ model: 'linear', loss: 'hubr' }, FitError, /"hubr" is none of/);
  await fails({ model: 'linear', bounds: { slope: [3, 2] } }, FitError, /slope/);
  await fails({ function: () => { throw new RangeError('my own'); }, parameters: ['a'] }, RangeError, /my own/);
  await fails({ function: (at, a) => { let text = ''; text += a; return text; }, start: [1] }, FitError, /which is no number/);
  await assert.rejects(fitTable('x,y\n1,2\n2,oops\n', { model: 'linear' }), /line 3, column "y": "oops" is not a number/);
  await assert.rejects(parseFormula('a*(x'), FormulaError);
  await assert.rejects(evaluate({ formula: 'a*x', x: [1], parameters: [1, 2] }), /1 parameters, and 2 values/);
  assert.equal((await fit({ x, y, model: 'michaelis_menten' })).converged, true);
});

test('signals and progress', async () => {
  await assert.rejects(fit({ x, y, model: 'linear', signal: AbortSignal.abort() }), { name: 'AbortError' });
  const controller = new AbortController();
  let steps = 0;
  await assert.rejects(fit({ x, y, formula: 'v*x/(k+x)', signal: controller.signal, onProgress: () => { steps += 1; controller.abort(); } }), { name: 'AbortError' });
  assert(steps >= 1);
  const seen = [];
  await fit({ x, y, formula: 'v*x/(k+x)', start: { v: 1, k: 20 }, onProgress: ({ done, cost }) => { seen.push([done, cost]); } });
  assert(seen.length > 1 && seen.at(-1)[1] < seen[0][1]);
});

test('a thread of its own, which a signal ends', async () => {
  const worker = createWorker();
  const found = await worker.fitTable('x,y\n0,1\n1,3.1\n2,4.9\n3,7\n', { model: 'linear' });
  assert(found.json.is_converged);
  await assert.rejects(worker.parseFormula('a*sine(x)'), error => error instanceof FormulaError && error.position === 3);
  const rows = Array.from({ length: 400 }, (_, i) => `${i / 40},${Math.sin(i) + i / 40}`);
  const controller = new AbortController();
  const long = worker.fitTable(`x,y\n${rows.join('\n')}\n`, { formula: 'a*sin(w*x+p)+b*exp(-k*x)+c', multiStart: 100000, signal: controller.signal });
  setTimeout(() => controller.abort(), 300);
  await assert.rejects(long, { name: 'AbortError' });
  assert.equal((await worker.models()).length, (await models()).length);
  await worker.terminate();
});

test('models of the library', async () => {
  const all = await models();
  assert(all.length >= 43);
  assert(all.some(model => model.name === 'hill' && model.parameters.includes('n')));
  near((await evaluate({ model: 'linear', x: [2], parameters: { slope: 3, intercept: 1 } }))[0], 7);
  assert.equal(exp(neg(0)), 1);
  assert(EngineError.prototype instanceof Error);
});
