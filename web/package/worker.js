import { EngineError, FitError, FormulaError } from './errors.js';

/**
 * Functions of the package in a thread of their own: `fitTable`, `compareTable`, `parseTable`, `guessTable`, `evaluate`, `models`, `parseFormula`
 * and `fitMany`. A signal ends a request at once, with its thread; the next request begins another one.
 */
export function createWorker(url = new URL('./thread.js', import.meta.url)) {
  const isNode = Boolean(globalThis.process?.versions?.node) && typeof Worker === 'undefined';
  let thread = null;
  let count = 0;
  const waiting = new Map();

  const settle = ({ id, progress, value, error }) => {
    const request = waiting.get(id);
    if (!request) return;
    if (progress) return void request.onProgress?.(progress);
    waiting.delete(id);
    if (!error) return request.resolve(value);
    const of = { FormulaError, FitError, EngineError }[error.name] ?? Error;
    request.reject(Object.assign(new of(error.message, error.position), error.details));
  };

  const fail = reason => {
    const all = [...waiting.values()];
    waiting.clear();
    thread = null;
    all.forEach(request => request.reject(reason));
  };

  const begin = async () => {
    if (isNode) {
      const { Worker: NodeWorker } = await import('node:worker_threads');
      const made = new NodeWorker(url);
      made.on('message', settle);
      made.on('error', error => fail(new EngineError(String(error))));
      made.unref();
      return made;
    }
    const made = new Worker(url, { type: 'module' });
    made.onmessage = event => settle(event.data);
    made.onerror = event => fail(new EngineError(event.message || 'the thread of the fits could not be started'));
    return made;
  };

  const started = () => {
    const made = begin();
    made.catch(() => { if (thread === made) thread = null; });
    return made;
  };
  // At once: it loads the module before the first request.
  thread = started();

  async function request(name, args, { signal, onProgress } = {}) {
    signal?.throwIfAborted();
    const made = await (thread ??= started());
    const id = ++count;
    return new Promise((resolve, reject) => {
      const abort = () => {
        waiting.delete(id);
        thread = null;
        made.terminate();
        fail(new EngineError('the thread was ended by the signal of another request'));
        reject(signal.reason);
      };
      const over = of => value => { signal?.removeEventListener('abort', abort); of(value); };
      signal?.addEventListener('abort', abort, { once: true });
      waiting.set(id, { resolve: over(resolve), reject: over(reject), onProgress });
      if (isNode) made.ref();
      made.postMessage({ id, name, args, reports: Boolean(onProgress) });
    }).finally(() => isNode && waiting.size === 0 && made.unref());
  }

  const ofData = name => (data, { signal, onProgress, ...options } = {}) => request(name, [data, options], { signal, onProgress });
  return {
    fitTable: ofData('fitTable'), compareTable: ofData('compareTable'), parseTable: ofData('parseTable'), guessTable: ofData('guessTable'),
    fitMany: ({ signal, onProgress, ...options }) => request('fitMany', [options], { signal, onProgress }),
    evaluate: options => request('evaluate', [options]), models: () => request('models', []), parseFormula: (...args) => request('parseFormula', args),
    terminate: async () => { (await thread)?.terminate(); thread = null; },
  };
}
