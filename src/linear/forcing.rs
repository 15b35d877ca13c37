//! Right-hand sides that steps are corrected by.

use crate::evaluation::{Partial, RightHandSide};
use crate::kernels::Factor;
use crate::kernels::vector::add_rows_times;
use crate::real::Real;

/// Fewer parameters than this are summed in line, as their number may be known to the compiler.
const FEW_PARAMETERS: usize = 16;

/// The sums `Jᵀw`.
pub(super) struct ForcingSums<'a, T>(pub(super) &'a mut [T]);

impl<T: Real> Partial<T> for ForcingSums<'_, T> {
    fn begin(&mut self) {
        self.0.fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.extend_from_slice(self.0);
    }

    fn read(&mut self, entries: &[T]) {
        self.0.copy_from_slice(entries);
    }
}

impl<T: Real> RightHandSide<T> for ForcingSums<'_, T> {
    #[inline]
    fn add(&mut self, w: &[T], jacobian: &[T]) {
        let n = self.0.len();
        if n < FEW_PARAMETERS {
            add_rows_times(self.0, jacobian, w);
        } else {
            T::multiply(self.0, true, Factor::Plain(w), jacobian, w.len(), n);
        }
    }

    fn sums(&mut self) -> Option<&mut [T]> {
        Some(self.0)
    }
}

/// The rows `w` themselves.
pub(super) struct ForcingRows<'a, T>(pub(super) &'a mut Vec<T>);

impl<T: Real> Partial<T> for ForcingRows<'_, T> {
    fn begin(&mut self) {
        self.0.clear();
    }

    fn adds_up(&self) -> bool {
        false
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.extend_from_slice(self.0);
    }

    fn read(&mut self, entries: &[T]) {
        self.0.extend_from_slice(entries);
    }
}

impl<T: Real> RightHandSide<T> for ForcingRows<'_, T> {
    fn add(&mut self, w: &[T], _: &[T]) {
        self.0.extend_from_slice(w);
    }

    fn sums(&mut self) -> Option<&mut [T]> {
        None
    }
}
