//! Dense layers.

use super::columns::broadcast;
use crate::Real;
use crate::kernels::Factor;
use crate::nn::tape::{Operation, Record};

/// Room for a transposed weight.
#[derive(Debug, Clone)]
pub(crate) struct Transposed<T>(Vec<T>);

impl<T: Real> Transposed<T> {
    /// Room for the largest weight of a tape.
    pub(super) fn new(records: &[Record<T>]) -> Self {
        let sizes = records.iter().map(|record| match record.operation {
            Operation::Dense { weight, .. } => weight.len(),
            _ => 0,
        });
        Transposed(vec![T::ZERO; sizes.max().unwrap_or(0)])
    }

    /// `y = x Wᵀ + b`, or `y += x Wᵀ + b`, for a weight with so many columns.
    pub(super) fn affine(&mut self, x: &[T], weight: &[T], columns: usize, bias: Option<&[T]>, y: &mut [T], add: bool) {
        let rows = weight.len() / columns;
        let add = match bias {
            Some(bias) if add => {
                for y in y.chunks_exact_mut(rows) {
                    y.iter_mut().zip(bias).for_each(|(y, &b)| *y += b);
                }
                true
            }
            Some(bias) => {
                broadcast(bias, y);
                true
            }
            None => add,
        };
        let transposed = &mut self.0[..weight.len()];
        for (k, row) in weight.chunks_exact(columns).enumerate() {
            for (j, &weight) in row.iter().enumerate() {
                transposed[j * rows + k] = weight;
            }
        }
        T::multiply(y, add, Factor::Plain(x), transposed, columns, rows);
    }
}
