//! Where work is done: on the calling thread if it is short, or else on threads of the package's own while the caller looks for signals.

use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::runtime_error;

/// Rows times squared parameters of work that is short: milliseconds at most for a fit.
const SHORT: usize = 40_000;

/// Time between two looks for signals.
const LOOK: Duration = Duration::from_millis(50);

/// Whether work of so many rows and parameters is done on the calling thread.
pub fn is_short(rows: usize, parameters: usize) -> bool {
    rows * parameters.max(1).pow(2) <= SHORT
}

/// Keeps all work of the calling thread on this thread, by a pool that it makes up alone. A function of the user is then called by nobody
/// else, and a process that was forked waits for no thread that it has not.
pub fn stay_on_this_thread() {
    thread_local! {
        static IS_POOL: Cell<bool> = const { Cell::new(false) };
    }
    IS_POOL.with(|is_pool| {
        if !is_pool.replace(true) {
            // The pool belongs to the thread for as long as both live. A thread of another pool stays where it is.
            ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().map(std::mem::forget).ok();
        }
    });
}

/// Pools by process and number of threads.
type Pools = HashMap<(u32, usize), Arc<ThreadPool>>;

/// The pool of this many threads of this process; 0 for one to a core. A process that was forked has new ones.
fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
    let key = (std::process::id(), threads);
    let mut pools = POOLS.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let pools = pools.get_or_insert_default();
    if let Some(pool) = pools.get(&key) {
        return Ok(Arc::clone(pool));
    }
    let pool = Arc::new(ThreadPoolBuilder::new().num_threads(threads).build().map_err(runtime_error)?);
    // Pools are kept, as threads that a fork has left behind cannot be ended.
    pools.insert(key, Arc::clone(&pool));
    Ok(pool)
}

/// Result that one thread waits for.
struct Slot<R>(Mutex<Option<std::thread::Result<R>>>, Condvar);

/// Does short work here.
pub fn here<R: Send>(py: Python<'_>, work: impl FnOnce() -> R + Send) -> R {
    stay_on_this_thread();
    py.detach(work)
}

/// Does work on so many threads (0 for one to a core), and calls `cancel` and raises the exception where a signal comes before it ends.
/// The work then ends by itself, unseen.
pub fn elsewhere<R: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    cancel: impl FnOnce(),
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    watched(py, threads, cancel, || Ok(()), work)
}

/// Does work here, or elsewhere.
pub fn placed<R: Send + 'static>(
    py: Python<'_>,
    is_here: bool,
    threads: usize,
    cancel: impl FnOnce(),
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    if is_here { Ok(here(py, work)) } else { elsewhere(py, threads, cancel, work) }
}

/// Does work as [`elsewhere`] does, and calls `look` on the calling thread from time to time, whose error ends it, too.
pub fn watched<R: Send + 'static>(
    py: Python<'_>,
    threads: usize,
    cancel: impl FnOnce(),
    mut look: impl FnMut() -> PyResult<()>,
    work: impl FnOnce() -> R + Send + 'static,
) -> PyResult<R> {
    let slot = Arc::new(Slot(Mutex::new(None), Condvar::new()));
    let of_worker = Arc::clone(&slot);
    pool(threads)?.spawn(move || {
        let result = catch_unwind(AssertUnwindSafe(work));
        *of_worker.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(result);
        of_worker.1.notify_all();
    });
    loop {
        let result = py.detach(|| {
            let result = slot.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            let waited = slot.1.wait_timeout_while(result, LOOK, |result| result.is_none());
            waited.map_or_else(|poisoned| poisoned.into_inner().0.take(), |(mut result, _)| result.take())
        });
        match result {
            Some(Ok(result)) => return Ok(result),
            Some(Err(_)) => return Err(runtime_error("the engine panicked; please report this")),
            None => {}
        }
        if let Err(interruption) = py.check_signals().and_then(|()| look()) {
            cancel();
            return Err(interruption);
        }
    }
}
