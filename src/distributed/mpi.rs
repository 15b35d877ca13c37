//! Ranks that are processes, on one machine or many, by MPI.

use std::mem;
use std::ops::AddAssign;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use mpi::collective::SystemOperation;
use mpi::datatype::PartitionMut;
use mpi::environment::{self, Universe};
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Equivalence};
use mpi::{Count, Threading};

use super::CommunicatorError;
use super::launcher::{Launch, launch};
use super::traffic::Counters;
use super::transport::{Exchange, Transport};
use crate::real::Real;

/// MPI's world, as long as someone has a handle to it.
static WORLD: Mutex<Weak<Mpi>> = Mutex::new(Weak::new());

/// Bytes of an envelope, a message of fixed size: an exchange begins with one from each rank.
const ENVELOPE: usize = 128;

/// Bytes of an envelope that are left for a message. Where all messages are that short, only envelopes are sent.
const SHORT: usize = ENVELOPE - Exchange::BYTES;

/// Numbers that a rank sums at a time, for all ranks: long messages are sent in pieces, for small buffers.
const SUMMED_AT_ONCE: usize = 1 << 13;

/// Bytes that all ranks together send at a time to each other, at most.
const GATHERED_AT_ONCE: usize = 1 << 22;

/// MPI's world, as this rank sees it.
pub(super) struct Mpi {
    rank: usize,
    size: usize,
    counters: Counters,
    world: Mutex<World>,
}

/// Resources that only one thread may have at a time.
struct World {
    /// The error that all exchanges end with, once a rank has left.
    end: Option<CommunicatorError>,
    envelope: [u8; ENVELOPE],
    envelopes: Vec<u8>,
    exchanges: Vec<Exchange>,
    sent: Vec<u8>,
    heard: Vec<u8>,
    f64: Buffers<f64>,
    f32: Buffers<f32>,
    universe: Universe,
}

/// Room for numbers, kept from sum to sum.
struct Buffers<T> {
    /// Numbers of all ranks.
    heard: Vec<T>,
    /// The sums that are this rank's to do.
    own: Vec<T>,
    /// Numbers, filled up to a multiple of the number of ranks.
    padded: Vec<T>,
}

impl Mpi {
    /// MPI's world: that of a handle that lives, or MPI is initialised.
    pub(super) fn world() -> Result<Arc<Mpi>, CommunicatorError> {
        let mut existing = WORLD.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = existing.upgrade() {
            return Ok(world);
        }
        if environment::is_finalized() {
            return Err(CommunicatorError::Finalized);
        }
        let initialized = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, provided) = initialized.ok_or(CommunicatorError::Initialized)?;
        if provided < Threading::Serialized {
            let provided = if provided == Threading::Single { "MPI_THREAD_SINGLE" } else { "MPI_THREAD_FUNNELED" };
            return Err(CommunicatorError::Threading { provided });
        }
        let world = universe.world();
        // Neither is negative.
        let (rank, size) = (world.rank() as usize, world.size() as usize);
        if let (1, Some(ranks @ 2..)) = (size, launch().map(Launch::ranks)) {
            return Err(CommunicatorError::UnconnectedRanks { ranks });
        }
        let world =
            Arc::new(Mpi { rank, size, counters: Counters::default(), world: Mutex::new(World::new(universe)) });
        *existing = Arc::downgrade(&world);
        Ok(world)
    }

    fn lock(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Transport for Mpi {
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
        self.lock().all_sum(Exchange::SumF64(numbers.len()), numbers, |world| &mut world.f64)
    }

    fn all_sum_f32(&self, numbers: &mut [f32]) -> Result<(), CommunicatorError> {
        self.lock().all_sum(Exchange::SumF32(numbers.len()), numbers, |world| &mut world.f32)
    }

    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError> {
        self.lock().all_gather(bytes)
    }
}

impl World {
    fn new(universe: Universe) -> Self {
        let size = universe.world().size() as usize;
        World {
            end: None,
            envelope: [0; ENVELOPE],
            envelopes: vec![0; ENVELOPE * size],
            exchanges: Vec::with_capacity(size),
            sent: Vec::new(),
            heard: Vec::new(),
            f64: Buffers::new(),
            f32: Buffers::new(),
            universe,
        }
    }

