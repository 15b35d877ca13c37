//! Ranks that are threads of one process.

use std::ops::AddAssign;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::{panic, thread};

use super::traffic::Counters;
use super::transport::{Exchange, Transport};
use super::{Communicator, CommunicatorError};
use crate::real::Real;

/// Runs `work` on `size` ranks, which are threads of this process, and returns the results by rank. Use it to test a program on several
/// ranks without MPI. See [`Communicator::threads`].
///
/// ```
/// use marquardt::distributed::{Communicator, on_threads};
///
/// let sums = on_threads(3, |ranks: Communicator| {
///     let mut numbers = [ranks.rank() as f64];
///     ranks.all_sum(&mut numbers).map(|()| numbers[0])
/// });
/// assert_eq!(sums, [Ok(3.0), Ok(3.0), Ok(3.0)]);
/// ```
///
/// # Panics
///
/// When `work` does on a rank; the other ranks end first. On a target without threads, such as `wasm32-unknown-unknown`.
pub fn on_threads<R: Send>(size: usize, work: impl Fn(Communicator) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let ranks = Communicator::threads(size).into_iter();
        let threads: Vec<_> = ranks.map(|rank| scope.spawn(move || work(rank))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic))).collect()
    })
}

/// One of several ranks that are threads of one process.
pub(super) struct Thread {
    rank: usize,
    size: usize,
    counters: Counters,
    table: Arc<Rendezvous>,
}

/// Shared state of an exchange: each rank leaves its numbers there and waits for the last of them.
struct Rendezvous {
    round: Mutex<Round>,
    complete: Condvar,
}

/// One exchange.
struct Round {
    number: u64,
    said: Vec<Option<(Exchange, Vec<u8>)>>,
    /// Result of the round before.
    last: Result<Arc<Vec<Vec<u8>>>, CommunicatorError>,
    /// The first rank that has.
    gone: Option<usize>,
}

impl Thread {
    /// Creates `size` ranks that share a table.
    pub(super) fn ranks(size: usize) -> impl Iterator<Item = Thread> {
        let round = Round { number: 0, said: vec![None; size], last: Ok(Arc::default()), gone: None };
        let table = Arc::new(Rendezvous { round: Mutex::new(round), complete: Condvar::new() });
        (0..size).map(move |rank| Thread { rank, size, counters: Counters::default(), table: Arc::clone(&table) })
    }

    /// Messages of all ranks, once the last of them has sent its own.
    fn exchange(&self, exchange: Exchange, bytes: Vec<u8>) -> Result<Arc<Vec<Vec<u8>>>, CommunicatorError> {
        let Rendezvous { round, complete } = &*self.table;
        let mut round = round.lock().unwrap_or_else(PoisonError::into_inner);
        round.said[self.rank] = Some((exchange, bytes));
        if round.said.iter().all(Option::is_some) {
            let (exchanges, said): (Vec<_>, Vec<_>) = round.said.iter_mut().filter_map(Option::take).unzip();
            round.last = Exchange::check(&exchanges).map(|()| Arc::new(said));
            round.number += 1;
            complete.notify_all();
            return round.last.clone();
        }
        let number = round.number;
        while round.number == number {
            if let Some(rank) = round.gone {
                return Err(CommunicatorError::Disconnected { rank });
            }
            round = complete.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
        round.last.clone()
    }

    /// Sums in the order of the ranks.
    fn all_sum<T: Real + AddAssign>(&self, exchange: Exchange, numbers: &mut [T]) -> Result<(), CommunicatorError> {
        let mut bytes = Vec::new();
        T::write_bytes(numbers, &mut bytes);
        let said = self.exchange(exchange, bytes)?;
        let mut others = Vec::new();
        for (rank, bytes) in said.iter().enumerate() {
            others.clear();
            T::read_bytes(bytes, &mut others);
            match rank {
                0 => numbers.copy_from_slice(&others),
                _ => numbers.iter_mut().zip(&others).for_each(|(sum, &number)| *sum += number),
            }
        }
        Ok(())
    }
}

impl Transport for Thread {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn counters(&self) -> &Counters {
        &self.counters
    }

    fn all_sum_f64(&self, numbers: &mut [f64]) -> Result<(), CommunicatorError> {
        self.all_sum(Exchange::SumF64(numbers.len()), numbers)
    }

    fn all_sum_f32(&self, numbers: &mut [f32]) -> Result<(), CommunicatorError> {
        self.all_sum(Exchange::SumF32(numbers.len()), numbers)
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError> {
        Ok(self.exchange(Exchange::Gather(bytes.len()), bytes.to_vec())?.to_vec())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut round = self.table.round.lock().unwrap_or_else(PoisonError::into_inner);
        round.gone.get_or_insert(self.rank);
        self.table.complete.notify_all();
    }
}
