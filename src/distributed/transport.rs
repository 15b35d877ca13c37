//! What carries numbers from rank to rank.

use super::CommunicatorError;

/// What carries numbers from rank to rank. All ranks call the same method at the same time.
pub trait Transport: Send + Sync {
    /// Which rank this is.
    fn rank(&self) -> usize;

    /// How many ranks there are.
    fn size(&self) -> usize;

    /// Replaces numbers by their sums over all ranks, to the same bits on every rank. All ranks have as many.
    fn all_sum_f64(&self, numbers: &mut [f64]) -> Result<(), CommunicatorError>;

    /// As [`all_sum_f64`](Self::all_sum_f64).
    fn all_sum_f32(&self, numbers: &mut [f32]) -> Result<(), CommunicatorError>;

    /// What each rank has to say, by rank.
    fn all_gather(&self, bytes: &[u8]) -> Result<Vec<Vec<u8>>, CommunicatorError>;
}

/// A number that can be sent. Implemented for the floats, and sealed with [`Real`](crate::Real).
pub trait Message: Copy {
    /// Sums over all ranks.
    #[doc(hidden)]
    fn all_sum(transport: &dyn Transport, numbers: &mut [Self]) -> Result<(), CommunicatorError>
    where
        Self: Sized;

    /// Appends the bytes of numbers.
    #[doc(hidden)]
    fn write(numbers: &[Self], bytes: &mut Vec<u8>)
    where
        Self: Sized;

    /// Appends the numbers of bytes.
    #[doc(hidden)]
    fn read(bytes: &[u8], numbers: &mut Vec<Self>)
    where
        Self: Sized;
}

macro_rules! float_is_message {
    ($float:ident, $all_sum:ident) => {
        impl Message for $float {
            fn all_sum(transport: &dyn Transport, numbers: &mut [$float]) -> Result<(), CommunicatorError> {
                transport.$all_sum(numbers)
            }

            fn write(numbers: &[$float], bytes: &mut Vec<u8>) {
                bytes.reserve(size_of_val(numbers));
                numbers.iter().for_each(|number| bytes.extend_from_slice(&number.to_ne_bytes()));
            }

            fn read(bytes: &[u8], numbers: &mut Vec<$float>) {
                numbers.extend(bytes.as_chunks().0.iter().map(|&bytes| $float::from_ne_bytes(bytes)));
            }
        }
    };
}

float_is_message!(f32, all_sum_f32);
float_is_message!(f64, all_sum_f64);