    /// Exchanges headers with all ranks, which detects ranks at different places of the program, and ranks that have left. Beside
    /// it is room for a short message.
    fn begin(&mut self, exchange: Exchange, message: &[u8]) -> Result<(), CommunicatorError> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        self.envelope[..Exchange::BYTES].copy_from_slice(&exchange.to_bytes());
        if let Some(room) = self.envelope[Exchange::BYTES..].get_mut(..message.len()) {
            room.copy_from_slice(message);
        }
        self.universe.world().all_gather_into(&self.envelope[..], &mut self.envelopes[..]);
        self.exchanges.clear();
        let headers = self.envelopes.chunks_exact(ENVELOPE).filter_map(|envelope| envelope.first_chunk().copied());
        self.exchanges.extend(headers.map(Exchange::from_bytes));
        let outcome = Exchange::check(&self.exchanges);
        if let Err(error @ CommunicatorError::Disconnected { .. }) = &outcome {
            self.end = Some(error.clone());
        }
        outcome
    }

    /// Message in the envelope of a rank.
    fn message(&self, rank: usize, length: usize) -> &[u8] {
        &self.envelopes[rank * ENVELOPE + Exchange::BYTES..][..length]
    }

    /// Every number is summed by one rank, and sent by it to all, or summed by all in the order of the ranks: the sums
    /// are the same bits everywhere.
    fn all_sum<T>(
        &mut self,
        exchange: Exchange,
        numbers: &mut [T],
        buffers: fn(&mut Self) -> &mut Buffers<T>,
    ) -> Result<(), CommunicatorError>
    where
        T: Real + Equivalence + AddAssign + Default,
    {
        let length = size_of_val(numbers);
        if length > SHORT {
            self.begin(exchange, &[])?;
            let (world, at_once) = (self.universe.world(), SUMMED_AT_ONCE * self.exchanges.len());
            numbers.chunks_mut(at_once).for_each(|piece| buffers(self).sum(&world, piece));
            return Ok(());
        }
        let mut message = mem::take(&mut self.sent);
        message.clear();
        T::write_bytes(numbers, &mut message);
        let begun = self.begin(exchange, &message);
        self.sent = message;
        begun?;
        let mut heard = mem::take(&mut buffers(self).heard);
        heard.clear();
        (0..self.exchanges.len()).for_each(|rank| T::read_bytes(self.message(rank, length), &mut heard));
        numbers.fill(T::default());
        for said in heard.chunks_exact(numbers.len().max(1)) {
            numbers.iter_mut().zip(said).for_each(|(sum, &number)| *sum += number);
        }
        buffers(self).heard = heard;
        Ok(())
    }

    fn all_gather(&mut self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError> {
        self.begin(Exchange::Gather(bytes.len()), bytes)?;
        let length = |&exchange: &Exchange| if let Exchange::Gather(length) = exchange { length } else { 0 };
        let lengths: Vec<usize> = self.exchanges.iter().map(length).collect();
        if lengths.iter().all(|&length| length <= SHORT) {
            return Ok(lengths.iter().enumerate().map(|(rank, &length)| self.message(rank, length).to_vec()).collect());
        }
        let world = self.universe.world();
        let at_once = (GATHERED_AT_ONCE / lengths.len()).max(1);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut said: Vec<Vec<u8>> = lengths.iter().map(|&length| Vec::with_capacity(length)).collect();
        let heard = &mut self.heard;
        for start in (0..longest).step_by(at_once) {
            let piece = |length: usize| start.min(length)..(start + at_once).min(length);
            // No more than `GATHERED_AT_ONCE` in sum.
            let counts: Vec<Count> = lengths.iter().map(|&length| piece(length).len() as Count).collect();
            let ends = counts.iter().scan(0, |end, &count| {
                *end += count;
                Some(*end)
            });
            let starts: Vec<Count> = ends.zip(&counts).map(|(end, &count)| end - count).collect();
            heard.resize(counts.iter().map(|&count| count as usize).sum(), 0);
            let own = &bytes[piece(bytes.len())];
            world.all_gather_varcount_into(own, &mut PartitionMut::new(&mut heard[..], &counts[..], &starts[..]));
            for (said, (&start, &count)) in said.iter_mut().zip(starts.iter().zip(&counts)) {
                said.extend_from_slice(&heard[start as usize..][..count as usize]);
            }
        }
        Ok(said)
    }
}

impl Drop for World {
    /// Says goodbye, so that a rank that wanted more of this one gets an error. One that panics takes all down with it:
    /// MPI would wait for the others, and they for it.
    fn drop(&mut self) {
        if thread::panicking() {
            self.universe.world().abort(1);
        }
        // Those that had left before, or leave now, are no concern of a rank that leaves.
        let _ = self.begin(Exchange::Leave, &[]);
    }
}

impl<T> Buffers<T> {
    fn new() -> Self {
        Buffers { heard: Vec::new(), own: Vec::new(), padded: Vec::new() }
    }
}

impl<T: Equivalence + Copy + Default> Buffers<T> {
    /// Each rank sums a part of the numbers for all.
    fn sum(&mut self, world: &SimpleCommunicator, numbers: &mut [T]) {
        let size = world.size() as usize;
        let part = numbers.len().div_ceil(size);
        self.own.resize(part, T::default());
        if numbers.len() == part * size {
            world.reduce_scatter_block_into(numbers, &mut self.own[..], SystemOperation::sum());
            world.all_gather_into(&self.own[..], numbers);
            return;
        }
        self.padded.clear();
        self.padded.extend_from_slice(numbers);
        self.padded.resize(part * size, T::default());
        world.reduce_scatter_block_into(&self.padded[..], &mut self.own[..], SystemOperation::sum());
        world.all_gather_into(&self.own[..], &mut self.padded[..]);
        numbers.copy_from_slice(&self.padded[..numbers.len()]);
    }
}
