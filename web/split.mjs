// Splits a module in two: the functions that first fits call, and the rest, which is loaded when one of its functions is called.
//
// The first part has a function of each name. Those of the rest go through the table of functions, to places that the rest fills when it is
// loaded, by the host, at the first call of one of them. The rest has the memory, the table and the stack pointer of the first part.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Channels, marked, withoutCold } from './cold.mjs';
import { dataOfParts } from './data.mjs';
import { parse, print, typesOf, walk } from './wat.mjs';

const tools = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', 'binaryen', 'bin');
const FEATURES = ['--enable-bulk-memory', '--enable-sign-ext', '--enable-nontrapping-float-to-int', '--enable-mutable-globals', '--enable-reference-types', '--enable-multivalue'];

/** Functions that are shorter than a call by the table, in instructions. */
const SHORT = 20;

/** Visits from which on what is run by frequent fits stays where it is. */
const OFTEN = 200;

/** Runs a tool of binaryen on a module; `features` are those beyond the ones that all engines have. */
export function binaryen(tool, features, ...args) {
  const { status, stderr } = spawnSync(process.execPath, [join(tools, tool), ...FEATURES, ...features, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tool} ended with ${status}: ${stderr}`);
}

/** The lists of a kind in a module. */
const of = (module, kind) => module.filter(one => one[0] === kind);

/** How often an act comes to each mark of a module in which all functions are marked. */
async function visits(module, count, features, folder, act) {
  writeFileSync(join(folder, 'marked.wat'), print(module));
  binaryen('wasm-as', features, join(folder, 'marked.wat'), '-o', join(folder, 'marked.wasm'));
  const visited = new Float64Array(count);
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (compiled, imports) { return new Instance(compiled, { ...imports, host: { ...imports.host, mark: index => { visited[index] += 1; } } }); };
  try {
    await act(readFileSync(join(folder, 'marked.wasm')));
  } finally {
    WebAssembly.Instance = Instance;
  }
  return visited;
}

/** Writes the two parts of the module in a file; `act` uses the module as first fits do. */
export async function split(file, first, rest, features, act, frequent) {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  try {
    binaryen('wasm-dis', features, file, '-o', join(folder, 'whole.wat'));
    const [whole] = parse(readFileSync(join(folder, 'whole.wat'), 'utf8').replace(/^\s*;;.*$/gm, ''));
    const places = new Map();
    const next = { count: 0 };
    const noted = whole.map(one => (one[0] === 'func' ? marked(one, places, next) : one));
    noted.splice(noted.findLastIndex(one => one[0] === 'import') + 1, 0, ['import', '"host"', '"mark"', ['func', '$mark', ['param', 'i32']]]);
    const [visited, often] = [await visits(noted, next.count, features, folder, act), await visits(noted, next.count, features, folder, frequent)];
    const isKept = mark => visited[mark] > 0 || often[mark] >= OFTEN;

    const exported = new Set(of(whole, 'export').map(one => one[2][1]));
    const channels = new Channels();
    const functions = new Map();
    const later = new Map();
    const cold = new Set();
    for (const one of of(whole, 'func')) {
      const name = one[1];
      if (!(visited[places.get(one)[0]?.[1]] > 0)) {
        let size = 0;
        walk(one, () => { size += 1; });
        (exported.has(name) || size < SHORT ? functions : later).set(name, one);
        continue;
      }
      const parts = withoutCold(one, places, isKept, channels, (called, values) => ['call', called, ...values]);
      functions.set(name, parts.hot);
      parts.cold.forEach(part => { later.set(part[1], part); cold.add(part[1]); });
    }

    const [, table, size] = of(whole, 'table')[0];
    const [, memory] = of(whole, 'memory')[0];
    const start = Number(size);
    // Parts of another build or split do not fit.
    const name = `rest ${createHash('sha256').update(readFileSync(file)).update([...later.keys()].join()).digest('hex').slice(0, 12)}`;
    const called = lists => {
      const names = new Set();
      for (const list of lists) walk(list, one => { if (one[0] === 'call' || one[0] === 'ref.func') names.add(one[1]); });
      return names;
    };
    // Only what the first part calls, or has in its table, needs a place.
    const met = called(functions.values());
    of(whole, 'elem').flat().forEach(own => met.add(own));
    const placed = [...later.keys()].filter(own => met.has(own));
    const placeOf = new Map(placed.map((own, index) => [own, start + index]));
    const types = new Map();
    const indirect = (own, values) => {
      const one = later.get(own);
      const type = [['param', ...typesOf(one, 'param')], ['result', ...typesOf(one, 'result')]].filter(part => part.length > 1);
      const key = print(type);
      if (!types.has(key)) types.set(key, { name: `$later${types.size}`, type });
      return ['call_indirect', table, ['type', types.get(key).name], ...values, ['call', '$later', ['i32.const', String(placeOf.get(own))]]];
    };
    const uses = one => one.filter(part => part[0] === 'param' || part[0] === 'result');
    const stubs = placed.filter(own => !cold.has(own)).map(own => {
      const parameters = typesOf(later.get(own), 'param').map((type, index) => ['param', `$${index}`, type]);
      return ['func', own, ...parameters, ...of(later.get(own), 'result'), indirect(own, parameters.map(([, parameter]) => ['local.get', parameter]))];
    });
    // What is cold is called once.
    const direct = one => (typeof one === 'string' ? one : one[0] === 'call' && cold.has(one[1]) ? indirect(one[1], one.slice(2)) : one.map(direct));
    const own = [...functions.values()].map(direct);
    const imported = new Set(of(whole, 'import').filter(one => one[3][0] === 'func').map(one => one[3][1]));
    const needed = [...called(later.values())].filter(one => !later.has(one));
    const globals = [...of(whole, 'global'), ...channels.globals];
    const shared = needed.filter(one => !imported.has(one)).map((one, index) => ({ one, as: `"f${index.toString(36)}"` }));
    const total = String(start + placed.length);

    const { kept, moved } = dataOfParts(of(whole, 'data'), own);

    const primary = [
      'module', ...of(whole, 'type'), ...[...types.values()].map(({ name: as, type }) => ['type', as, ['func', ...type]]), ...of(whole, 'import'), ['import', '"host"', `"${name}"`, ['func', '$load']], ...globals,
      ['global', '$here', ['mut', 'i32'], ['i32.const', '0']], ...of(whole, 'memory'), ...kept, ['table', table, total, total, 'funcref'], ...of(whole, 'elem'), ...of(whole, 'export'), ['export', '"t"', ['table', table]],
      ...globals.map((one, index) => ['export', `"g${index}"`, ['global', one[1]]]), ...shared.map(({ one, as }) => ['export', as, ['func', one]]),
      ['func', '$later', ['param', '$place', 'i32'], ['result', 'i32'], ['if', ['i32.eqz', ['global.get', '$here']], ['then', ['call', '$load'], ['global.set', '$here', ['i32.const', '1']]]], ['local.get', '$place']],
      ...own, ...stubs,
    ];
    const secondary = [
      'module', ...of(whole, 'type'), ['import', `"${name}"`, '"memory"', ['memory', memory, '1']], ['import', `"${name}"`, '"t"', ['table', table, total, 'funcref']],
      ...globals.map((one, index) => ['import', `"${name}"`, `"g${index}"`, ['global', one[1], one[2]]]), ...of(whole, 'import').filter(one => needed.includes(one[3][1])),
      ...shared.map(({ one, as }) => ['import', `"${name}"`, as, ['func', one, ...uses(functions.get(one))]]),
      ['elem', ['table', table], ['i32.const', String(start)], 'func', ...placed], ...moved, ...later.values(),
    ];
    for (const [module, out] of [[primary, first], [secondary, rest]]) {
      writeFileSync(join(folder, 'part.wat'), print(module));
      binaryen('wasm-as', features, join(folder, 'part.wat'), '-o', out);
      binaryen('wasm-opt', features, out, '-o', out, '-Oz', '-ocimfs', '0');
    }
    return { functions: of(whole, 'func').length, later: later.size - cold.size, cold: cold.size };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
