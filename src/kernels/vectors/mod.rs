//! Single vector registers, for kernels that allocate registers themselves.
//!
//! A [`VectorKernel`] is written once over any [`Vector`], and [`Vectors::run_in_vectors`] calls the copy of it for the
//! [`Registers`] in use.

pub(super) mod portable;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::cell::RefCell;

#[cfg(feature = "faer")]
use faer::traits::ComplexField as Field;

use super::registers::Registers;
use crate::real::Real;

/// Floats side by side, in one register. Every function is `#[inline(always)]`.
pub(super) trait Vector<T>: Copy {
    /// Number of lanes.
    const LANES: usize;

    /// The same value in all lanes.
    fn splat(value: T) -> Self;
    /// The first entries of a slice, which has enough of them.
    fn load(entries: &[T]) -> Self;
    /// Overwrites the first entries of a slice, which has enough of them.
    fn store(self, entries: &mut [T]);
    /// Loads all entries of a slice of at most [`LANES`](Self::LANES), and zeros.
    fn load_few(entries: &[T]) -> Self;
    /// Overwrites all entries of a slice of at most [`LANES`](Self::LANES).
    fn store_few(self, entries: &mut [T]);
    /// Brings the first entries to the first-level cache.
    fn prefetch(entries: &[T]);
    /// `self + other`.
    fn add(self, other: Self) -> Self;
    /// `self − other` where `self` is not zero; zero elsewhere.
    fn sub_unless_zero(self, other: Self) -> Self;
    /// `self · a + b`, rounded once where there is an instruction for it.
    fn mul_add(self, a: Self, b: Self) -> Self;
}

/// Work to be done in registers of the float `T`.
pub(super) trait VectorKernel<T: Real> {
    /// Runs the kernel. A tile of `TALL` rows of `WIDE` registers, two or three, leaves registers for its factors; one of `SHORT` rows
    /// is for the remaining rows. Implementations must be `#[inline(always)]`.
    fn run<V: Vector<T>, const TALL: usize, const SHORT: usize, const WIDE: usize>(self);
}

/// Floats that fill registers.
pub(super) trait Vectors: Real + Field {
    /// Runs a kernel in the registers in use.
    fn run_in_vectors(kernel: impl VectorKernel<Self>);

    /// Lends memory that the thread keeps.
    fn with_scratch(work: impl FnOnce(&mut Vec<Self>));
}

macro_rules! vectors {
    ($float:ident, $avx512:ident, $avx2:ident, $portable:literal) => {
        impl Vectors for $float {
            fn run_in_vectors(kernel: impl VectorKernel<$float>) {
                match Registers::of_arrays() {
                    #[cfg(target_arch = "x86_64")]
                    Registers::Avx512 => x86::run_with_avx512::<$float, x86::$avx512>(kernel),
                    #[cfg(target_arch = "x86_64")]
                    Registers::Avx2 => x86::run_with_avx2::<$float, x86::$avx2>(kernel),
                    _ => kernel.run::<portable::PortableVector<$float, $portable>, 4, 4, 3>(),
                }
            }

            fn with_scratch(work: impl FnOnce(&mut Vec<$float>)) {
                thread_local! {
                    static SCRATCH: RefCell<Vec<$float>> = const { RefCell::new(Vec::new()) };
                }
                SCRATCH.with_borrow_mut(work);
            }
        }
    };
}

vectors!(f32, Singles512, Singles256, 4);
vectors!(f64, Doubles512, Doubles256, 2);

/// The floats that faer computes in, where that is there.
#[cfg(not(feature = "faer"))]
pub(super) trait Field {}

#[cfg(not(feature = "faer"))]
impl<T> Field for T {}
