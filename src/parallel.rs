//! Independent pieces of work, on all cores where the feature `rayon` is on.

use std::ops::Range;

/// Most parts that work is divided into where the parts are to be summed.
const MOST_PARTS: usize = 16;

/// Divides `0..count` into parts of at least `fewest`. The parts, and sums over them, do not depend on the number of threads.
pub(crate) fn parts(count: usize, fewest: usize) -> impl ExactSizeIterator<Item = Range<usize>> {
    let parts = (count / fewest).clamp(1, MOST_PARTS);
    (0..parts).map(move |part| count * part / parts..count * (part + 1) / parts)
}

/// The results of `work` for `0..count`, in that order whatever the number of threads.
#[cfg(feature = "rayon")]
pub(crate) fn map<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    use rayon::prelude::*;
    (0..count).into_par_iter().map(&work).collect()
}

/// The results of `work` for `0..count`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn map<R: Send>(count: usize, work: impl Fn(usize) -> R + Sync) -> Vec<R> {
    (0..count).map(work).collect()
}

/// Runs `work` on each item; free threads take the next one.
#[cfg(feature = "rayon")]
pub(crate) fn for_each<I: Send>(items: Vec<I>, work: impl Fn(I) + Send + Sync) {
    use rayon::prelude::*;
    if items.len() < 2 {
        return items.into_iter().for_each(work);
    }
    items.into_par_iter().with_max_len(1).for_each(work);
}

/// Runs `work` on each item.
#[cfg(not(feature = "rayon"))]
pub(crate) fn for_each<I: Send>(items: Vec<I>, work: impl Fn(I) + Send + Sync) {
    items.into_iter().for_each(work);
}

/// Runs two pieces of work.
#[cfg(feature = "rayon")]
pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    rayon::join(a, b);
}

/// Runs two pieces of work.
#[cfg(not(feature = "rayon"))]
pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    a();
    b();
}

/// Runs `work` on each item, without taking memory.
pub(crate) fn for_each_mut<I: Send>(items: &mut [I], work: &(impl Fn(&mut I) + Sync)) {
    match items {
        [] => {}
        [item] => work(item),
        _ => {
            let (before, behind) = items.split_at_mut(items.len() / 2);
            join(|| for_each_mut(before, work), || for_each_mut(behind, work));
        }
    }
}

/// Runs `work` on a thread of the pool, so that its many [joins](join) do not enter the pool each time.
#[cfg(feature = "rayon")]
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::scope(|_| work())
}

/// Runs `work`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    work()
}

/// Number of threads.
#[cfg(feature = "rayon")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// Number of threads.
#[cfg(not(feature = "rayon"))]
pub(crate) fn threads() -> usize {
    1
}
