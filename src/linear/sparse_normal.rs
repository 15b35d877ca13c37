//! The normal equations of a Jacobian of blocks.

use super::choice::PlanError;
use super::form::LinearForm;
use super::held::Held;
use super::model::{IllConditioned, LinearModel, Products, TakesBlocks};
use super::sparse::{BlockMatrix, BlockPattern, InverseSubset, SparseCholesky, SymbolicCholesky, TooLarge};
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, scale_twice};
use crate::{BlockJacobian, EvaluationError, Rate, Real, Work};

/// Damping of `ε` to this power shows which directions are undetermined.
const SMALL_DAMPING: f64 = 0.7;

/// So many times more damping takes as much from the variance of an undetermined direction.
const DAMPING_RATIO: f64 = 16.0;

/// `JᵀJ` and `Jᵀr` at the current point and at a candidate for the next, by blocks, and the last damped factor.
///
/// The order of elimination, and where the factor fills in, is found once. A linearisation takes the products of each
/// residual block's own columns, and a solve a sparse Cholesky factorisation.
pub struct SparseNormal<T> {
    /// At the current point and at the candidate.
    sums: [Sums<T>; 2],
    /// Index of the current point's.
    current: usize,
    factor: SparseCholesky<T>,
    structure: Structure,
    room: Vec<T>,
}

/// Sums over residual blocks.
struct Sums<T> {
    /// `JᵀJ`.
    gram: BlockMatrix<T>,
    /// `Jᵀr`.
    gradient: Vec<T>,
}

/// Places of the residual blocks' products.
struct Structure {
    /// Blocks of columns of each residual block, one list behind the other: first column, and number of columns.
    columns: Vec<(usize, usize)>,
    /// End of each list.
    ends: Vec<usize>,
    /// Places in `JᵀJ` of the product of each pair of them, `(0, 0), (1, 0), (1, 1), (2, 0) …`, one list behind the other.
    places: Vec<Place>,
}

/// Place of the product of two blocks of columns.
#[derive(Clone, Copy)]
struct Place {
    /// First number.
    at: usize,
    /// The product with the rows of the second block is what is stored.
    is_transposed: bool,
}

