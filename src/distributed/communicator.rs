//! The ranks that work on one problem, as one of them sees them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::launcher::{Launch, launch};
#[cfg(feature = "mpi")]
use super::mpi::Mpi;
use super::threads::Thread;
use super::transport::{Transport, all_sum};
use super::{CommunicatorError, Traffic};
use crate::checksum::checksum;
use crate::real::Real;

/// Communicator of one rank with the other ranks that work on the same problem. A clone is the same rank.
///
/// # Order
///
/// Some methods are collective: all ranks must call them, in the same order, and each waits for the others. The same holds for all
/// functions with a communicator, such as a solve of a [`Sharded`](crate::problem::Sharded) problem. A rank that drops its last
/// communicator has left; ranks that wait for it then get an error. Use [`agree`](Self::agree) to decide whether all continue. Any thread
/// of a rank may communicate, but only one at a time.
#[derive(Clone)]
pub struct Communicator(Option<Arc<dyn Transport>>);

impl Communicator {
    /// A single rank: all results are as without a communicator.
    pub fn single() -> Self {
        Communicator(None)
    }

    /// The ranks that the program was started as: by `mpirun`, `mpiexec` or `srun`, with the feature `mpi`. A program that
    /// was started without them is a rank alone, and MPI is not initialised.
    ///
    /// All ranks call it. While a communicator lives, it returns the same again; when the last is dropped, MPI ends.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`], for example if several ranks were started that cannot reach each other. Without this error, each would solve
    /// the whole problem.
    pub fn world() -> Result<Self, CommunicatorError> {
        match launch() {
            None | Some(Launch::Ranks(1)) => Ok(Self::single()),
            Some(launch) => Self::launched(launch),
        }
    }

    #[cfg(feature = "mpi")]
    fn launched(_: Launch) -> Result<Self, CommunicatorError> {
        Self::mpi()
    }

    #[cfg(not(feature = "mpi"))]
    fn launched(launch: Launch) -> Result<Self, CommunicatorError> {
        match launch.ranks() {
            1 => Ok(Self::single()),
            ranks => Err(CommunicatorError::WithoutMpi { ranks }),
        }
    }

    /// The ranks of MPI's world: as [`world`](Self::world), for programs started in a way that it does not recognise. MPI
    /// is initialised in any case.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`].
    #[cfg(feature = "mpi")]
    pub fn mpi() -> Result<Self, CommunicatorError> {
        Ok(Communicator(Some(Mpi::world()?)))
    }

    /// Creates ranks for threads of this process, one for each thread, to test a program on several ranks without MPI.
    /// [`on_threads`](super::on_threads) also starts the threads.
    pub fn threads(size: usize) -> Vec<Self> {
        Thread::ranks(size).map(|thread| Communicator(Some(Arc::new(thread)))).collect()
    }

    /// Transport to the other ranks, if there are any.
    pub(super) fn transport(&self) -> Option<&dyn Transport> {
        self.0.as_deref().filter(|transport| transport.size() > 1)
    }

    /// Index of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.0.as_ref().map_or(0, |transport| transport.rank())
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.0.as_ref().map_or(1, |transport| transport.size())
    }

    /// Returns true if this is rank 0, which prints, draws and writes files.
    pub fn is_root(&self) -> bool {
        self.rank() == 0
    }

    /// Traffic of this rank in the exchanges so far. A rank alone brings nothing.
    pub fn traffic(&self) -> Traffic {
        self.0.as_ref().map_or_else(Traffic::default, |transport| transport.counters().read())
    }

    /// Returns the range of this rank's rows, if `rows` are distributed evenly.
    pub fn shard(&self, rows: usize) -> Range<usize> {
        let start = |rank: usize| rank * (rows / self.size()) + rank.min(rows % self.size());
        start(self.rank())..start(self.rank() + 1)
    }

    /// Replaces numbers by their sums over all ranks, to the same bits on every rank. Collective.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`].
    pub fn all_sum<T: Real>(&self, numbers: &mut [T]) -> Result<(), CommunicatorError> {
        let Some(transport) = self.transport() else { return Ok(()) };
        transport.counters().sum(numbers.len());
        all_sum(transport, numbers)
    }

    /// The numbers of every rank, by rank; there may be more on one than on another. Collective.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`].
    pub fn all_gather<T: Real>(&self, numbers: &[T]) -> Result<Vec<Vec<T>>, CommunicatorError> {
        let Some(transport) = self.transport() else { return Ok(vec![numbers.to_vec()]) };
        let mut bytes = Vec::new();
        T::write_bytes(numbers, &mut bytes);
        let read = |bytes: Vec<u8>| {
            let mut numbers = Vec::with_capacity(bytes.len() / size_of::<T>());
            T::read_bytes(&bytes, &mut numbers);
            numbers
        };
        Ok(gather(transport, &bytes)?.into_iter().map(read).collect())
    }

    /// Replaces numbers by those of rank 0. All ranks have as many. Collective.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`].
    pub fn broadcast<T: Real>(&self, numbers: &mut [T]) -> Result<(), CommunicatorError> {
        let Some(transport) = self.transport() else { return Ok(()) };
        let counts = gather(transport, &numbers.len().to_ne_bytes())?;
        if let Some(other) = counts.iter().position(|count| *count != counts[0]) {
            return Err(CommunicatorError::CollectiveMismatch { rank: 0, other });
        }
        let said = self.all_gather(if self.is_root() { &*numbers } else { &[] })?;
        numbers.copy_from_slice(&said[0]);
        Ok(())
    }

    /// Returns the lowest rank whose numbers differ from those of rank 0, in a bit or in their count; `None` if all are the same. Only a
    /// few bytes are sent, for any count. Collective.
    ///
    /// # Errors
    ///
    /// [`CommunicatorError`].
    pub fn first_to_differ<T: Real>(&self, numbers: &[T]) -> Result<Option<usize>, CommunicatorError> {
        let Some(transport) = self.transport() else { return Ok(None) };
        let mut bytes = Vec::new();
        T::write_bytes(numbers, &mut bytes);
        let said = gather(transport, &checksum(&bytes).to_ne_bytes())?;
        Ok(said.iter().position(|sum| *sum != said[0]))
    }
}

/// Messages of the ranks, by rank.
pub(super) fn gather(transport: &dyn Transport, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError> {
    transport.counters().gather(bytes.len());
    transport.all_gather(bytes)
}

impl fmt::Debug for Communicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}
