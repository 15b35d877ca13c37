// Parts of the page that need no browser.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { commandLine, pythonCode, rustCode } from '../page/codes.js';
import { parse, print, substituted } from '../page/expression.js';
import { ofFragment, toFragment } from '../page/link.js';
import { ofJson, textOfFile } from '../page/sources.js';
import { furtherResponses, isLogarithmic, stacked } from '../page/stack.js';
import { fresh, settingsOf, textOf } from '../page/state.js';
import { models, parseTable } from '../package/index.js';

/** Value of a tree, by itself. */
function value(tree, of) {
  if (typeof tree === 'number') return tree;
  if (typeof tree === 'string') return of[tree];
  const [a, b] = tree.args.map(one => value(one, of));
  return { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '^': a ** b, neg: -a, exp: Math.exp(a), ln: Math.log(a), sqrt: Math.sqrt(a), sin: Math.sin(a) }[tree.op];
}

test('formulas are written in other languages, and mean the same', () => {
  const names = { a: 1.7, b: 0.6, x: 1.3, k: 2.1 };
  for (const formula of ['a - (b - x)', 'a/(b*x)', 'a/b/x', '-x^2', '(-x)^2', 'a^b^x', '(a^b)^x', 'a*-b', 'a exp(-x / b) + k', 'x^(1 / b)', 'a - b*x - (k - a)', '2 (x + 1)', 'a*(b/x)', 'a/(b/x)', '-(a + b)*x', 'sqrt(a x)^2']) {
    const tree = parse(formula);
    assert(tree, formula);
    const expected = value(tree, names);
    const python = print(tree, 'python').replace(/np\./g, 'Math.').replace(/(\([^()]*\)|\w+)\*\*-/g, '$1**-');
    // In JavaScript, a sign before a power needs parentheses.
    const script = python.replace(/^-(\w+)\*\*/, '0-$1**');
    assert.equal(new Function(...Object.keys(names), `return ${script}`)(...Object.values(names)), expected, `${formula}: ${script}`);
    assert.equal(value(parse(print(tree, 'text')), names), expected, `${formula}: ${print(tree, 'text')}`);
    assert.equal(value(substituted(tree, { a: 1.7, b: 0.6 }), { x: 1.3, k: 2.1 }), expected);
  }
  assert.equal(print(parse('a*x/(b + x)'), 'latex'), '\\frac{a \\, x}{b + x}');
  assert.equal(print(substituted(parse('a + c x'), { a: 1, c: -2 }), 'text'), '1 - 2*x');
  assert.equal(print(parse('1e-7*x'), 'excel'), '1E-7*x');
  for (const wrong of ['a*(x', 'a,b', 'if(x < 1, a, b)', '', 'a b)']) assert.equal(parse(wrong), null, wrong);
});

test('formulas of the models are written, all but those in words', async () => {
  const lost = (await models()).filter(model => !parse(model.formula)).map(model => model.name);
  assert.deepEqual(lost.filter(name => !/voigt|baranyi|polynomial/.test(name)), []);
});

test('the command line says what the page does', () => {
  const settings = { x: ['dose (mM)'], y: ['rate'], formula: 'a*exp(-k*x)', start: ['a=1', 'k=-2'], where: ["plate == A", 'x > 0'], robust: 'tukey', profile: true, 'log-x': true };
  assert.equal(commandLine(settings, "it's.csv"), "marquardt fit 'it'\\''s.csv' --x 'dose (mM)' --y rate --formula 'a*exp(-k*x)' --start a=1,k=-2 --where 'plate == A' --where 'x > 0' --robust=tukey --profile --log-x --report fit.html");
  const curve = { model: null, formula: 'a*exp(-k*t)', x: ['t'], y: 'n', sigma: 'sd', weights: null, file: 'n.csv' };
  assert.match(rustCode(curve, { bounds: ['k=0..'], counts: true }), /\.bounds\("k", 0_f64\.\.=f64::INFINITY\)\n {8}\.sigma\(table\.column\("sd"\)\?\)\n {8}\.counts\(\)/);
  assert.match(rustCode({ ...curve, x: ['conc (mM)'], formula: 'a*exp(-k*x)' }, {}), /with_predictors\("a\*exp\(-k\*x\)", \["x"\]\)\?, x, y\)/);
  assert.match(pythonCode(curve, {}), /x, y = table\[\["t"\]\], table\["n"\]\.to_numpy\(\)/);
  assert.match(pythonCode(curve, { bounds: ['k=0..'] }), /marquardt\.fit\("a\*exp\(-k\*t\)", x, y, bounds=\{"k": \(0, np\.inf\)\}, sigma=table\["sd"\]/);
});

