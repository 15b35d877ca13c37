//! The normal equations of a Jacobian of blocks.

use std::sync::Arc;

use super::block_rows::BlockStructure;
use super::block_sums::BlockSums;
use super::choice::PlanError;
use super::form::LinearForm;
use super::held::free_part;
use super::kept_rows::KeptRows;
use super::model::{Damped, Drawn, IllConditioned, LinearModel, Unsolved};
use super::sparse::{
    BlockMatrix, BlockPattern, InverseSubset, OrthogonalElimination, SparseCholesky, SymbolicCholesky,
};
use crate::evaluation::{Costs, Evaluation};
use crate::kernels::vector::{dot, scale_twice, scaled_norm};
use crate::problem::{BlockJacobian, Evaluated, Rate, Work};
use crate::real::Real;

/// Exponent of `ε` in the damping that reveals undetermined directions.
const SMALL_DAMPING: f64 = 0.7;

/// Ratio of two dampings; an undetermined direction's variance falls by the same ratio.
const DAMPING_RATIO: f64 = 16.0;

/// Largest estimate of the share of a step's predicted reduction that is rounding error.
const TOLERANCE: f64 = 0.01;

/// Most operations of an orthogonal elimination, relative to those of the Cholesky factorisation.
const AFFORDABLE: f64 = 40.0;

/// `JᵀJ` and `Jᵀr` at the current point and at a candidate for the next, by blocks, and the last damped factor.
///
/// The order of elimination, and where the factor fills in, is found once. A linearisation takes the products of each
/// residual block's own columns, and a solve a sparse Cholesky factorisation.
///
/// A step along which `JᵀJ` has lost its digits is solved for by [orthogonal elimination](OrthogonalElimination) of the rows, unless that
/// is far slower. Rows are kept for the first step. If it does not need them they are dropped, and kept again from the first step on that
/// does; the problem is then linearised again at the same point.
pub struct SparseNormal<T> {
    structure: Arc<BlockStructure>,
    /// Sums at the current point and at the candidate.
    sums: [BlockEquations<T>; 2],
    /// Index of the current point's.
    current: usize,
    factor: SparseCholesky<T>,
    block_sums: BlockSums<T>,
    elimination: Option<OrthogonalElimination<T>>,
    /// Largest damping at which QR of the rows failed as well; infinite if QR is too expensive to try.
    hopeless: Option<T>,
    /// True once a step has been computed from the rows.
    rows_help: bool,
    /// True if the next linearisation keeps its rows.
    needs_rows: bool,
    scratch: Vec<T>,
}

/// Sums over residual blocks.
struct BlockEquations<T> {
    /// `JᵀJ`.
    gram: BlockMatrix<T>,
    /// `Jᵀr`.
    gradient: Vec<T>,
    /// `J` and `r`; empty where they are not kept.
    rows: Vec<KeptRows<T>>,
}

/// Structure of the matrix and of its factor.
pub(super) struct SparsePlan {
    structure: Arc<BlockStructure>,
    pattern: BlockPattern,
    symbolic: SymbolicCholesky,
}

impl SparsePlan {
    /// The order of elimination for a problem of this structure, and the structure of the factor.
    pub(super) fn new(structure: Arc<BlockStructure>) -> Result<Self, PlanError> {
        let sizes: Vec<usize> = (0..structure.blocks()).map(|block| structure.size(block)).collect();
        let mut pairs = Vec::new();
        for k in 0..structure.residual_blocks() {
            let touched = structure.touched(k);
            let before = |(p, &i): (usize, &u32)| touched[..p].iter().map(move |&j| (i as usize, j as usize));
            pairs.extend(touched.iter().enumerate().flat_map(before));
        }
        let pattern = BlockPattern::new(&sizes, &pairs)?;
        let symbolic = SymbolicCholesky::new(&pattern)?;
        Ok(SparsePlan { structure, pattern, symbolic })
    }

    /// Work of a factorisation.
    pub(super) fn factorization(&self) -> Work {
        Work::new(Rate::Factorization, self.symbolic.flops(), self.symbolic.panel_entries() as f64)
    }

