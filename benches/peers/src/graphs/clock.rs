//! Time of a solve.

use std::time::{Duration, Instant};

use cpu_time::ProcessTime;

/// Time by the clock on the wall, and by the processors.
#[derive(Clone, Copy)]
pub struct Time {
    pub elapsed: Duration,
    /// CPU time of all threads of the process.
    pub cpu: Duration,
}

/// Result of a solve, with its time.
pub fn timed<R>(solve: impl FnOnce() -> R) -> (R, Time) {
    let (begin, cpu) = (Instant::now(), ProcessTime::now());
    let result = solve();
    (result, Time { elapsed: begin.elapsed(), cpu: cpu.elapsed() })
}
