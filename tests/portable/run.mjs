// Runs the trials in WebAssembly: `node run.mjs portable.wasm`. Fails if one of them does.
import { readFileSync } from "node:fs";

let exports;
const print = (start, length) =>
    console.log(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, start, length)));
const { instance } = await WebAssembly.instantiate(readFileSync(process.argv[2]), { host: { print } });
exports = instance.exports;
process.exitCode = exports.main(0, 0);
