// Types of the package in use; nothing runs.
import { FitError, FormulaError, compare, fit, fitMany, fitTable, models, parseTable, type Fit } from '../../package/index.js';
import { exp, mul, neg } from '../../package/functions.js';
import { createWorker } from '../../package/worker.js';

const found: Fit = await fit({ x: [0, 1, 2], y: new Float64Array(3), formula: 'a*exp(-k*x)', start: { a: 1, k: 1 }, bounds: { k: [0, null] }, fixed: ['a'], sigma: 0.1, loss: 'huber' });
const value: number = found.value('k');
const high: Float64Array = found.confidenceBand([1, 2]).high;
await fit({ x: [1], y: [1], model: (x: number, a: number) => a * x });
await fit({ x: [1], y: [1], function: (x: number, a: number, k: number) => mul(a, exp(neg(mul(k, x)))), parameters: ['a', 'k'] });
const many = await fitMany({ x: [0, 1], y: [[1, 2], [2, 3]], model: 'linear', signal: AbortSignal.timeout(10) });
const first: Float64Array = many.parametersOf(0);
const best: string = (await compare({ x: [1], y: [1], models: ['linear', { formula: 'a*x' }] }))[0].name;
const columns: string[] = (await parseTable('x,y\n1,2\n')).columns.map(column => column.name);
const names: string[] = (await models()).map(model => model.name);
const { json } = await fitTable('x,y\n1,2\n', { model: 'linear', name: 'line.csv' });
const worker = createWorker();
await worker.fitTable('x,y\n1,2\n', { signal: new AbortController().signal });
// @ts-expect-error A number is no formula.
await fit({ x: [1], y: [1], formula: 1 });
const error: FitError = new FormulaError('');
export { best, columns, error, first, high, json, names, value };