    /// Zero sums.
    ///
    /// # Errors
    ///
    /// Matrices that take more than the memory budget, in bytes.
    pub(super) fn build<T: Real>(self, budget: usize) -> Result<SparseNormal<T>, PlanError> {
        let SparsePlan { structure, mut pattern, symbolic } = self;
        let n = structure.columns();
        let entries =
            pattern.entry_count().saturating_mul(2).saturating_add(symbolic.entry_count()).saturating_add(8 * n);
        PlanError::check_budget(entries.saturating_mul(size_of::<T>()), budget)?;
        let block_sums = BlockSums::new(&mut pattern, &structure);
        let factor = SparseCholesky::new(symbolic, &pattern)?;
        let zero =
            || BlockEquations { gram: BlockMatrix::new(pattern.clone()), gradient: vec![T::ZERO; n], rows: Vec::new() };
        let sums = [zero(), zero()];
        Ok(SparseNormal {
            structure,
            sums,
            current: 0,
            factor,
            block_sums,
            elimination: None,
            hopeless: None,
            rows_help: false,
            needs_rows: true,
            scratch: vec![T::ZERO; n],
        })
    }
}

impl<T: Real> SparseNormal<T> {
    /// The normal equations at `x`, and a structure that contradicts itself.
    pub(crate) fn at(problem: &mut dyn BlockJacobian<T>, n: usize, x: &[T]) -> Evaluated<Result<Self, PlanError>> {
        let normal = BlockStructure::new(problem, n)
            .and_then(|structure| SparsePlan::new(Arc::new(structure))?.build(usize::MAX));
        let mut normal = match normal {
            Ok(normal) => normal,
            Err(error) => return Ok(Err(error)),
        };
        normal.add_blocks(problem, x)?;
        normal.swap();
        Ok(Ok(normal))
    }

    /// `(JᵀJ)⁻¹` at the blocks of the factor; the equations where some variance, in units of the column, is so large that a direction may be
    /// undetermined.
    pub(crate) fn into_inverse(mut self) -> Result<InverseSubset<T>, Box<Self>> {
        let mut d = vec![T::ZERO; self.scratch.len()];
        self.column_norms(&mut d);
        let largest = T::ONE / T::EPSILON.sqrt();
        match self.scaled_variances(T::ZERO, &d) {
            Some((inverse, variances)) if variances.iter().all(|&variance| variance < largest) => Ok(inverse),
            _ => Err(Box::new(self)),
        }
    }

