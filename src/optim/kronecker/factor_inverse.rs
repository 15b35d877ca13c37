//! Damped inverses of single factors, and products with them.

use crate::kernels::Factor;
use crate::kernels::inverse::invert;
use crate::kernels::vector::{add_scaled, dot};
use crate::problem::kronecker::form::FactorForm;
use crate::real::Real;

/// Largest increase of the damping with which factors are inverted; each is ten times the one before.
const ATTEMPTS: usize = 6;

/// The inverse of a damped factor. That of a sketch is `(1 − Sᵀ(SSᵀ + λ)⁻¹S) / λ`, by Woodbury's identity, of which `S`,
/// `(SSᵀ + λ)⁻¹` and `1 / λ` are kept.
#[derive(Clone, Copy)]
pub(super) struct FactorInverse<'a, T> {
    pub(super) numbers: &'a [T],
    pub(super) size: usize,
    pub(super) form: FactorForm,
}

/// Parts of the inverse of a sketched factor.
struct SketchInverse<'a, T> {
    /// `S`: its rows, and its last column, where that is of a bias.
    rows: &'a [T],
    ones: &'a [T],
    /// `(SSᵀ + λ)⁻¹` and `1 / λ`.
    small: &'a [T],
    outside: T,
}

impl<'a, T: Real> FactorInverse<'a, T> {
    /// The parts, for rows of so many entries besides that of a bias.
    fn sketch(&self, rank: usize, columns: usize) -> SketchInverse<'a, T> {
        let (rows, rest) = self.numbers.split_at(rank * columns);
        let (ones, rest) = rest.split_at(rank * (self.size - columns));
        let (small, outside) = rest.split_at(rank * rank);
        SketchInverse { rows, ones, small, outside: outside[0] }
    }

    /// `F⁻¹ M`, for a matrix with rows of `columns` entries.
    pub(super) fn times(&self, matrix: &[T], columns: usize, to: &mut [T], memory: &mut [T]) {
        match self.form {
            _ if matrix.is_empty() => {}
            FactorForm::Full => {
                T::multiply(to, false, Factor::Plain(self.numbers), matrix, self.size, columns);
            }
            FactorForm::Diagonal => {
                let rows = to.chunks_exact_mut(columns).zip(matrix.chunks_exact(columns));
                for ((to, row), &inverse) in rows.zip(self.numbers) {
                    to.iter_mut().zip(row).for_each(|(to, &number)| *to = inverse * number);
                }
            }
            FactorForm::Sketch(rank) => {
                let SketchInverse { rows, small, outside, .. } = self.sketch(rank, self.size);
                let (along, memory) = memory.split_at_mut(rank * columns);
                let less = &mut memory[..rank * columns];
                T::multiply(along, false, Factor::Plain(rows), matrix, self.size, columns);
                T::multiply(less, false, Factor::Plain(small), along, rank, columns);
                less.iter_mut().for_each(|number| *number *= -outside);
                to.iter_mut().zip(matrix).for_each(|(to, &number)| *to = outside * number);
                T::multiply(to, true, Factor::Transposed(rows), less, rank, columns);
            }
        }
    }

    /// `[W b] F⁻¹`, for a factor that is no diagonal. The bias is used where it is, without the matrix that has it for its last column: that
    /// has a column more than registers are wide.
    pub(super) fn multiply_right(
        &self,
        [weights, offsets]: [&[T]; 2],
        inputs: usize,
        [product, offset_product]: [&mut [T]; 2],
        memory: &mut [T],
    ) {
        let of_biases = offsets.iter().zip(offset_product);
        let FactorForm::Sketch(rank) = self.form else {
            T::multiply_by_part(product, weights, self.numbers, self.size, inputs, inputs);
            let rows = product.chunks_exact_mut(inputs).zip(weights.chunks_exact(inputs));
            for ((row, weights), (&offset, of_bias)) in rows.zip(of_biases) {
                let (last, corner) = self.numbers[self.size * inputs..].split_at(inputs);
                add_scaled(row, offset, last);
                *of_bias = dot(weights, last) + offset * corner[0];
            }
            return;
        };
        let SketchInverse { rows, ones, small, outside } = self.sketch(rank, inputs);
        let outputs = weights.len() / inputs;
        let (along, memory) = memory.split_at_mut(outputs * rank);
        let less = &mut memory[..outputs * rank];
        T::multiply_transposed(along, false, weights, rows, inputs, rank);
        along.chunks_exact_mut(rank).zip(offsets).for_each(|(row, &offset)| add_scaled(row, offset, ones));
        T::multiply(less, false, Factor::Plain(along), small, rank, rank);
        less.iter_mut().for_each(|number| *number *= -outside);
        product.iter_mut().zip(weights).for_each(|(to, &number)| *to = outside * number);
        T::multiply(product, true, Factor::Plain(less), rows, rank, inputs);
        for ((&offset, of_bias), row) in of_biases.zip(less.chunks_exact(rank)) {
            *of_bias = outside * offset + dot(row, ones);
        }
    }
}

