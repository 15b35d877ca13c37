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

const tools = join(dirname(fileURLToPath(import.meta.url)), 'node_modules', 'binaryen', 'bin');
const FEATURES = ['--enable-bulk-memory', '--enable-sign-ext', '--enable-nontrapping-float-to-int', '--enable-mutable-globals', '--enable-reference-types', '--enable-multivalue'];
const NAME = String.raw`\$(?:"(?:[^"\\]|\\.)*"|[^\s()"]+)`;

/** Functions that are shorter than a call by the table, in characters of text. */
const SHORT = 400;

/** Runs a tool of binaryen on a module; `features` are those beyond the ones that all engines have. */
export function binaryen(tool, features, ...args) {
  const { status, stderr } = spawnSync(process.execPath, [join(tools, tool), ...FEATURES, ...features, ...args], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${tool} ended with ${status}: ${stderr}`);
}

/** The parts of a module's text. */
function parsed(text) {
  const parts = text.trimEnd().replace(/^\(module\s/, '').replace(/\)$/, '').split(/\n(?= \()/).map(part => part.trim());
  const kind = part => /^\((\w+)/.exec(part)?.[1];
  const of = wanted => parts.filter(part => kind(part) === wanted);
  const functions = new Map(of('func').map(part => [new RegExp(`^\\(func (${NAME})`).exec(part)[1], part]));
  return { of, functions };
}

/** Types of a function. */
function signature(text) {
  const [head] = text.split('\n', 1);
  const list = word => [...head.matchAll(new RegExp(`\\(${word} (?:${NAME} )?([^()]*)\\)`, 'g'))].flatMap(match => match[1].trim().split(/\s+/));
  const [parameters, results] = [list('param'), list('result')];
  const typed = (word, types) => (types.length ? ` (${word} ${types.join(' ')})` : '');
  return { parameters, type: `(func${typed('param', parameters)}${typed('result', results)})`, use: `${typed('param', parameters)}${typed('result', results)}` };
}

/** The functions that an act calls; it is given the bytes of a module that notes them. */
async function called({ of, functions }, features, folder, act) {
  const names = [...functions.keys()];
  const marked = names.map((name, index) => {
    const lines = functions.get(name).split('\n');
    let at = 1;
    while (/^ {2}\(local /.test(lines[at] ?? '')) at += 1;
    return [...lines.slice(0, at), ` (call $mark (i32.const ${index}))`, ...lines.slice(at)].join('\n');
  });
  const text = ['(module', ...of('type'), ...of('import'), '(import "host" "mark" (func $mark (param i32)))', ...of('global'), ...of('memory'), ...of('data'), ...of('table'), ...of('elem'), ...of('export'), ...marked, ')'];
  writeFileSync(join(folder, 'marked.wat'), text.join('\n'));
  binaryen('wasm-as', features, join(folder, 'marked.wat'), '-o', join(folder, 'marked.wasm'));
  const found = new Set();
  const { Instance } = WebAssembly;
  WebAssembly.Instance = function (module, imports) { return new Instance(module, { ...imports, host: { ...imports.host, mark: index => found.add(names[index]) } }); };
  try {
    await act(readFileSync(join(folder, 'marked.wasm')));
  } finally {
    WebAssembly.Instance = Instance;
  }
  return found;
}

/** Writes the two parts of the module in a file; `act` uses the module as first fits do. */
export async function split(file, first, rest, features, act) {
  const folder = mkdtempSync(join(tmpdir(), 'split-'));
  try {
    binaryen('wasm-dis', features, file, '-o', join(folder, 'whole.wat'));
    const { of, functions } = parsed(readFileSync(join(folder, 'whole.wat'), 'utf8'));
    const used = await called({ of, functions }, features, folder, act);
    const exported = new Set(of('export').map(part => new RegExp(`\\(func (${NAME})\\)`).exec(part)?.[1]));
    const isLater = name => !used.has(name) && !exported.has(name) && functions.get(name).length > SHORT;
    const later = [...functions.keys()].filter(isLater);
    const [, table, size] = /^\(table (\S+) (\d+)/.exec(of('table')[0]);
    const [, memory] = /^\(memory (\S+)/.exec(of('memory')[0]);
    const start = Number(size);
    // The parts of another build do not fit.
    const name = `rest ${createHash('sha256').update(readFileSync(file)).digest('hex').slice(0, 12)}`;

    const isOwn = new Set(later);
    const calls = new RegExp(`\\((?:call|return_call|ref\\.func) (${NAME})`, 'g');
    const calledBy = text => [...text.matchAll(calls)].map(match => match[1]);
    // Only what the first part calls, or has in its table, needs a place.
    const met = new Set([...functions].filter(([own]) => !isOwn.has(own)).flatMap(([, text]) => calledBy(text)));
    of('elem').forEach(part => [...part.matchAll(new RegExp(NAME, 'g'))].forEach(([own]) => met.add(own)));
    const placed = later.filter(own => met.has(own));
    const types = new Map();
    const stubs = placed.map((own, index) => {
      const { parameters, type, use } = signature(functions.get(own));
      if (!types.has(type)) types.set(type, `$later${types.size}`);
      return `(func ${own}${use} (call_indirect ${table} (type ${types.get(type)}) ${parameters.map((_, i) => `(local.get ${i})`).join(' ')} (call $later (i32.const ${start + index}))))`;
    });
    const imported = new Set(of('import').map(part => new RegExp(`\\(func (${NAME})`).exec(part)?.[1]));
    const needed = [...new Set(later.flatMap(own => calledBy(functions.get(own))))].filter(one => !isOwn.has(one));
    const globals = of('global').map(part => ({ name: new RegExp(`^\\(global (${NAME})`).exec(part)[1], type: new RegExp(`^\\(global ${NAME} (\\(mut \\w+\\)|\\w+)`).exec(part)[1] }));
    const shared = needed.map((one, index) => ({ name: one, as: `f${index.toString(36)}`, use: imported.has(one) ? null : signature(functions.get(one)).use }));

    const primary = [
      '(module', ...of('type'), ...[...types].map(([type, as]) => `(type ${as} ${type})`), ...of('import'), `(import "host" "${name}" (func $load))`, ...of('global'), '(global $here (mut i32) (i32.const 0))', ...of('memory'), ...of('data'),
      `(table ${table} ${start + placed.length} ${start + placed.length} funcref)`, ...of('elem'), ...of('export'), `(export "t" (table ${table}))`,
      ...globals.map((one, index) => `(export "g${index}" (global ${one.name}))`), ...shared.filter(one => one.use != null).map(one => `(export "${one.as}" (func ${one.name}))`),
      '(func $later (param $place i32) (result i32) (if (i32.eqz (global.get $here)) (then (call $load) (global.set $here (i32.const 1)))) (local.get $place))',
      ...[...functions].filter(([own]) => !isOwn.has(own)).map(([, part]) => part), ...stubs, ')',
    ];
    const secondary = [
      '(module', ...of('type'), `(import "${name}" "memory" (memory ${memory} 1))`, `(import "${name}" "t" (table ${table} ${start + placed.length} funcref))`,
      ...globals.map((one, index) => `(import "${name}" "g${index}" (global ${one.name} ${one.type}))`),
      ...of('import').filter(part => needed.includes(new RegExp(`\\(func (${NAME})`).exec(part)?.[1])),
      ...shared.filter(one => one.use != null).map(one => `(import "${name}" "${one.as}" (func ${one.name}${one.use}))`),
      `(elem (table ${table}) (i32.const ${start}) func ${placed.join(' ')})`, ...later.map(own => functions.get(own)), ')',
    ];
    for (const [lines, out] of [[primary, first], [secondary, rest]]) {
      writeFileSync(join(folder, 'part.wat'), lines.join('\n'));
      binaryen('wasm-as', features, join(folder, 'part.wat'), '-o', out);
    }
    return { functions: functions.size, later: later.length };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
