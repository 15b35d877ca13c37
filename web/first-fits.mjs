// What is done first with the module, so that its functions are in the part that is loaded first. Each has an instance of its own: some functions are
// called by the first fit alone.
import { EXAMPLES } from './page/examples.js';
import { fresh, settingsOf } from './page/state.js';
import { FORMULAS, load } from './tests/nist.mjs';

const parts = () => import('./package/index.js');

/** Fits of examples as the page asks for them, by the module in these bytes: of the first one with its options and without, and of growth. */
export async function pageFits(bytes) {
  const { fitTable, guessTable, parseTable, setModule } = await parts();
  const module = await WebAssembly.compile(bytes);
  const [enzyme, growth] = ['enzyme.csv', 'growth.csv'].map(file => EXAMPLES.find(example => example.file === file));
  for (const { name, file, text, roles, ...settings } of [enzyme, { ...enzyme, options: {} }, growth]) {
    setModule(module);
    const table = await parseTable(text(), { name: file });
    const numbers = table.columns.filter(column => column.numbers).map(column => column.name);
    const state = { ...fresh(), ...settings, table, roles: { ...fresh().roles, x: [numbers[0]], y: numbers[1], ...roles } };
    await fitTable(text(), { name: file, ...settingsOf(state), formats: ['json'] });
    await guessTable(text(), { name: file, ...settingsOf({ ...state, options: {} }) });
  }
  setModule(null);
}

/** Fits of arrays, and that of the page. */
export async function firstFits(bytes) {
  await pageFits(bytes);
  const { fit, setModule } = await parts();
  const module = await WebAssembly.compile(bytes);
  const [x, y] = [[0.5, 1, 2, 4, 8, 16], [1.9, 3.1, 4.6, 5.9, 6.9, 7.4]];
  for (const curve of [{ model: 'michaelis_menten' }, { formula: 'v*x/(k + x)', start: { v: 5 } }, { formula: 'v*x/(k + x)', start: { v: 5, k: 2 } }]) {
    setModule(module);
    const found = await fit({ x, y, ...curve });
    [String(found), found.summary, found.confidenceBand([1, 2]), found.predict([3]), found.covariance, found.residuals].forEach(Boolean);
    found.free();
  }
  setModule(null);
}

/** Fits whose loops should stay in one piece. */
export async function frequentFits(bytes) {
  const { fit, setModule } = await parts();
  setModule(await WebAssembly.compile(bytes));
  for (const name of Object.keys(FORMULAS)) {
    const { formula, x, y, starts } = load(name);
    (await fit({ formula, x, y, start: starts[0] })).free();
  }
  setModule(null);
}
