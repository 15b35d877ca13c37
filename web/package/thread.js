import { engine } from './engine.js';
import * as marquardt from './index.js';

/** Time after which the second part of the module is loaded, in milliseconds: first fits have ended. */
const SECOND = 500;

// The module is compiled while the page says what is to be fitted; what goes wrong is said to the request that needs it.
engine().then(() => new Promise(done => setTimeout(done, SECOND))).then(marquardt.prepare).catch(() => {});

const port = typeof self === 'undefined' || !self.postMessage ? (await import('node:worker_threads')).parentPort : self;
const listen = act => (port.on ? port.on('message', act) : port.addEventListener('message', event => act(event.data)));

const PASSED = ['fitTable', 'compareTable', 'parseTable', 'guessTable', 'evaluate', 'models', 'parseFormula', 'fitMany'];

/** Time between two reports of progress, in milliseconds. */
const PAUSE = 60;

listen(async ({ id, name, args, reports }) => {
  try {
    if (!PASSED.includes(name)) throw new marquardt.FitError(`there is no function ${name}`);
    let last = 0;
    const onProgress = progress => {
      const now = performance.now();
      if (now - last > PAUSE) { last = now; port.postMessage({ id, progress }); }
    };
    const own = reports ? args.map((one, i) => (i === args.length - 1 ? { ...one, onProgress } : one)) : args;
    const value = await marquardt[name](...own);
    // Functions are not passed on.
    if (name === 'fitMany') delete value.parametersOf, delete value.standardErrorsOf;
    port.postMessage({ id, value });
  } catch (error) {
    const { name: kind, message, position, line, notes } = error;
    port.postMessage({ id, error: { name: kind, message, position, details: { line, notes } } });
  }
});
