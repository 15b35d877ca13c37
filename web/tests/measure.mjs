// Times of the package in node: node tests/measure.mjs [NATIVE], with the program of `native`, which prints the same lines.
import { execFileSync } from 'node:child_process';

import { levenbergMarquardt } from 'ml-levenberg-marquardt';

import { fit, fitMany } from '../package/index.js';
import { FORMULAS, digits, load } from './nist.mjs';

/** Median time of some calls, in microseconds. */
async function median(count, act) {
  const times = [];
  for (let i = 0; i < count; i++) {
    const begun = performance.now();
    await act();
    times.push(1000 * (performance.now() - begun));
  }
  return times.sort((a, b) => a - b)[count >> 1];
}

for (const name of ['Misra1a', 'Gauss1']) {
  const { formula, x, y, starts } = load(name);
  const of = { formula, x: Float64Array.from(x), y: Float64Array.from(y), start: starts[0] };
  const act = async () => (await fit(of)).free();
  await median(30, act);
  console.log(`${name} us=${(await median(name === 'Misra1a' ? 500 : 60, act)).toFixed(1)}`);
}

/** Peaks of 30 points each, with noise that is the same everywhere. */
function peaks(count) {
  let state = 1;
  const uniform = () => (state = (state * 16807) % 2147483647) / 2147483647;
  const x = Float64Array.from({ length: 30 }, (_, i) => 0.3 * i);
  const y = new Float64Array(30 * count);
  for (let k = 0; k < count; k++) {
    const [amplitude, center, width] = [5 + 5 * uniform(), 3 + 3 * uniform(), 0.7 + uniform()];
    for (let i = 0; i < 30; i++) y[30 * k + i] = amplitude * Math.exp(-((x[i] - center) ** 2) / (2 * width * width)) + 0.2 * (uniform() - 0.5);
  }
  return { x, y };
}
const { x, y } = peaks(10_000);
const many = () => fitMany({ formula: 'a*exp(-(x-c)^2/(2*s^2))', x, y, fits: 10_000, start: { a: 7, c: 4.5, s: 1.2 } });
const { convergedCount } = await many();
console.log(`peaks fits=10000 converged=${convergedCount} ms=${((await median(3, many)) / 1000).toFixed(1)}`);

if (process.argv[2]) console.log(execFileSync(process.argv[2], { encoding: 'utf8', env: { ...process.env, MARQUARDT_REGISTERS: 'portable' } }).replace(/^/gm, 'native ').trim());

/** The other package with the settings that its documentation has, and with those that suit these data best. */
for (const [title, options] of [['default', {}], ['tuned', { maxIterations: 2000, gradientDifference: 1e-6, centralDifference: true, errorTolerance: 0 }]]) {
  let [solved, runs, total] = [0, 0, 0];
  for (const name of Object.keys(FORMULAS).filter(one => one !== 'Nelson')) {
    const { formula, x: xs, y: ys, starts, certified } = load(name);
    const names = certified.map((_, i) => `b${i + 1}`);
    const body = formula.replace(/\^/g, '**').replace(/\b(exp|cos|sin|atan)\(/g, 'Math.$1(').replace(/\bpi\b/g, 'Math.PI').replace(/-\(x-b(\d)\)\*\*2/g, '-((x-b$1)**2)');
    const model = new Function(`return ([${names}]) => x => ${body}`)();
    for (const start of starts) {
      runs += 1;
      let own = 0;
      try {
        const { parameterValues } = levenbergMarquardt({ x: xs, y: ys }, model, { initialValues: Object.values(start), ...options });
        own = digits(parameterValues, certified);
      } catch { /* It gives up on these data. */ }
      if (own > 6) solved += 1;
      total += Number.isFinite(own) ? Math.max(0, own) : 0;
    }
  }
  console.log(`ml-levenberg-marquardt ${title} solved=${solved}/${runs} digits=${(total / runs).toFixed(2)}`);
}
const misra = load('Misra1a');
const time = await median(20, () => levenbergMarquardt({ x: misra.x, y: misra.y }, ([b1, b2]) => at => b1 * (1 - Math.exp(-b2 * at)), { initialValues: Object.values(misra.starts[0]), maxIterations: 100, gradientDifference: 1e-6, centralDifference: true }));
console.log(`ml-levenberg-marquardt Misra1a us=${time.toFixed(1)}`);
