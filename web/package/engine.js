import { EngineError, FitError } from './errors.js';

/** A module of one function with an instruction on registers of 128 bits; valid where the engine has these. */
const SIMD = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253, 98, 11]);

const encoder = new TextEncoder();
const decoder = new TextDecoder();

let source = null;
let compiled = null;
let current = null;

/** The part of the module that first fits do not call: where it is, what of it was compiled, and a compilation under way. */
let rest = { source: null, module: null, coming: null };

/**
 * Sets where the module comes from: a URL, bytes, a `Response` or a `WebAssembly.Module`; and where its second part does, which is loaded when
 * one of its functions is called. Both are found beside this file unless said otherwise; beside the first part, if that is a URL.
 */
export function setModule(from, restFrom = null) {
  [source, compiled, current] = [from, null, null];
  const isUrl = typeof from === 'string' || from instanceof URL;
  const beside = isUrl ? String(from).replace(/\.wasm(?=$|[?#])/, '-rest.wasm') : '';
  rest = { source: restFrom ?? (isUrl && beside !== String(from) ? new URL(beside, globalThis.location?.href) : null), module: null, coming: null };
}

let files = null;

/** Beside this file, the parts of the module that the engine can run; names in full, so that bundlers find the files. */
const isPlain = () => !WebAssembly.validate(SIMD);
const first = () => (isPlain() ? new URL('./marquardt-plain.wasm', import.meta.url) : new URL('./marquardt.wasm', import.meta.url));
const second = () => (isPlain() ? new URL('./marquardt-plain-rest.wasm', import.meta.url) : new URL('./marquardt-rest.wasm', import.meta.url));

async function compile(from) {
  const given = await from;
  if (given instanceof WebAssembly.Module) return given;
  const isUrl = typeof given === 'string' || given instanceof URL;
  if (!isUrl && !(typeof Response !== 'undefined' && given instanceof Response)) return WebAssembly.compile(given);
  if (isUrl && String(given).startsWith('file:') && globalThis.process?.versions?.node) {
    files ??= await import('node:fs');
    return WebAssembly.compile(files.readFileSync(new URL(given)));
  }
  const answer = isUrl ? await fetch(given) : given;
  if (!answer.ok) throw new EngineError(`${answer.url} cannot be loaded: ${answer.status} ${answer.statusText}`);
  // What is compiled from an answer of this type is kept by browsers, compiled.
  return answer.headers.get('content-type') === 'application/wasm' ? WebAssembly.compileStreaming(answer) : WebAssembly.compile(await answer.arrayBuffer());
}

/** Loads the second part, so that nothing has to wait for it later. */
export async function prepare() {
  const own = rest;
  own.coming ??= compile(own.source ?? second()).then(module => { own.module = module; }, error => { own.coming = null; throw error; });
  return own.coming;
}

/** The second part, at once: a function of it was called. */
function restNow() {
  if (rest.module) return rest.module;
  const given = rest.source ?? second();
  const isUrl = typeof given === 'string' || given instanceof URL;
  if (given instanceof WebAssembly.Module || !isUrl) return (rest.module = given instanceof WebAssembly.Module ? given : new WebAssembly.Module(given));
  if (files && String(given).startsWith('file:')) return (rest.module = new WebAssembly.Module(files.readFileSync(new URL(given))));
  const request = new XMLHttpRequest();
  request.open('GET', given, false);
  request.overrideMimeType('text/plain; charset=x-user-defined');
  request.send();
  if (request.status >= 400) throw new EngineError(`${given} cannot be loaded: ${request.status} ${request.statusText}`);
  return (rest.module = new WebAssembly.Module(Uint8Array.from(request.responseText, letter => letter.charCodeAt(0))));
}

/** Files are read, and browsers ask their servers, without a promise; elsewhere the second part is loaded with the first. */
const canWait = () => files !== null || typeof XMLHttpRequest !== 'undefined';

/** What the parts of one build share has the same name in both; undefined for a module in one part. */
const nameOfRest = module => WebAssembly.Module.imports(module).map(one => one.name).find(name => name.startsWith('rest '));

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
    const name = nameOfRest(module);
    if (name) host[name] = () => { new WebAssembly.Instance(restNow(), { [name]: this.exports, host }); };
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
      if (error instanceof EngineError) throw error;
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
    compiled ??= compile(source ?? first()).catch(error => { compiled = null; throw error; });
    const module = await compiled;
    if (!canWait() && nameOfRest(module)) await prepare();
    current ??= new Engine(module);
  }
  return current;
}
