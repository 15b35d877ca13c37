// The two parts of a module do what the whole does.
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { binaryen, split } from '../split.mjs';

const square = 'local.set $y (f64.add (f64.mul (local.get $y) (local.get $y)) (f64.mul (f64.const 0.5) (f64.sub (local.get $x) (local.get $y))))';

/** A function that leaves its blocks by all ways: for n = 0 by none of those with a sum of squares. */
const MODULE = `(module
  (import "host" "host_panic" (func $panic (param i32 i32)))
  (memory $memory 1) (export "memory" (memory $memory))
  (data $.rodata.text (i32.const 1024) "a text for later") (data $.rodata.more (i32.const 1040) "a text for both!")
  (table $table 1 1 funcref) (export "f" (func $f)) (export "letter" (func $letter))
  (func $letter (param $n i32) (result i32)
    (if (local.get $n) (then (return (i32.add (i32.load8_u (i32.add (i32.const 1024) (local.get $n))) (i32.load8_u (i32.add (i32.const 1025) (i32.mul (local.get $n) (i32.sub (local.get $n) (i32.const 1)))))))))
    (i32.load8_u (i32.const 1040)))
  (func $f (param $n i32) (param $x f64) (result f64) (local $y f64) (local $k i32) (local $z f64)
    (local.set $y (f64.add (local.get $x) (f64.const 1)))
    (local.set $z (block $value (result f64)
      (block $outer
        (loop $again
          (block $inner
            (br_if $inner (i32.eqz (local.get $n)))
            (${square})
            (local.set $k (i32.add (local.get $k) (i32.const 1)))
            (if (i32.eq (local.get $n) (i32.const 1)) (then (${square}) (${square}) (local.set $n (i32.const 2)) (br $again)))
            (if (i32.eq (local.get $n) (i32.const 3)) (then (${square}) (return (f64.add (local.get $y) (f64.convert_i32_s (local.get $k))))))
            (if (i32.eq (local.get $n) (i32.const 4)) (then (${square}) (br $value (f64.mul (local.get $y) (f64.const 3)))))
            (br_table $outer $inner $outer (i32.sub (local.get $n) (i32.const 5)))
          )
          (br_if $again (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 1))) (i32.const 5)))
        )
        (br $value (f64.add (local.get $x) (f64.convert_i32_s (local.get $k))))
      )
      (${square}) (${square})
      (if (result f64) (i32.gt_s (local.get $n) (i32.const 8)) (then (unreachable)) (else (f64.sub (local.get $y) (f64.convert_i32_s (local.get $k)))))
    ))
    (f64.sub (local.get $z) (local.get $y)))
)`;

test('blocks that were not run are called from the second part, and leave by the ways they had', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parts-'));
  try {
    const [text, whole, first, rest] = ['whole.wat', 'whole.wasm', 'first.wasm', 'rest.wasm'].map(name => join(folder, name));
    writeFileSync(text, MODULE);
    binaryen('wasm-as', [], text, '-g', '-o', whole);
    const host = { host_panic: () => {} };
    const compiled = path => new WebAssembly.Module(readFileSync(path));
    const expected = new WebAssembly.Instance(compiled(whole), { host }).exports;
    const act = async bytes => { const { f, letter } = new WebAssembly.Instance(new WebAssembly.Module(bytes), { host }).exports; f(0, 2); letter(0); };
    const { cold } = await split(whole, first, rest, [], act, async () => {});
    assert(cold >= 3, String(cold));
    let loads = 0;
    const name = WebAssembly.Module.imports(compiled(first)).find(one => one.name.startsWith('rest ')).name;
    const { exports } = new WebAssembly.Instance(compiled(first), { host: { ...host, [name]: () => { loads += 1; new WebAssembly.Instance(compiled(rest), { [name]: exports, host }); } } });
    assert.equal(exports.f(0, 2), expected.f(0, 2));
    assert.equal(exports.letter(0), expected.letter(0));
    assert.deepEqual([loads, Buffer.from(exports.memory.buffer, 1024, 32).toString()], [0, `${'\0'.repeat(16)}a text for both!`]);
    for (let n = 0; n < 9; n++) for (const x of [-1.5, 0, 0.3, 2]) assert.equal(exports.f(n, x), expected.f(n, x), `f(${n}, ${x})`);
    for (let n = 0; n < 4; n++) assert.equal(exports.letter(n), expected.letter(n), `letter(${n})`);
    assert.throws(() => exports.f(9, 0.3), WebAssembly.RuntimeError);
    assert.equal(loads, 1);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
