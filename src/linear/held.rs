//! Variables that a linear system holds where they are.

use crate::problem::BoundSide;
use crate::real::Real;

/// The bound that each variable is held at, if any; empty where all are free.
pub(crate) type Held<'a> = &'a [Option<BoundSide>];

/// Variable `j` is held.
#[inline]
pub(super) fn is_held(held: Held, j: usize) -> bool {
    held.get(j).is_some_and(Option::is_some)
}

/// Leaves nothing of a vector in the variables that are held.
#[inline]
pub(super) fn free_part<T: Real>(v: &mut [T], held: Held) {
    for (v, held) in v.iter_mut().zip(held) {
        if held.is_some() {
            *v = T::ZERO;
        }
    }
}
