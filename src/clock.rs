//! The clock that limits and reports the time of a solve, where the target has one.

use std::time::{Duration, Instant};

/// False on `wasm32-unknown-unknown`, where the standard library panics if it is asked for the time.
pub(crate) const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// A measurement of time from its start; it stays at zero without a clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Starts to measure.
    #[inline]
    pub(crate) fn start() -> Self {
        Stopwatch(HAS_CLOCK.then(Instant::now))
    }

    /// Returns the time since the start.
    #[inline]
    pub(crate) fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}
