import { EngineError, FitError } from './errors.js';

/** A module of one function with an instruction on registers of 128 bits; valid where the engine has these. */
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let source = null;
let compiled = null;
let current = null;

/**
 * Sets where the module comes from: a URL, bytes, a `Response` or a `WebAssembly.Module`. It is found beside this file unless said otherwise.
 */
export function setModule(from) {
  [source, compiled, current] = [from, null, null];
}

async function bytesBeside(name) {
  const url = new URL(name, import.meta.url);
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const { readFile } = await import('node:fs/promises');
    return readFile(url);
  }
  const answer = await fetch(url);
  if (!answer.ok) throw new EngineError(`${url} cannot be loaded: ${answer.status} ${answer.statusText}`);
  return answer.arrayBuffer();
}

async function compile() {
  const given = await source;
  if (given instanceof WebAssembly.Module) return given;
  if (given == null) {
    // Names in full, so that bundlers find the files.
    const file = WebAssembly.validate(SIMD) ? './marquardt.wasm' : './marquardt-plain.wasm';
    return WebAssembly.compile(await bytesBeside(file));
  }
  if (typeof given === 'string' || given instanceof URL) return WebAssembly.compile(await (await fetch(given)).arrayBuffer());
  if (typeof Response !== 'undefined' && given instanceof Response) return WebAssembly.compile(await given.arrayBuffer());
  return WebAssembly.compile(given);
}

/** An instance of the module. */
class Engine {
  constructor(module) {
    this.panic = null;
    this.progress = null;
    this.evaluate = null;
    this.thrown = null;
    const host = {
      host_progress: (done, total, cost) => (this.call(() => this.progress?.(done, total, cost)) ? 1 : 0),
      host_evaluate: (x, rows, b, count, y) => {
        const of = (address, length) => new Float64Array(this.exports.memory.buffer, address, length);
        return this.call(() => (this.evaluate(of(x, rows * this.width), of(b, count), of(y, rows)), true)) ? 0 : 1;
      },
      host_panic: (address, length) => { this.panic = this.text(address, length); },
    };
    this.exports = new WebAssembly.Instance(module, { host }).exports;
  }

  /** Calls a user's function; what it throws is thrown again when the request has ended. */
  call(of) {
    if (this.thrown) return false;
    try {
      return of();
    } catch (error) {
      this.thrown = { error };
      return false;
    }
  }

  text(address, length) {
    return decoder.decode(new Uint8Array(this.exports.memory.buffer, address, length));
  }

  /** Answers a request with arrays of numbers or bytes in slots; the first one is slot 1. */
  request(request, slots = []) {
    const { exports } = this;
    const put = (number, values) => {
      const address = exports.slot(number, values.byteLength);
      const from = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      new Uint8Array(exports.memory.buffer, address, values.byteLength).set(from);
    };
    put(0, encoder.encode(JSON.stringify(request)));
    slots.forEach((values, index) => values && put(index + 1, values));
    this.thrown = null;
    let isError;
    try {
      isError = exports.call() !== 0;
    } catch (error) {
      if (current === this) current = null;
      throw new EngineError(this.panic ?? String(error), { cause: error });
    }
    if (this.thrown) throw this.thrown.error;
    const text = this.text(exports.answer(), exports.answer_length());
    const answer = JSON.parse(text);
    if (isError) throw Object.assign(new FitError(answer.message), { line: answer.line, notes: answer.notes });
    const result = index => new Float64Array(exports.memory.buffer, exports.result(index), exports.result_length(index)).slice();
    return { answer, result };
  }
}

/** The instance of this thread. */
export async function engine() {
  if (!current) {
    compiled ??= compile().catch(error => { compiled = null; throw error; });
    const module = await compiled;
    current ??= new Engine(module);
  }
  return current;
}