/// The sum of the diagonal of a factor.
pub(super) fn trace<T: Real>(factor: &[T], (size, form): (usize, FactorForm)) -> f64 {
    match form {
        FactorForm::Diagonal => factor.iter().map(|number| number.to_f64()).sum(),
        FactorForm::Full => diagonal_sum(factor, size),
        FactorForm::Sketch(rank) => {
            let rows = &factor[..rank * size];
            dot(rows, rows).to_f64()
        }
    }
}

fn diagonal_sum<T: Real>(matrix: &[T], size: usize) -> f64 {
    matrix.iter().step_by(size + 1).map(|number| number.to_f64()).sum()
}

/// Overwrites a copy of a factor with its damped inverse; a sketch has these columns besides that of a bias. Returns the factor's effective rank, `n − λ · tr(inverse)`.
pub(super) fn invert_factor<T: Real>(
    copy: &mut [T],
    factor: &[T],
    (size, form, columns): (usize, FactorForm, usize),
    damping: f64,
    memory: &mut [T],
) -> Option<f64> {
    if form == FactorForm::Diagonal {
        let more = T::from_f64(damping);
        copy.iter_mut().for_each(|number| *number = (*number + more).recip());
        let rank = size as f64 - damping * trace(copy, (size, form));
        return copy.iter().all(|number| number.is_finite()).then_some(rank);
    }
    // A smaller damping would be lost in the rounding error of the factor. Woodbury's difference multiplies that of a sketch by the square of
    // its condition number.
    let (epsilon, trace) = (T::EPSILON.to_f64(), trace(factor, (size, form)));
    let is_sketch = matches!(form, FactorForm::Sketch(_));
    let mut damping = damping.max(if is_sketch { epsilon.sqrt() * trace } else { epsilon * trace / size as f64 });
    for _ in 0..ATTEMPTS {
        let more = T::from_f64(damping);
        let (matrix, size) = match form {
            FactorForm::Sketch(rank) => (put_sketch_gram(copy, size, [rank, columns], more.recip()), rank),
            _ => (&mut *copy, size),
        };
        matrix.iter_mut().step_by(size + 1).for_each(|number| *number += more);
        if invert(matrix, size, memory) {
            return Some(size as f64 - damping * diagonal_sum(matrix, size));
        }
        damping *= 10.0;
        copy.copy_from_slice(factor);
    }
    None
}

/// Writes `SSᵀ` and `1 / λ` behind a sketch, whose rows have these columns besides that of a bias, and returns the former.
fn put_sketch_gram<T: Real>(copy: &mut [T], size: usize, [rank, columns]: [usize; 2], outside: T) -> &mut [T] {
    let (sketch, rest) = copy.split_at_mut(rank * size);
    let (gram, last) = rest.split_at_mut(rank * rank);
    last[0] = outside;
    let (rows, ones) = sketch.split_at(rank * columns);
    T::row_gram(gram, rows, columns);
    for i in 0..rank {
        let (above, row) = gram.split_at_mut(i * rank);
        if let Some(&one) = ones.get(i) {
            add_scaled(&mut row[..=i], one, &ones[..=i]);
        }
        above.chunks_exact_mut(rank).zip(&row[..i]).for_each(|(above, &entry)| above[i] = entry);
    }
    gram
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The damped inverse of a sketch of inputs that have all but one value in common, times their mean: `u / (‖Su‖² + λ)` for a `u` of length 1.
    fn along_the_mean<T: Real>(damping: f64) -> (f64, f64) {
        let (size, rank) = (600, 8);
        let form = FactorForm::Sketch(rank);
        let mut factor = vec![T::ZERO; form.len(size)];
        for (k, entry) in factor[..rank * size].iter_mut().enumerate() {
            *entry = T::from_f64(1.0 + 1e-3 * (0.7 * k as f64).sin());
        }
        let squared = trace(&factor, (size, form));
        let mut copy = factor.clone();
        let mut memory = vec![T::ZERO; crate::kernels::inverse::scratch_len(rank).max(2 * rank)];
        invert_factor(&mut copy, &factor, (size, form, size), damping * squared, &mut memory).unwrap();
        let mean = vec![T::from_f64((size as f64).sqrt().recip()); size];
        let mut to = vec![T::ZERO; size];
        FactorInverse { numbers: &copy, size, form }.times(&mean, 1, &mut to, &mut memory);
        (dot(&mean, &to).to_f64() * squared, (1.0 + damping).recip())
    }

    #[test]
    fn sketches_keep_their_largest_direction_whatever_the_damping() {
        for damping in [1.0, 1e-2, 1e-4, 1e-6, 1e-8, 1e-12, 0.0] {
            for (found, expected) in [along_the_mean::<f64>(damping), along_the_mean::<f32>(damping)] {
                assert!((0.3..3.0).contains(&(found / expected)), "{damping}: {found}, not {expected}");
            }
        }
    }
}
