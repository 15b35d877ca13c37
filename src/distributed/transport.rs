//! Transport of numbers from rank to rank.

use std::marker::PhantomData;

use super::CommunicatorError;
use super::traffic::Counters;
use crate::precision::Compiled;
use crate::real::Real;

/// Transport of numbers from rank to rank. All ranks call the same method at the same time.
pub trait Transport: Send + Sync {
    /// Index of this rank, from 0.
    fn rank(&self) -> usize;

    /// Number of ranks.
    fn size(&self) -> usize;

    /// Traffic of this rank so far.
    fn counters(&self) -> &Counters;

    /// Replaces numbers by their sums over all ranks, to the same bits on every rank. All ranks have as many.
    fn all_sum_f64(&self, numbers: &mut [f64]) -> Result<(), CommunicatorError>;

    /// Sums numbers as [`all_sum_f64`](Self::all_sum_f64) does.
    fn all_sum_f32(&self, numbers: &mut [f32]) -> Result<(), CommunicatorError>;

    /// Messages of the ranks, by rank.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError>;
}

/// Kind of an exchange, and how much a rank brings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exchange {
    /// A sum of this number of `f64`.
    SumF64(usize),
    /// A sum of this number of `f32`.
    SumF32(usize),
    /// A gathering of this number of bytes from this rank.
    Gather(usize),
    /// A rank leaves for good.
    Leave,
}

impl Exchange {
    /// Number of bytes of the kind and the length.
    #[cfg(feature = "mpi")]
    pub(super) const BYTES: usize = 16;

    /// Encodes the exchange as bytes to send.
    #[cfg(feature = "mpi")]
    pub(super) fn to_bytes(self) -> [u8; Self::BYTES] {
        let (number, length) = match self {
            Exchange::SumF64(length) => (0, length),
            Exchange::SumF32(length) => (1, length),
            Exchange::Gather(length) => (2, length),
            Exchange::Leave => (3, 0),
        };
        (number | (length as u128) << 8).to_ne_bytes()
    }

    /// Decodes the bytes of [`to_bytes`](Self::to_bytes).
    #[cfg(feature = "mpi")]
    pub(super) fn from_bytes(bytes: [u8; Self::BYTES]) -> Exchange {
        let bytes = u128::from_ne_bytes(bytes);
        let length = (bytes >> 8) as usize;
        match bytes as u8 {
            0 => Exchange::SumF64(length),
            1 => Exchange::SumF32(length),
            2 => Exchange::Gather(length),
            _ => Exchange::Leave,
        }
    }

    /// Returns true if another rank's exchange is the same.
    fn fits(self, other: Exchange) -> bool {
        match (self, other) {
            (Exchange::Gather(_), Exchange::Gather(_)) => true,
            _ => self == other,
        }
    }

    /// Checks that all ranks, given in their order, take part in one exchange. The answer is the same on all of them.
    pub(super) fn check(ranks: &[Exchange]) -> Result<(), CommunicatorError> {
        if let Some(rank) = ranks.iter().position(|&exchange| exchange == Exchange::Leave) {
            return Err(CommunicatorError::Disconnected { rank });
        }
        match ranks.iter().position(|exchange| !exchange.fits(ranks[0])) {
            Some(other) => Err(CommunicatorError::CollectiveMismatch { rank: 0, other }),
            None => Ok(()),
        }
    }
}

/// Replaces numbers by their sums over all ranks.
pub(super) fn all_sum<T: Real>(transport: &dyn Transport, numbers: &mut [T]) -> Result<(), CommunicatorError> {
    struct AllSum<'a>(PhantomData<&'a ()>);

    impl<'a> Compiled for AllSum<'a> {
        type Call<T: Real> = (&'a dyn Transport, &'a mut [T]);
        type Output<T: Real> = Result<(), CommunicatorError>;

        fn in_single((transport, numbers): Self::Call<f32>) -> Self::Output<f32> {
            transport.all_sum_f32(numbers)
        }

        fn in_double((transport, numbers): Self::Call<f64>) -> Self::Output<f64> {
            transport.all_sum_f64(numbers)
        }
    }

    T::run_compiled::<AllSum>((transport, numbers))
}

#[cfg(test)]
mod tests {
    use super::Exchange::{self, Gather, Leave, SumF32, SumF64};
    use crate::distributed::CommunicatorError::{CollectiveMismatch, Disconnected};

    #[test]
    fn all_ranks_take_part_in_one_exchange() {
        assert_eq!(Exchange::check(&[SumF64(3), SumF64(3), SumF64(3)]), Ok(()));
        assert_eq!(Exchange::check(&[Gather(3), Gather(0), Gather(7)]), Ok(()));
        assert_eq!(Exchange::check(&[SumF64(3), SumF64(3), SumF64(4)]), Err(CollectiveMismatch { rank: 0, other: 2 }));
        assert_eq!(Exchange::check(&[SumF64(3), SumF32(3), SumF64(4)]), Err(CollectiveMismatch { rank: 0, other: 1 }));
        assert_eq!(Exchange::check(&[SumF64(3), Gather(24), SumF64(3)]), Err(CollectiveMismatch { rank: 0, other: 1 }));
        assert_eq!(Exchange::check(&[SumF64(3), Leave, Leave]), Err(Disconnected { rank: 1 }));
    }

    #[cfg(feature = "mpi")]
    #[test]
    fn what_an_exchange_is_can_be_sent() {
        for exchange in [SumF64(0), SumF64(usize::MAX), SumF32(258), Gather(usize::MAX / 3), Leave] {
            assert_eq!(Exchange::from_bytes(exchange.to_bytes()), exchange);
        }
    }
}
