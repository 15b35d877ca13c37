//! Independent pieces of work, on all cores where the feature `rayon` is on.

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

/// Does `work` on each of these, one after the other to whoever is free.
#[cfg(feature = "rayon")]
pub(crate) fn for_each<I: Send>(items: Vec<I>, work: impl Fn(I) + Send + Sync) {
    use rayon::prelude::*;
    items.into_par_iter().with_max_len(1).for_each(work);
}

/// Does `work` on each of these.
#[cfg(not(feature = "rayon"))]
pub(crate) fn for_each<I: Send>(items: Vec<I>, work: impl Fn(I) + Send + Sync) {
    items.into_iter().for_each(work);
}

/// How many threads there are.
#[cfg(feature = "rayon")]
pub(crate) fn threads() -> usize {
    rayon::current_num_threads()
}

/// How many threads there are.
#[cfg(not(feature = "rayon"))]
pub(crate) fn threads() -> usize {
    1
}
