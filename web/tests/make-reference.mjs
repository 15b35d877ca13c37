// Fits NIST's sets by the native command, and keeps the parameters: node tests/make-reference.mjs PROGRAM.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { FORMULAS, load } from './nist.mjs';

const folder = mkdtempSync(join(tmpdir(), 'nist-'));
const found = {};
for (const name of Object.keys(FORMULAS)) {
  const { formula, x, y, starts } = load(name);
  const rows = y.map((value, i) => [x[i], value].flat().join(','));
  const heading = Array.isArray(x[0]) ? 'x1,x2,y' : 'x,y';
  writeFileSync(join(folder, 'data.csv'), `${heading}\n${rows.join('\n')}\n`);
  found[name] = starts.map(start => {
    const given = Object.entries(start).map(([parameter, value]) => `${parameter}=${value}`).join(',');
    const text = execFileSync(process.argv[2], ['fit', 'data.csv', '--formula', formula, '--y', 'y', '--start', given, '--json'], { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    const { parameters, is_converged } = JSON.parse(text);
    return { converged: is_converged, values: Object.keys(start).map(parameter => parameters.find(one => one.name === parameter).value) };
  });
}
writeFileSync(new URL('nist-native.json', import.meta.url), `${JSON.stringify(found, null, 1).replace(/\n\s{5,}/g, ' ').replace(/\n\s+\]/g, ' ]')}\n`);
