import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { copyFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

import { EngineError, fit, setModule } from '../package/index.js';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = new URL('../package/', import.meta.url);
const use = join(here, 'use-everywhere.mjs');
const run = async (program, ...args) => JSON.parse((await promisify(execFile)(program, args, { env: { ...process.env, NO_COLOR: '1' } })).stdout);
const deno = join(here, '..', 'node_modules', '.bin', 'deno');

function check(found, expected) {
  assert(found.isWithin && found.same, JSON.stringify(found));
  assert(Math.abs(found.ratio - 2) < 1e-6, JSON.stringify(found));
  assert(found.profile[0] < found.values[1] && found.values[1] < found.profile[1], JSON.stringify(found));
  found.values.forEach((value, i) => assert(Math.abs(value / expected.values[i] - 1) < 1e-13, JSON.stringify([found, expected])));
}

test('Deno has the results of node, from a folder and from a server', async () => {
  const expected = await run(process.execPath, use, folder.href);
  check(expected, expected);
  check(await run(deno, 'run', '--no-lock', '--allow-read', use, folder.href), expected);
  const types = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
  const server = createServer((request, answer) => {
    const path = new URL(request.url.slice(1), folder);
    answer.writeHead(200, { 'content-type': types[extname(path.pathname)] ?? 'text/plain' }).end(readFileSync(path));
  });
  await new Promise(done => server.listen(0, '127.0.0.1', done));
  try {
    const base = `http://127.0.0.1:${server.address().port}/`;
    check(await run(deno, 'run', '--no-lock', '--reload', '--allow-read', '--allow-net', '--allow-import', use, base), expected);
  } finally {
    server.close();
  }
});

test('the second part of the module: where it is, and an error where it is not or is of another build', async () => {
  const [x, y] = [[0.5, 1, 2, 4, 8, 16], [1.9, 3.1, 4.6, 5.9, 6.9, 7.4]];
  // The first part has what this fit needs, but no profiles.
  const options = { x, y, formula: 'v*x/(k + x)', start: { v: 5 } };
  const bytes = name => readFileSync(new URL(name, folder));
  const away = mkdtempSync(join(tmpdir(), 'parts-'));
  try {
    copyFileSync(new URL('marquardt.wasm', folder), join(away, 'own.wasm'));
    setModule(pathToFileURL(join(away, 'own.wasm')));
    const found = await fit(options);
    assert.throws(() => found.profile('k'), error => error instanceof EngineError && /own-rest\.wasm/.test(error.message));
    // The instance was given up; the next request has a new one.
    copyFileSync(new URL('marquardt-rest.wasm', folder), join(away, 'own-rest.wasm'));
    assert((await fit(options)).profile('k').low < found.value('k'));
  } finally {
    rmSync(away, { recursive: true });
  }
  setModule(bytes('marquardt.wasm'), bytes('marquardt-rest.wasm'));
  const { high } = (await fit(options)).profile('k');
  if (readdirSync(folder).includes('marquardt-plain-rest.wasm')) {
    setModule(bytes('marquardt.wasm'), bytes('marquardt-plain-rest.wasm'));
    const found = await fit(options);
    assert.throws(() => found.profile('k'), EngineError);
    setModule(bytes('marquardt-plain.wasm'), bytes('marquardt-plain-rest.wasm'));
    assert(Math.abs((await fit(options)).profile('k').high / high - 1) < 1e-6);
  }
  setModule(null);
});
