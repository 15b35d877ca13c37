import { createWorker } from '../package/worker.js';

/** The thread of the fits. It begins before the page is built: what loads longest is the module. */
export const worker = createWorker(new URL('./thread.js', location.href));
