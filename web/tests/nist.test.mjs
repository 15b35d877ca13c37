import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { fit } from '../package/index.js';
import { FORMULAS, digits, load } from './nist.mjs';

const native = JSON.parse(readFileSync(new URL('nist-native.json', import.meta.url), 'utf8'));

test('all 54 runs of NIST are solved, with the digits of the native command', async () => {
  let solved = 0;
  let worst = 0;
  for (const name of Object.keys(FORMULAS)) {
    const { formula, x, y, starts, certified } = load(name);
    for (const [run, start] of starts.entries()) {
      const found = await fit({ x, y, formula, start });
      const values = certified.map((_, i) => found.value(`b${i + 1}`));
      const own = digits(values, certified);
      assert(found.converged, `${name} from start ${run + 1}: ${found.status}`);
      assert(own > 6, `${name} from start ${run + 1}: ${own} digits`);
      solved += 1;
      values.forEach((value, i) => {
        const expected = native[name][run].values[i];
        const distance = Math.abs(value - expected) / Math.abs(expected);
        worst = Math.max(worst, distance);
        assert(distance <= 1e-12, `${name} from start ${run + 1}: b${i + 1} is ${value}, natively ${expected}`);
      });
      found.free();
    }
  }
  assert.equal(solved, 54);
  console.log(`nist: solved ${solved}/54, largest relative distance from native ${worst}`);
});