impl<T: Real> SparseNormal<T> {
    /// Zero sums for the structure of a problem of `n` columns.
    ///
    /// # Errors
    ///
    /// Matrices that take more than the memory budget, in bytes, and a structure that contradicts itself.
    pub(crate) fn new(problem: &dyn BlockJacobian<T>, n: usize, budget: usize) -> Result<Self, PlanError> {
        let sizes = problem.column_blocks();
        if sizes.contains(&0) || sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size)) != Some(n) {
            return Err(PlanError::Blocks { residual_block: None });
        }
        let (mut blocks, mut ends) = (Vec::new(), Vec::new());
        problem.visit_structure(&mut |touched| {
            blocks.extend_from_slice(touched);
            ends.push(blocks.len());
        });
        let mut pairs = Vec::new();
        for (k, &end) in ends.iter().enumerate() {
            let touched = &blocks[k.checked_sub(1).map_or(0, |before| ends[before])..end];
            if touched.iter().enumerate().any(|(p, block)| *block >= sizes.len() || touched[..p].contains(block)) {
                return Err(PlanError::Blocks { residual_block: Some(k) });
            }
            pairs.extend(touched.iter().enumerate().flat_map(|(p, &i)| touched[..p].iter().map(move |&j| (i, j))));
        }
        let too_large = |_: TooLarge| PlanError::Memory { needed: usize::MAX, rows_that_fit: 0 };
        let pattern = BlockPattern::new(&sizes, &pairs).map_err(too_large)?;
        let symbolic = SymbolicCholesky::new(&pattern).map_err(too_large)?;
        let numbers = pattern.numbers().saturating_mul(2).saturating_add(symbolic.numbers()).saturating_add(8 * n);
        let needed = numbers.saturating_mul(size_of::<T>());
        if needed > budget {
            return Err(PlanError::Memory { needed, rows_that_fit: 0 });
        }
        let structure = Structure::new(&pattern, &blocks, ends);
        let factor = SparseCholesky::new(symbolic, &pattern).map_err(too_large)?;
        let zero = || Sums { gram: BlockMatrix::new(pattern.clone()), gradient: vec![T::ZERO; n] };
        let sums = [zero(), zero()];
        Ok(SparseNormal { sums, current: 0, factor, structure, room: vec![T::ZERO; n] })
    }

    /// Work of a factorisation.
    pub(super) fn factorization(&self) -> Work {
        Work::new(Rate::Factorization, self.factor.flops(), self.factor.numbers() as f64)
    }

    /// The normal equations at `x`, and what [`new`](Self::new) refuses.
    pub(crate) fn at(
        problem: &mut dyn BlockJacobian<T>,
        n: usize,
        x: &[T],
    ) -> Result<Result<Self, PlanError>, EvaluationError> {
        let mut normal = match SparseNormal::new(problem, n, usize::MAX) {
            Ok(normal) => normal,
            Err(error) => return Ok(Err(error)),
        };
        normal.begin();
        normal.add_blocks(problem, x)?;
        normal.swap();
        Ok(Ok(normal))
    }

    /// `(JᵀJ)⁻¹` at the blocks of the factor.
    ///
    /// # Errors
    ///
    /// The blocks of columns that are undetermined.
    pub(crate) fn into_inverse(mut self) -> Result<InverseSubset<T>, Vec<usize>> {
        let mut d = vec![T::ZERO; self.room.len()];
        self.column_norms(&mut d);
        let without_influence: Vec<usize> = self.blocks_where(|j| d[j] == T::ZERO);
        if !without_influence.is_empty() {
            return Err(without_influence);
        }
        // Of variances in units of the columns, those of undetermined directions are as large as the damping lets them be.
        let small = T::EPSILON.powf(T::from_f64(SMALL_DAMPING));
        let undamped = self.scaled_variances(T::ZERO, &d);
        if let Some((inverse, variances)) = undamped
            && variances.iter().all(|&variance| variance < T::ONE / T::EPSILON.sqrt())
        {
            return Ok(inverse);
        }
        let more = small * T::from_f64(DAMPING_RATIO);
        if let (Some((_, less_damped)), Some((_, damped))) =
            (self.scaled_variances(small, &d), self.scaled_variances(more, &d))
        {
            let grows = T::from_f64(DAMPING_RATIO.sqrt());
            let undetermined = self.blocks_where(|j| less_damped[j] > grows * damped[j]);
            if !undetermined.is_empty() {
                return Err(undetermined);
            }
        }
        match self.factor.factorize(&self.sums[self.current].gram, T::ZERO, &[]) {
            Ok(()) => Ok(InverseSubset::new(self.factor)),
            Err(IllConditioned) => Err((0..self.sums[0].gram.pattern().blocks()).collect()),
        }
    }

    /// `(JᵀJ + λD²)⁻¹` at the blocks of the factor, and the diagonal of `D(JᵀJ + λD²)⁻¹D`; `None` where the matrix is singular.
    fn scaled_variances(&mut self, lambda: T, d: &[T]) -> Option<(InverseSubset<T>, Vec<T>)> {
        self.factor.factorize(&self.sums[self.current].gram, lambda, d).ok()?;
        let mut inverse = InverseSubset::new(self.factor.clone());
        let pattern = self.sums[self.current].gram.pattern();
        let mut variances = Vec::with_capacity(d.len());
        let mut block = Vec::new();
        for j in 0..pattern.blocks() {
            let size = pattern.size(j);
            block.resize(size * size, T::ZERO);
            inverse.block(j, j, &mut block);
            let diagonal = block.iter().step_by(size + 1).zip(&d[pattern.range(j)]);
            variances.extend(diagonal.map(|(&variance, &d)| d * variance * d));
        }
        Some((inverse, variances))
    }

    /// Blocks of columns of which this is true of one.
    fn blocks_where(&self, is_true: impl Fn(usize) -> bool) -> Vec<usize> {
        let pattern = self.sums[self.current].gram.pattern();
        (0..pattern.blocks()).filter(|&block| pattern.range(block).any(&is_true)).collect()
    }

    /// Adds the residual blocks of the problem at `x` to the candidate; returns their cost, and the sum of the squares of what stands
    /// for the residuals.
    pub(crate) fn add_blocks(
        &mut self,
        problem: &mut dyn BlockJacobian<T>,
        x: &[T],
    ) -> Result<(T, T), EvaluationError> {
        let Structure { columns, ends, places } = &self.structure;
        let Sums { gram, gradient } = &mut self.sums[1 - self.current];
        let values = gram.values_mut();
        let (mut block, mut start, mut squares) = (0, 0, T::ZERO);
        let mut places = places.iter();
        let mut contradiction = None;
        let cost = problem.linearize_blocks(x, &mut |r, jacobian| {
            let columns = &columns[start..ends.get(block).copied().unwrap_or(start)];
            let width: usize = columns.iter().map(|&(_, size)| size).sum();
            if block >= ends.len() || jacobian.len() != r.len() * width {
                contradiction.get_or_insert(block);
                return;
            }
            (start, block) = (ends[block], block + 1);
            squares = r.iter().fold(squares, |sum, &r| sum + r * r);
            simd::run(AddBlock { r, jacobian, columns, places: &mut places, values, gradient });
        })?;
        match contradiction.or((block < ends.len()).then_some(block)) {
            None => Ok((cost, squares)),
            Some(block) => Err(format!("residual block {block} is not of the structure that was stated").into()),
        }
    }
}

