// Builds the module, the package and the page: node build.mjs [--page] [--quick].
// --page takes the module as it was built before; --quick leaves out the one for engines without SIMD.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { basename, dirname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';

import { build } from 'esbuild';

import { firstFits, frequentFits, pageFits } from './first-fits.mjs';
import { gallery } from './page/gallery.js';
import { binaryen, split } from './split.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const at = (...parts) => join(here, ...parts);
const isPage = process.argv.includes('--page');
const isQuick = process.argv.includes('--quick');

function run(command, args, options = {}) {
  const { status } = spawnSync(command, args, { stdio: 'inherit', cwd: here, ...options });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${status}`);
}

/** Compiles the module with these features of processors, makes it small, and splits off what first fits do not need. */
async function module(name, feature, flags) {
  const target = at('wasm', 'target', name);
  const made = join(target, 'wasm32-unknown-unknown', 'release', 'marquardt_web.wasm');
  // Functions of few callers are not inlined: the split is by functions. Data stay apart for it, and files have names that are the same elsewhere.
  const home = process.env.CARGO_HOME ?? join(homedir(), '.cargo');
  const shortened = [join(here, '..'), join(home, 'registry', 'src')].map(path => `--remap-path-prefix=${path}${sep}=`);
  const flagsOfRust = [...feature, '-C llvm-args=-inline-threshold=40', '-C link-arg=--no-merge-data-segments', ...shortened].join(' ');
  run('cargo', ['build', '--quiet', '--release', '--locked', '--target', 'wasm32-unknown-unknown', '--target-dir', target], { cwd: at('wasm'), env: { ...process.env, RUSTFLAGS: flagsOfRust } });
  const whole = join(target, 'whole.wasm');
  binaryen('wasm-opt', flags, made, '-o', whole, '-Oz', '-ocimfs', '40', '-g', '--skip-pass=memory-packing');
  const page = pageParts(name);
  mkdirSync(page, { recursive: true });
  // The page begins with less than the package, which fits arrays.
  await splitOf('package', whole, name, at('package'), flags, firstFits, frequentFits);
  await splitOf('page', whole, name, page, flags, pageFits, async () => {});
}

/** Where the parts of a module are that the page loads. */
const pageParts = name => at('wasm', 'target', name, 'page');

/** Splits a module, and prints the sizes of its parts. */
async function splitOf(title, whole, name, folder, flags, first, frequent) {
  const files = [`${name}.wasm`, `${name}-rest.wasm`].map(part => join(folder, part));
  const { functions, later, cold } = await split(whole, ...files, flags, first, frequent);
  console.log(`${name} of the ${title}: ${functions} functions, ${later} of them in the second part, and ${cold} parts of others`);
  for (const file of files) {
    const bytes = readFileSync(file);
    const brotli = brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 } });
    console.log(`${basename(file)} of the ${title}: ${bytes.length} bytes, gzip ${gzipSync(bytes, { level: 9 }).length}, brotli ${brotli.length}`);
  }
}

if (!isPage) {
  await module('marquardt', ['-C target-feature=+simd128'], ['--enable-simd']);
  if (!isQuick) await module('marquardt-plain', [], []);
}

/** The page of the command: its charts and reports, which the page draws with, and its parts, for reports to hand on. */
const command = at('..', 'src', 'bin', 'marquardt', 'page');
const partOf = name => readFileSync(join(command, name), 'utf8');
const scripts = ['chart', 'data', 'parts', 'map', 'views', 'fits', 'many', 'page'].map(name => partOf(`${name}.js`));
const [chart, , parts, map, views, fits] = scripts;
const report = `let data = null;\n${chart}\n${parts}\n${map}\nexport function reportOf(given) {\ndata = given;\n${views}\n${fits}\nreturn pageOfFits();\n}\nexport { Chart, button, color, make, number, plural, rangeOf, section, shape, table, theme, toggle };\n`;
const reportPlugin = {
  name: 'report of the command',
  setup(made) {
    made.onResolve({ filter: /^report$/ }, () => ({ path: 'report', namespace: 'command' }));
    made.onLoad({ filter: /.*/, namespace: 'command' }, () => ({ contents: report, loader: 'js' }));
  },
};

const out = at('dist');
rmSync(out, { recursive: true, force: true });
mkdirSync(out);
const bundle = { bundle: true, minify: true, format: 'esm', target: 'es2022', outdir: out, logLevel: 'warning', plugins: [reportPlugin], legalComments: 'none', external: ['node:*'] };
await build({ ...bundle, entryPoints: { app: at('page', 'app.js') }, splitting: true, chunkNames: '[name]', define: { 'globalThis.process': 'undefined' } });
await build({ ...bundle, entryPoints: { thread: at('package', 'thread.js') }, define: { 'globalThis.process': 'undefined' } });
await build({ ...bundle, entryPoints: { style: at('page', 'style.css') }, plugins: [{ name: 'style of the command', setup: made => made.onResolve({ filter: /^command:/ }, () => ({ path: join(command, 'page.css') })) }] });
writeFileSync(join(out, 'models.json'), JSON.stringify(await gallery(await import('./package/index.js'))));
writeFileSync(join(out, 'report.json'), JSON.stringify({ page: partOf('page.html'), style: partOf('page.css'), script: scripts.join('') }));
for (const name of ['index.html', 'icon.svg', 'manifest.webmanifest', 'manifest.json', '404.html'].filter(name => readdirSync(at('page')).includes(name))) copyFileSync(at('page', name), join(out, name));
for (const name of ['marquardt', 'marquardt-plain'].filter(name => existsSync(pageParts(name)))) for (const part of readdirSync(pageParts(name))) copyFileSync(join(pageParts(name), part), join(out, part));

// The files by which the page works without a network, under a name that changes with them.
const files = readdirSync(out).sort();
const hash = createHash('sha256');
files.forEach(name => hash.update(name).update(readFileSync(join(out, name))));
const worker = readFileSync(at('page', 'service-worker.js'), 'utf8');
const isMostly = name => !name.startsWith('marquardt-plain');
const kept = files.filter(isMostly);
writeFileSync(join(out, 'service-worker.js'), worker.replace('/*version*/', hash.digest('hex').slice(0, 16)).replace('/*files*/', ['./', ...kept].map(name => JSON.stringify(name)).join(', ')));
const zipped = name => gzipSync(readFileSync(join(out, name)), { level: 9 }).length;
const sum = names => names.reduce((total, name) => total + zipped(name), 0);
const LATER = ['marquardt-rest.wasm', 'report.json', 'xlsx.js', 'service-worker.js'];
for (const name of readdirSync(out)) console.log(`dist/${name}: ${statSync(join(out, name)).size} bytes, gzip ${zipped(name)}`);
console.log(`page: ${sum(kept.filter(name => !LATER.includes(name)))} bytes to the first fit, gzipped; ${sum(kept)} in all`);