test('options of the page', () => {
  const state = { ...fresh(), source: { name: 'a.csv', text: 'x,y\n1,2\n3,4\r\n5,6' }, table: { isWide: false }, formula: 'a*x+b', starts: { a: '2', b: '' }, fixed: { b: '1' }, bounds: { a: '0..' }, excluded: new Set([3]) };
  Object.assign(state.roles, { x: ['x'], y: 'y', sigma: '0.1' });
  assert.deepEqual(settingsOf(state), { x: ['x'], y: ['y'], sigma: '0.1', formula: 'a*x+b', start: ['a=2'], fix: ['b=1'], bounds: ['a=0..'] });
  assert.equal(textOf(state), 'x,y\n1,2\n\n5,6');
});

test('sources of tables', async () => {
  assert.equal(ofJson('[{"x":1,"y":"a,b"},{"x":null}]'), '"x","y"\n1,"a,b"\nNA,NA');
  assert.equal(ofJson('{"x":[1,2],"y":[3,4]}'), '"x","y"\n1,3\n2,4');
  assert.equal(ofJson('x,y\n1,2'), null);
  assert.equal(await textOfFile(new File([new Uint8Array([0xff, 0xfe, 0x78, 0, 0x2c, 0, 0x79, 0])], 'a.csv')), 'x,y');
  assert.equal(await textOfFile(new File([new Uint8Array([0xb5, 0x2c, 0x79])], 'a.csv')), 'µ,y');
});

test('links come back', async () => {
  const value = { source: { name: 'µ.csv', text: 'x,y\n'.repeat(3000) }, model: 'linear', options: { where: ['x > 0'] } };
  const fragment = await toFragment(value);
  assert.match(fragment, /^[\w-]+$/);
  assert.deepEqual(await ofFragment(fragment), value);
});

test('columns of responses become groups', async () => {
  const table = await parseTable('dose (nM),A,"B, new",note\n1,2,3,x\n2,4,,y\n3,6,9,z\n', { name: 'plate.csv', omitMissing: true });
  const state = { ...fresh(), table, roles: { ...fresh().roles, x: [table.columns[0].name], y: 'A' }, excluded: new Set([4]) };
  assert.equal(furtherResponses(state).length, 1);
  const { text, roles } = stacked(state);
  const again = await parseTable(text, { name: 'plate.csv' });
  assert.deepEqual(roles, { x: [again.columns[0].name], y: 'response', group: 'column', sigma: null, weights: null });
  assert.deepEqual(again.columns.map(column => column.texts), [['1', '2', '1'], ['2', '4', '3'], ['A', 'A', table.columns[2].name]]);
  assert.equal(furtherResponses({ table, roles: { ...state.roles, group: 'note' } }).length, 0);
});

test('doses get a logarithmic axis, and times and temperatures none', () => {
  assert(isLogarithmic([0.03, 0.1, 0.3, 1, 3, 10, 30, 100]));
  for (const x of [[0, 1, 10, 100, 1000], [1, 2, 3, 90], [-1, 1, 100, 1000], Array.from({ length: 500 }, (_, i) => i + 1), [], [NaN, NaN]]) assert(!isLogarithmic(x), String(x));
});