/// Adds the products of the rows of one residual block.
struct AddBlock<'a, 'b, T> {
    r: &'a [T],
    jacobian: &'a [T],
    /// First column, and number of columns, of each block of columns.
    columns: &'a [(usize, usize)],
    places: &'a mut std::slice::Iter<'b, Place>,
    values: &'a mut [T],
    gradient: &'a mut [T],
}

impl<T: Real> Kernel for AddBlock<'_, '_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let AddBlock { r, jacobian, columns, places, values, gradient } = self;
        let width = jacobian.len() / r.len().max(1);
        let mut first = 0;
        for (p, &(column, size)) in columns.iter().enumerate() {
            for (row, &r) in jacobian.chunks_exact(width).zip(r) {
                add_scaled(&mut gradient[column..column + size], r, &row[first..first + size]);
            }
            let mut other = 0;
            for &(_, other_size) in &columns[..=p] {
                if let Some(place) = places.next() {
                    let (rows, columns) = if place.is_transposed {
                        ((other, other_size), (first, size))
                    } else {
                        ((first, size), (other, other_size))
                    };
                    add_product(&mut values[place.at..][..size * other_size], jacobian, width, rows, columns);
                }
                other += other_size;
            }
            first += size;
        }
    }
}

impl Structure {
    fn new(pattern: &BlockPattern, blocks: &[usize], ends: Vec<usize>) -> Self {
        let columns = blocks.iter().map(|&block| (pattern.range(block).start, pattern.size(block))).collect();
        let mut places = Vec::new();
        let mut start = 0;
        for &end in &ends {
            let touched = &blocks[start..end];
            for (p, &i) in touched.iter().enumerate() {
                for &j in &touched[..=p] {
                    let at = pattern.slot(i.max(j), i.min(j)).expect("the pattern has all pairs");
                    places.push(Place { at, is_transposed: i < j });
                }
            }
            start = end;
        }
        Structure { columns, ends, places }
    }
}

