//! Ranks that are threads of this process.

use std::thread;

use marquardt::distributed::Communicator;

/// What `work` gives on each of so many ranks.
pub fn on_ranks<R: Send>(ranks: usize, work: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = Communicator::threads(ranks).into_iter().map(|rank| scope.spawn(|| work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a rank panicked")).collect()
    })
}