    /// `(JᵀJ)⁻¹` at the blocks of the factor with some columns held, and the undetermined blocks. Of undetermined directions, as many columns
    /// are held as there are directions, which does not change the inverse at determined blocks.
    ///
    /// # Errors
    ///
    /// A matrix that is singular to working precision even so.
    pub(crate) fn into_determined_inverse(
        mut self,
        mut is_held: Vec<bool>,
    ) -> Result<(InverseSubset<T>, Vec<usize>), IllConditioned> {
        let n = self.scratch.len();
        let (mut d, mut is_undetermined) = (vec![T::ZERO; n], vec![false; n]);
        self.column_norms(&mut d);
        for ((d, is_held), is_undetermined) in d.iter_mut().zip(&mut is_held).zip(&mut is_undetermined) {
            if *d == T::ZERO {
                (*d, *is_undetermined, *is_held) = (T::ONE, !*is_held, true);
            }
        }
        let small = T::EPSILON.powf(T::from_f64(SMALL_DAMPING));
        let mut at = |share: T| {
            // Columns that are held have far more damping than the others.
            let held = d.iter().zip(&is_held).map(|(&d, &held)| if held { d / T::EPSILON } else { d * share.sqrt() });
            let (inverse, variances) = self.scaled_variances(T::ONE, &held.collect::<Vec<T>>())?;
            let variances: Vec<T> = variances.into_iter().map(|variance| variance / share).collect();
            Some((inverse, variances, self.factor.squared_pivots()))
        };
        let (_, less_damped, pivots) = at(small).ok_or(IllConditioned)?;
        let (_, damped, damped_pivots) = at(small * T::from_f64(DAMPING_RATIO)).ok_or(IllConditioned)?;
        let grows = T::from_f64(DAMPING_RATIO.sqrt());
        for j in (0..n).filter(|&j| !is_held[j]) {
            is_undetermined[j] |= less_damped[j] > grows * damped[j];
        }
        for j in (0..n).filter(|&j| !is_held[j]).collect::<Vec<_>>() {
            is_held[j] = damped_pivots[j] > grows * pivots[j];
        }
        let held = d.iter().zip(&is_held).map(|(&d, &held)| if held { d / T::EPSILON } else { T::ZERO });
        self.factor.factorize(&self.sums[self.current].gram, T::ONE, &held.collect::<Vec<T>>())?;
        let undetermined = self.blocks_where(|j| is_undetermined[j]);
        Ok((InverseSubset::new(self.factor), undetermined))
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

    /// Blocks of columns with at least one column for which `is_true` holds.
    fn blocks_where(&self, is_true: impl Fn(usize) -> bool) -> Vec<usize> {
        let pattern = self.sums[self.current].gram.pattern();
        (0..pattern.blocks()).filter(|&block| pattern.range(block).any(&is_true)).collect()
    }

    /// Makes the candidate of the residual blocks of the problem at `x`; returns their cost, and the sum of the squares of the
    /// rows.
    pub(crate) fn add_blocks(&mut self, problem: &mut dyn BlockJacobian<T>, x: &[T]) -> Evaluated<(T, T)> {
        let BlockEquations { gram, gradient, rows } = &mut self.sums[1 - self.current];
        if !(std::mem::take(&mut self.needs_rows) || self.rows_help) {
            *rows = Vec::new();
        } else if rows.is_empty() {
            *rows = self.block_sums.rows();
        }
        self.block_sums.sum(problem, x, (gram.values_mut(), gradient), rows)
    }

    /// Exchanges the current point with the candidate.
    fn swap(&mut self) {
        self.current = 1 - self.current;
    }

    /// Solves by the Cholesky factorisation of `JᵀJ + λD²`.
    fn solve_normal(&mut self, lambda: T, d: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        let BlockEquations { gram, gradient, .. } = &self.sums[self.current];
        self.factor.factorize(gram, lambda, d)?;
        step.iter_mut().zip(gradient).for_each(|(step, &gradient)| *step = -gradient);
        self.factor.solve_in_place(step);
        Ok(())
    }

    /// Solves for the variables that are not held, by the Cholesky factorisation; those that are keep their steps.
    ///
    /// A held variable is damped so much that its row and column change nothing else by more than `ε²`, and its column goes to the right-hand
    /// side.
    fn solve_face(&mut self, damped: &Damped<'_, T>, step: &mut [T]) -> Result<(), IllConditioned> {
        let &Damped { lambda, d, held, .. } = damped;
        let BlockEquations { gram, gradient, .. } = &self.sums[self.current];
        let kept = |step: &[T]| step.iter().zip(held).map(|(&s, held)| held.map_or(T::ZERO, |_| s)).collect::<Vec<T>>();
        let kept = kept(step);
        let mut damping = vec![T::ZERO; step.len()];
        gram.diagonal(&mut damping);
        for ((square, &d), held) in damping.iter_mut().zip(d).zip(held) {
            let free = lambda.sqrt() * d;
            *square = if held.is_none() { free } else { (square.sqrt() / T::EPSILON).max(free).max(T::ONE) };
        }
        self.factor.factorize(gram, T::ONE, &damping)?;
        gram.times(&kept, step);
        step.iter_mut().zip(gradient).for_each(|(step, &gradient)| *step = -(*step + gradient));
        free_part(step, held);
        self.factor.solve_in_place(step);
        let fixed = step.iter_mut().zip(&kept).zip(held).filter(|(_, held)| held.is_some());
        fixed.for_each(|((step, &kept), _)| *step = kept);
        Ok(())
    }

    /// Condition number of `H = JᵀJ + λD²` along a step `δ`: `Σ H_jj δ_j² / δᵀHδ`, which no unit changes. It is infinite where `δ`
    /// is not a descent direction.
    fn condition_along(&self, lambda: T, d: &[T], step: &[T]) -> T {
        let BlockEquations { gram, gradient, .. } = &self.sums[self.current];
        let curvature = -dot(gradient, step);
        let length = scaled_norm(d, step);
        let form = gram.diagonal_form(step) + lambda * length * length;
        if curvature > T::ZERO && form.is_finite() { form / curvature } else { T::INFINITY }
    }

    /// Solves by orthogonal elimination of the rows, which have been kept.
    fn solve_rows(&mut self, lambda: T, d: &[T], step: &mut [T]) -> Result<(), IllConditioned> {
        let SparseNormal { structure, factor, elimination, hopeless, scratch, .. } = self;
        let BlockEquations { gram, rows, .. } = &self.sums[self.current];
        let rows = |k: usize| KeptRows::find(rows, k);
        let elimination = elimination.get_or_insert_with(|| OrthogonalElimination::new(factor, structure));
        if elimination.flops(factor, |k| rows(k).0.len()) > AFFORDABLE * factor.flops() {
            *hopeless = Some(T::INFINITY);
            return Err(IllConditioned);
        }
        gram.diagonal(scratch);
        scratch.iter_mut().zip(d).for_each(|(square, &d)| *square += lambda * d * d);
        let outcome = elimination.solve(factor, structure, rows, (lambda, d), scratch, step);
        let largest = T::from_f64(TOLERANCE.sqrt()) / T::EPSILON;
        if outcome.is_ok() && self.condition_along(lambda, d, step) <= largest * largest {
            return outcome;
        }
        self.hopeless = Some(lambda);
        Err(IllConditioned)
    }
}

impl<T: Real> LinearModel<T> for SparseNormal<T> {
    fn form(&self) -> LinearForm {
        LinearForm::SparseCholesky
    }

