//! Ranks that are threads of one process.

use std::sync::{Arc, Condvar, Mutex, PoisonError};

use super::CommunicatorError;
use super::transport::{Message, Transport};

/// One of several ranks that are threads of one process.
pub(super) struct Thread {
    rank: usize,
    size: usize,
    table: Arc<Table>,
}

/// Where the ranks lay down what they have to say, and wait for the last of them.
struct Table {
    round: Mutex<Round>,
    complete: Condvar,
}

/// One exchange.
struct Round {
    number: u64,
    said: Vec<Option<Vec<u8>>>,
    /// What was said in the round before.
    last: Arc<Vec<Vec<u8>>>,
    gone: Option<usize>,
}

impl Thread {
    /// As many ranks as there are to be.
    pub(super) fn ranks(size: usize) -> impl Iterator<Item = Thread> {
        let round = Round { number: 0, said: vec![None; size], last: Arc::default(), gone: None };
        let table = Arc::new(Table { round: Mutex::new(round), complete: Condvar::new() });
        (0..size).map(move |rank| Thread { rank, size, table: Arc::clone(&table) })
    }

    fn exchange(&self, bytes: Vec<u8>) -> Result<Arc<Vec<Vec<u8>>>, CommunicatorError> {
        let Table { round, complete } = &*self.table;
        let mut round = round.lock().unwrap_or_else(PoisonError::into_inner);
        round.said[self.rank] = Some(bytes);
        if round.said.iter().all(Option::is_some) {
            round.last = Arc::new(round.said.iter_mut().filter_map(Option::take).collect());
            round.number += 1;
            complete.notify_all();
            return Ok(Arc::clone(&round.last));
        }
        let number = round.number;
        while round.number == number {
            if let Some(rank) = round.gone {
                return Err(CommunicatorError::Gone { rank });
            }
            round = complete.wait(round).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(Arc::clone(&round.last))
    }

    /// Sums in the order of the ranks.
    fn all_sum<T: Message + std::ops::AddAssign>(&self, numbers: &mut [T]) -> Result<(), CommunicatorError> {
        let mut bytes = Vec::new();
        T::write(numbers, &mut bytes);
        let said = self.exchange(bytes)?;
        let mut others = Vec::new();
        for (rank, bytes) in said.iter().enumerate() {
            others.clear();
            T::read(bytes, &mut others);
            if others.len() != numbers.len() {
                return Err(CommunicatorError::OutOfStep { rank: self.rank, other: rank });
            }
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

    fn all_sum_f64(&self, numbers: &mut [f64]) -> Result<(), CommunicatorError> {
        self.all_sum(numbers)
    }

    fn all_sum_f32(&self, numbers: &mut [f32]) -> Result<(), CommunicatorError> {
        self.all_sum(numbers)
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError> {
        Ok(self.exchange(bytes.to_vec())?.to_vec())
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        let mut round = self.table.round.lock().unwrap_or_else(PoisonError::into_inner);
        round.gone.get_or_insert(self.rank);
        self.table.complete.notify_all();
    }
}
