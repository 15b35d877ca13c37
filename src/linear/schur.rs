//! Cholesky factorisation of the Schur complement of the normal equations.

use super::block_rows::{BlockRows, BlockStructure};
use super::choice::PlanError;
use super::elimination::Elimination;
use super::form::LinearForm;
use super::independent_set::independent_set;
use super::model::{Damped, Drawn, LinearModel, Unsolved};
use super::sparse::{BlockMatrix, BlockPattern, SparseCholesky, SymbolicCholesky, TooLarge};
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::simd::{self, Kernel};
use crate::kernels::vector::{add_scaled, dot, scale_twice, scaled_norm};
use crate::problem::EvaluationError;
use crate::real::Real;

/// The normal equations, from which blocks of columns that no residual block shares are eliminated; the Schur complement that is
/// left is formed and factorised, as one dense front or as several, depending on its fill-in.
///
/// It is never chosen: the [sparse Cholesky factorisation](LinearForm::SparseCholesky) of the whole eliminates the same blocks first, as leaves of
/// its elimination tree, straight into the front of what is left. Measured on BAL's Ladybug with 49 cameras and 7,776 points: 1.13
/// seconds against 0.85 for 27 iterations; on pose graphs from 8 % less to 17 % more.
#[derive(Debug, Clone)]
pub struct Schur<T> {
    structure: BlockStructure,
    /// Linearisations at the current point and at the candidate.
    rows: [BlockRows<T>; 2],
    current: usize,
    elimination: Elimination<T>,
    complement: BlockMatrix<T>,
    factor: SparseCholesky<T>,
    /// Places in the complement of the products of the kept blocks of each residual block, and then of the pairs that each
    /// elimination connects.
    places: Vec<usize>,
    /// A vector of the kept columns, and one of all.
    reduced: Vec<T>,
    room: Vec<T>,
}

impl<T: Real> Schur<T> {
    /// Room for a problem of this structure.
    ///
    /// # Errors
    ///
    /// Matrices that take more than the memory budget, in bytes.
    pub(super) fn new(structure: BlockStructure, budget: usize) -> Result<Self, PlanError> {
        let elimination = Elimination::new(&structure, independent_set(&structure));
        let mut pairs = Vec::new();
        elimination.visit_products(&structure, |i, j| pairs.push((i, j)));
        let sizes: Vec<usize> = elimination.kept().iter().map(|&block| structure.size(block)).collect();
        let too_large = |_: TooLarge| PlanError::Memory { needed: usize::MAX, rows_that_fit: 0 };
        let pattern = BlockPattern::new(&sizes, &pairs).map_err(too_large)?;
        drop(pairs);
        let symbolic = SymbolicCholesky::new(&pattern).map_err(too_large)?;
        let numbers =
            pattern.entry_count().saturating_add(symbolic.entry_count()).saturating_add(8 * structure.columns());
        let needed = numbers.saturating_mul(size_of::<T>());
        if needed > budget {
            return Err(PlanError::Memory { needed, rows_that_fit: 0 });
        }
        let mut places = Vec::new();
        elimination.visit_products(&structure, |i, j| {
            places.push(pattern.slot(i.max(j), i.min(j)).expect("the pattern has all pairs"));
        });
        let factor = SparseCholesky::new(symbolic, &pattern).map_err(too_large)?;
        let rows = [BlockRows::new(&structure), BlockRows::new(&structure)];
        let (reduced, room) = (vec![T::ZERO; elimination.kept_columns()], vec![T::ZERO; structure.columns()]);
        let complement = BlockMatrix::new(pattern);
        Ok(Schur { structure, rows, current: 0, elimination, complement, factor, places, reduced, room })
    }

    /// Overwrites `b` with `(JᵀJ + λD²)⁻¹b`, by the factors that are there.
    fn solve_in_place(&mut self, b: &mut [T]) {
        let Schur { structure, rows, current, elimination, factor, reduced, .. } = self;
        let rows = &rows[*current];
        elimination.reduce(structure, rows, b, reduced);
        factor.solve_in_place(reduced);
        elimination.back_substitute(structure, rows, reduced, b);
    }
}

/// Fills the Schur complement.
struct FormComplement<'a, T> {
    elimination: &'a Elimination<T>,
    structure: &'a BlockStructure,
    rows: &'a BlockRows<T>,
    places: &'a [usize],
    complement: &'a mut BlockMatrix<T>,
}

impl<T: Real> Kernel for FormComplement<'_, T> {
    #[inline(always)]
    fn run<const _TALL: usize, const _FUSED: bool>(self) {
        let FormComplement { elimination, structure, rows, places, complement } = self;
        let values = complement.values_mut();
        let mut places = places.iter();
        elimination.visit_kept_products(structure, rows, |block| {
            if let Some(&at) = places.next() {
                add_scaled(&mut values[at..at + block.len()], T::ONE, block);
            }
        });
        elimination.visit_fill(structure, rows, |block| {
            if let Some(&at) = places.next() {
                add_scaled(&mut values[at..at + block.len()], -T::ONE, block);
            }
        });
    }
}

impl<T: Real> LinearModel<T> for Schur<T> {
    fn form(&self) -> LinearForm {
        LinearForm::Schur
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Result<Costs<T>, EvaluationError> {
        evaluation.count_linearization();
        let candidate = 1 - self.current;
        self.rows[candidate].clear();
        let (cost, squares) = self.rows[candidate].linearize(&self.structure, evaluation.blocks()?, x)?;
        self.current = candidate;
        Ok(Costs { cost, squares })
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Result<(), EvaluationError> {
        self.current = 1 - self.current;
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        &self.rows[self.current].gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        self.rows[self.current].column_norms(&self.structure, norms);
        None
    }

    fn solve(&mut self, &mut Damped { lambda, d, .. }: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let Schur { structure, rows, current, elimination, complement, factor, places, reduced, .. } = self;
        let rows = &rows[*current];
        elimination.factorize(structure, rows, lambda, d)?;
        complement.clear();
        simd::run(FormComplement { elimination, structure, rows, places, complement });
        elimination.gather_columns(structure, d, reduced);
        factor.factorize(complement, lambda, reduced)?;
        step.iter_mut().zip(self.gradient()).for_each(|(step, &gradient)| *step = -gradient);
        self.solve_in_place(step);
        Ok(scaled_norm(d, step))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        drawn.draw(damped, step, |b| {
            self.solve_in_place(b);
            Ok(())
        })
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.rows[self.current].quadratic_form(&self.structure, v)
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        let mut solution = std::mem::take(&mut self.room);
        scale_twice(&mut solution, damped.d, step);
        let b = solution.clone();
        self.solve_in_place(&mut solution);
        let form = dot(&b, &solution);
        self.room = solution;
        Ok(form)
    }
}