    fn linearize(&mut self, evaluation: &mut dyn Evaluation<T>, x: &[T]) -> Evaluated<Costs<T>> {
        evaluation.count_linearization();
        let (cost, squares) = self.add_blocks(evaluation.blocks()?, x)?;
        self.swap();
        Ok(Costs { cost, squares })
    }

    fn take_back(&mut self, _: &mut dyn Evaluation<T>, _: &[T]) -> Evaluated {
        self.swap();
        Ok(())
    }

    fn gradient(&self) -> &[T] {
        &self.sums[self.current].gradient
    }

    fn column_norms(&self, norms: &mut [T]) -> Option<T> {
        self.sums[self.current].gram.diagonal(norms);
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        None
    }

    fn solve(&mut self, damped: &mut Damped<'_, T>, step: &mut [T]) -> Result<T, Unsolved> {
        let &mut Damped { x, lambda, d, held, .. } = damped;
        if held.iter().any(Option::is_some) {
            self.solve_face(damped, step)?;
            return Ok(scaled_norm(d, step));
        }
        let outcome = self.solve_normal(lambda, d, step);
        let length = |step: &[T]| scaled_norm(d, step);
        if self.hopeless.is_some_and(|hopeless| lambda <= hopeless) {
            return Ok(outcome.map(|()| length(step))?);
        }
        let is_sound = outcome.is_ok() && T::EPSILON * self.condition_along(lambda, d, step) <= T::from_f64(TOLERANCE);
        if is_sound || self.structure.residual_blocks() == 0 {
            return Ok(outcome.map(|()| length(step))?);
        }
        self.needs_rows = true;
        if self.sums[self.current].rows.is_empty() {
            self.linearize(damped.evaluation, x)?;
            self.needs_rows = true;
        }
        let orthogonal = self.solve_rows(lambda, d, step);
        self.rows_help |= orthogonal.is_ok();
        if orthogonal.is_err() {
            self.solve_normal(lambda, d, step)?;
        }
        Ok(length(step))
    }

    fn complete(&mut self, damped: &mut Damped<'_, T>, drawn: Drawn<'_, T>, step: &mut [T]) -> Result<(), Unsolved> {
        drawn.draw(damped, step, |b| self.factor.solve_in_place(b));
        Ok(())
    }

    fn quadratic_form(&self, v: &[T]) -> T {
        self.sums[self.current].gram.quadratic_form(v)
    }

    fn gram_times(&self, v: &[T], product: &mut [T]) {
        self.sums[self.current].gram.times(v, product);
    }

    fn inverse_form(&mut self, damped: &mut Damped<'_, T>, step: &[T]) -> Result<T, Unsolved> {
        scale_twice(&mut self.scratch, damped.d, step);
        free_part(&mut self.scratch, damped.held);
        Ok(self.factor.inverse_form(&self.scratch))
    }
}
