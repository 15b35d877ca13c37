//! Right-hand sides that steps are corrected by.

use crate::evaluation::{Partial, RightHandSide};
use crate::kernels::Factor;
use crate::kernels::vector::add_rows_times;
use crate::real::Real;

/// Fewer parameters than this are summed in line, as their number may be known to the compiler.
const FEW_PARAMETERS: usize = 16;

/// The sums `Jᵀw`, of a length that the compiler may know.
pub(super) struct ForcingSums<'a, V>(pub(super) &'a mut V);

impl<T: Real, V: AsRef<[T]> + AsMut<[T]>> Partial<T> for ForcingSums<'_, V> {
    fn begin(&mut self) {
        self.0.as_mut().fill(T::ZERO);
    }

    fn adds_up(&self) -> bool {
        true
    }

    fn write(&self, entries: &mut Vec<T>) {
        entries.extend_from_slice(self.0.as_ref());
    }

    fn read(&mut self, entries: &[T]) {
        self.0.as_mut().copy_from_slice(entries);
    }
}

impl<T: Real, V: AsRef<[T]> + AsMut<[T]>> RightHandSide<T> for ForcingSums<'_, V> {
    #[inline]
    fn add(&mut self, w: &[T], jacobian: &[T]) {
        let sums = self.0.as_mut();
        let n = sums.len();
        if n < FEW_PARAMETERS {
            add_rows_times(sums, jacobian, w);
        } else {
            T::multiply(sums, true, Factor::Plain(w), jacobian, w.len(), n);
        }
    }

    fn sums(&mut self) -> Option<&mut [T]> {
        Some(self.0.as_mut())
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
