//! Adjoints summed over samples: the gradient.

use super::forward::row_number;
use super::reverse::Sink;
use crate::kernels::Factor;
use crate::kernels::array::array_of;
use crate::kernels::simd::{self, Kernel};
use crate::problem::OutputProducts;
use crate::real::Real;
use crate::variables::{Gradients, Variable};

/// Adds to the gradients of all variables.
pub(crate) struct GradientSums<'a, 'p, T> {
    pub(crate) gradients: &'a mut Gradients<T>,
    /// Products of some of them with inverses of Kronecker factors.
    pub(crate) products: Option<LayerProducts<'a, 'p, T>>,
}

/// Products of the gradients of layers that are formed in the reverse sweep.
pub(crate) struct LayerProducts<'a, 'p, T> {
    pub(crate) products: &'a mut OutputProducts<'p, T>,
    /// The block of each variable that is used in a way of its own; `None` also for a bias that goes with its weight.
    pub(crate) of_variable: &'a [Option<usize>],
    /// Samples of the batch.
    pub(crate) samples: usize,
}

impl<T: Real> Sink<T> for GradientSums<'_, '_, T> {
    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        add_product(self.gradients.dense_mut(weight), weight, delta, x);
        if let Some(LayerProducts { products, of_variable, samples }) = &mut self.products
            && let Some(block) = of_variable[weight.index()]
            && products.is_wanted(block, *samples)
        {
            products.add(block, delta, x);
        }
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        add_rows(self.gradients.dense_mut(variable), delta);
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        for (&number, delta) in numbers.iter().zip(delta.chunks_exact(table.columns())) {
            self.gradients.add_row(table, row_number(number), delta);
        }
    }
}

/// Adds to as many entries as all variables have.
pub(crate) struct FlatSums<'a, T>(pub(crate) &'a mut [T]);

impl<T: Real> Sink<T> for FlatSums<'_, T> {
    fn product(&mut self, weight: Variable, delta: &[T], x: &[T]) {
        add_product(&mut self.0[weight.range()], weight, delta, x);
    }

    fn row(&mut self, variable: Variable, delta: &[T]) {
        add_rows(&mut self.0[variable.range()], delta);
    }

    fn look_up(&mut self, table: Variable, numbers: &[T], delta: &[T]) {
        let columns = table.columns();
        let sums = &mut self.0[table.range()];
        for (&number, delta) in numbers.iter().zip(delta.chunks_exact(columns)) {
            add_rows(&mut sums[row_number(number) * columns..][..columns], delta);
        }
    }
}

/// `sums += δᵀ x`.
fn add_product<T: Real>(sums: &mut [T], weight: Variable, delta: &[T], x: &[T]) {
    let count = delta.len() / weight.rows();
    T::multiply(sums, true, Factor::Transposed(delta), x, count, weight.columns());
}

/// Adds all rows to `sums`.
fn add_rows<T: Real>(sums: &mut [T], rows: &[T]) {
    simd::run(ColumnSums { sums, rows });
}

/// `sums += Σᵢ rowᵢ`.
struct ColumnSums<'a, T> {
    sums: &'a mut [T],
    rows: &'a [T],
}

impl<T: Real> Kernel for ColumnSums<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let n = self.sums.len();
        let (wide, narrow) = self.sums.as_chunks_mut::<8>();
        for (sums, left) in wide.iter_mut().zip((0..).step_by(8)) {
            // Every other row has sums of its own, so that no sum waits for the one before.
            let (mut even, mut odd) = ([T::ZERO; 8], [T::ZERO; 8]);
            for pair in self.rows.chunks(2 * n) {
                let (first, second) = pair.split_at(n);
                add_to(&mut even, &first[left..]);
                if !second.is_empty() {
                    add_to(&mut odd, &second[left..]);
                }
            }
            *sums = array_of(|k| sums[k] + (even[k] + odd[k]));
        }
        let left = n - narrow.len();
        for (sum, column) in narrow.iter_mut().zip(left..) {
            *sum += self.rows.iter().skip(column).step_by(n).copied().sum();
        }
    }
}

/// Adds the first eight entries.
#[inline(always)]
fn add_to<T: Real>(sums: &mut [T; 8], numbers: &[T]) {
    if let Some(numbers) = numbers.first_chunk::<8>() {
        for (sum, &number) in sums.iter_mut().zip(numbers) {
            *sum += number;
        }
    }
}