/// Adds `AᵀB` to a block, for columns `A` and `B` of rows of this width, each given by their first and their number.
#[inline(always)]
fn add_product<T: Real>(
    block: &mut [T],
    jacobian: &[T],
    width: usize,
    (first, rows): (usize, usize),
    (other, columns): (usize, usize),
) {
    match (rows, columns) {
        (3, 3) => add_sized_product::<T, 3, 3>(block, jacobian, width, first, other),
        (6, 6) => add_sized_product::<T, 6, 6>(block, jacobian, width, first, other),
        (9, 3) => add_sized_product::<T, 9, 3>(block, jacobian, width, first, other),
        (3, 9) => add_sized_product::<T, 3, 9>(block, jacobian, width, first, other),
        (9, 9) => add_sized_product::<T, 9, 9>(block, jacobian, width, first, other),
        _ => {
            for row in jacobian.chunks_exact(width) {
                let b = &row[other..other + columns];
                for (sums, &a) in block.chunks_exact_mut(columns).zip(&row[first..first + rows]) {
                    add_scaled(sums, a, b);
                }
            }
        }
    }
}

/// [`add_product`] of numbers of columns that the compiler knows.
#[inline(always)]
fn add_sized_product<T: Real, const M: usize, const N: usize>(
    block: &mut [T],
    jacobian: &[T],
    width: usize,
    first: usize,
    other: usize,
) {
    let mut sums = [[T::ZERO; N]; M];
    for row in jacobian.chunks_exact(width) {
        let (a, b): (&[T; M], &[T; N]) = match (row[first..first + M].try_into(), row[other..other + N].try_into()) {
            (Ok(a), Ok(b)) => (a, b),
            _ => return,
        };
        for (sums, &a) in sums.iter_mut().zip(a) {
            for (sum, &b) in sums.iter_mut().zip(b) {
                *sum += a * b;
            }
        }
    }
    block.iter_mut().zip(sums.as_flattened()).for_each(|(entry, &sum)| *entry += sum);
}

impl<T: Real> LinearModel<T> for SparseNormal<T> {
    fn form(&self) -> LinearForm {
        LinearForm::SparseCholesky
    }

    fn begin(&mut self) {
        let Sums { gram, gradient } = &mut self.sums[1 - self.current];
        gram.clear();
        gradient.fill(T::ZERO);
    }

    fn add_rows(&mut self, _: &mut [T], _: &mut [T]) {}

    fn swap(&mut self) {
        self.current = 1 - self.current;
    }

    fn gradient(&self) -> &[T] {
        &self.sums[self.current].gradient
    }

    fn column_norms(&self, norms: &mut [T]) {
        self.sums[self.current].gram.diagonal(norms);
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
    }

    fn solve(
        &mut self,
        _: Products<'_, T>,
        lambda: T,
        d: &[T],
        _: Held<'_>,
        step: &mut [T],
    ) -> Result<(), IllConditioned> {
        let Sums { gram, gradient } = &self.sums[self.current];
        self.factor.factorize(gram, lambda, d)?;
        step.iter_mut().zip(gradient).for_each(|(step, &gradient)| *step = -gradient);
        self.factor.solve_in_place(step);
        Ok(())
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.sums[self.current].gram.quadratic_form(v)
    }

    fn inverse_form(&mut self, _: Products<'_, T>, d: &[T], _: Held<'_>, step: &[T]) -> T {
        scale_twice(&mut self.room, d, step);
        self.factor.inverse_form(&self.room)
    }

    fn taking_blocks(&mut self) -> Option<&mut dyn TakesBlocks<T>> {
        Some(self)
    }
}

impl<T: Real> TakesBlocks<T> for SparseNormal<T> {
    fn add_blocks(&mut self, problem: &mut dyn BlockJacobian<T>, x: &[T]) -> Result<(T, T), EvaluationError> {
        SparseNormal::add_blocks(self, problem, x)
    }
}
