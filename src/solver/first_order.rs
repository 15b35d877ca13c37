//! The first-order test of whether the point where a solve ends is stationary.
//!
//! Steps become short and costs stop falling for many reasons: heavy damping, a scaling `D` that is out of date, a singular
//! system, wrong derivatives. The gradient at the point is the only evidence of a minimum. The test takes the cosine between the
//! residuals and each column of the Jacobian by itself, so that it depends neither on `D` and `λ` nor on the units of the
//! parameters, and no parameter hides another.

use super::damping::DampingPolicy;
use super::iteration::Iteration;
use super::manifold::PointSizes;
use super::scaling::Influences;
use super::{Scaling, Settings, Status};
use crate::kernels::vector::{scaled_norm, underflows};
use crate::linear::LinearModel;
use crate::linear::shape::Shape;
use crate::problem::{EvaluationError, LeastSquares};
use crate::real::Real;

/// Cosines of up to `ε` to this power count as zero: 3.8e-7 in double precision, 1.5e-3 in single.
pub(super) const STATIONARY: f64 = 0.41;

/// Cosines of up to this share of `√ftol` count as zero where `ftol` allows for more: a step along one parameter predicts
/// the square of its cosine as a share of the cost.
const SHARE_OF_FTOL: f64 = 0.0625;

/// A share of the cost is noticeable if it is more than `ε` to this power: 7e-11 in double precision, 3e-5 in single.
const NOTICEABLE: f64 = 0.65;

/// Displacement of the parameters that shows the rounding errors of the residuals, in units of the last digit: in double and in
/// single precision. Formulas err by several units, for which single precision leaves no room between rounding and tolerance.
const DISPLACEMENTS: [f64; 2] = [2.0, 16.0];

/// A gradient of up to this many times the rounding errors of the residuals is rounding.
const ROUNDING: f64 = 4.0;

/// `D` is out of date for a parameter once it is this many times larger, or smaller, than the norm of its column.
const OUT_OF_DATE: f64 = 2.0;

impl<T: Real> Settings<T> {
    /// The largest cosine that counts as zero.
    #[inline]
    fn largest_cosine(&self) -> T {
        let resolvable = T::EPSILON.powf(T::from_f64(STATIONARY));
        let allowed = T::from_f64(SHARE_OF_FTOL) * self.ftol.sqrt();
        self.gtol.max(resolvable).max(allowed)
    }

    /// A point with this largest cosine counts as stationary.
    #[inline]
    pub(crate) fn is_stationary(&self, gradient_cosine: T) -> bool {
        gradient_cosine <= self.largest_cosine()
    }
}

impl<T, S, D> Iteration<T, S, D>
where
    T: Real,
    S: Shape<T>,
    D: DampingPolicy<T>,
{
    /// Square of the largest cosine between the residuals and a column of the Jacobian: of the reduction that a step along one parameter
    /// predicts, the share in the cost. A parameter that a bound holds has none. A loss of several ranks, or one whose Jacobian is not
    /// formed, stands for the sum of squares, and counts by its size.
    ///
    /// A cost of its own whose rows have all lost their weight, because each is an outlier, says nothing of where its minimum is: one.
    #[inline]
    pub(super) fn squared_gradient_cosine(&self) -> T {
        if let Some(squared_cosine) = self.model.squared_mean_cosine(self.cost) {
            return squared_cosine;
        }
        if self.has_no_weight() {
            return T::ONE;
        }
        self.squared_cosine_among(|_| true)
    }

    /// All rows of a cost of its own are outliers whose weight underflows.
    #[inline]
    fn has_no_weight(&self) -> bool {
        let norms = self.column_norms.as_ref();
        underflows(self.squares) && !underflows(self.cost) && norms.iter().all(|&norm| underflows(norm * norm))
    }

    /// Square of the largest cosine of the columns that count.
    #[inline]
    fn squared_cosine_among(&self, counts: impl Fn(usize) -> bool) -> T {
        let norms = self.column_norms.as_ref();
        let columns = self.model.gradient().iter().zip(norms).enumerate();
        let largest = columns.fold(T::ZERO, |largest, (j, (&gradient, &norm))| {
            if norm > T::ZERO && self.held_by(j).is_none() && counts(j) {
                largest.max((gradient / norm) * (gradient / norm))
            } else {
                largest
            }
        });
        if largest > T::ZERO { largest / self.squares } else { largest }
    }

    /// Every free parameter's cosine is within tolerance: that of `gtol`, `ε^0.41`, or `√ftol / 16`, whichever is largest.
    pub(super) fn is_stationary(&self, settings: &Settings<T>) -> bool {
        settings.is_stationary(self.squared_gradient_cosine().sqrt())
    }

    /// Brings `D` to the column norms at the current point and lets the damping start afresh, with the Gauss–Newton step if it
    /// is short enough. Parameters whose influence is lost among the others' are held in proportion to their size, as long as the
    /// others are not stationary: their columns may be rounding errors, and ask for long steps that lead nowhere. Returns `false`, and
    /// changes nothing, where `D` is up to date, or where the Jacobian is not formed.
    ///
    /// A scaling other than the default gives way to it: it has led to where no step is left although the gradient is not zero.
    pub(super) fn renew_scaling(&mut self, settings: &Settings<T>) -> bool {
        if self.plan.form.multiplies() {
            return false;
        }
        let norms = self.column_norms.as_ref();
        let sizes = self.point_sizes.as_ref().map_or_else(|| self.x.as_ref(), PointSizes::sizes);
        let influences = Influences::of(norms, sizes);
        let is_lost = |j: usize| influences.is_lost(norms[j], sizes[j]);
        let tolerance = settings.largest_cosine();
        let holds_lost = self.squared_cosine_among(|j| !is_lost(j)) > tolerance * tolerance;
        let renewed = self.correction.as_mut();
        for (j, (renewed, &d)) in renewed.iter_mut().zip(self.d.as_ref()).enumerate() {
            *renewed = match norms[j] {
                _ if holds_lost && is_lost(j) => d.max(influences.hold(sizes[j])),
                norm if norm > T::ZERO => norm,
                _ => d,
            };
        }
        let limit = T::from_f64(OUT_OF_DATE);
        let mut pairs = self.d.as_ref().iter().zip(self.correction.as_ref());
        if !pairs.any(|(&d, &renewed)| d > limit * renewed || renewed > limit * d) {
            return false;
        }
        self.d.as_mut().copy_from_slice(self.correction.as_ref());
        self.scaling = Scaling::default();
        self.start_damping();
        true
    }

    /// The status of a solve that ended at this point with `claim`: converged only if the point passes the first-order test, or
    /// if its gradient is lost in the rounding errors of the residuals.
    pub(super) fn verdict<P: LeastSquares<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
        claim: Status,
    ) -> Result<Status, EvaluationError> {
        let passes = self.is_stationary(settings) || self.is_at_rounding(problem)?;
        if passes && !self.hides_a_gradient(settings, problem)? {
            return Ok(if claim == Status::NoProgress { Status::StepTolerance } else { claim });
        }
        let reach = scaled_norm(self.d.as_ref(), self.sizes());
        Ok(if self.derivatives_are_wrong(problem, reach)? {
            Status::WrongDerivatives
        } else if self.is_flat(settings) {
            Status::FlatValley
        } else {
            Status::NoProgress
        })
    }

    /// Parameters that fail the first-order test would not change the cost noticeably if each changed by its own size.
    fn is_flat(&self, settings: &Settings<T>) -> bool {
        let (norms, sizes, tolerance) = (self.column_norms.as_ref(), self.sizes(), settings.largest_cosine());
        let limit = tolerance * self.squares.sqrt();
        let fails = |&(j, &gradient): &(usize, &T)| gradient.abs() > limit * norms[j] && self.held_by(j).is_none();
        let failing = self.model.gradient().iter().enumerate().filter(fails);
        let change = failing.fold(T::ZERO, |sum, (j, &gradient)| sum + (gradient * sizes[j]).abs());
        change <= self.noticeable() && !self.plan.form.multiplies()
    }

    /// Reduction of the cost that is noticed: `ε^0.65` of it.
    pub(super) fn noticeable(&self) -> T {
        T::EPSILON.powf(T::from_f64(NOTICEABLE)) * self.cost.abs()
    }

    /// Returns true if the largest cosine is explained by rounding errors of the residuals. They show where the parameters are
    /// displaced by a few units of their last digit.
    fn is_at_rounding<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<bool, EvaluationError> {
        let noise = self.squared_noise(problem)?;
        let unit = T::from_f64(ROUNDING);
        Ok(!self.has_no_weight() && self.squared_gradient_cosine() * self.squares <= unit * unit * noise)
    }

    /// `‖r‖²` of the residuals' change by rounding errors of the parameters and of the residuals.
    pub(super) fn squared_noise<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<T, EvaluationError> {
        let mut noise = T::ZERO;
        for alternate in [false, true] {
            self.displace(problem, alternate);
            noise = noise.max(self.squared_change(problem)?);
        }
        Ok(noise)
    }

    /// A column of the Jacobian is so small that its squares underflow, and yet not zero, and its cosine is too large.
    fn hides_a_gradient<P: LeastSquares<T> + ?Sized>(
        &mut self,
        settings: &Settings<T>,
        problem: &mut P,
    ) -> Result<bool, EvaluationError> {
        if underflows(self.cost) {
            // Nor is there a cost that could fall: the start had one.
            return Ok(false);
        }
        let hidden = |norm: &T| underflows(*norm * *norm);
        if !self.plan.form.forms_rows() || !self.column_norms.as_ref().iter().any(hidden) {
            return Ok(false);
        }
        // Squares of what is left of such a column are in the middle of the range of the float.
        let unit = T::EPSILON.powi(-4);
        let (x, n) = (self.x.as_ref(), self.plan.n);
        // Jᵀr and the squared norms, in these units.
        let (gradient, squares) = (self.step.as_mut(), self.correction.as_mut());
        gradient.fill(T::ZERO);
        squares.fill(T::ZERO);
        let visited = self.tiles.linearize(problem, x, |_, _, r, jacobian| {
            for (row, &r) in jacobian.chunks_exact(n).zip(r.iter()) {
                for (j, &derivative) in row.iter().enumerate() {
                    let derivative = unit * derivative;
                    gradient[j] += derivative * r;
                    squares[j] += derivative * derivative;
                }
            }
            Ok(())
        });
        self.tiles.forget();
        self.evaluations.jacobians += 1;
        match &self.rank_sync {
            None => visited?,
            Some(rank_sync) => {
                rank_sync.sum(gradient, visited)?;
                rank_sync.sum(squares, Ok(()))?;
            }
        }
        let tolerance = settings.largest_cosine() * self.squares.sqrt();
        let sums = self.step.as_ref().iter().zip(self.correction.as_ref());
        let mut columns = self.column_norms.as_ref().iter().zip(sums).enumerate();
        Ok(columns.any(|(j, (norm, (&gradient, &square)))| {
            hidden(norm) && self.held_by(j).is_none() && gradient.abs() > tolerance * square.sqrt()
        }))
    }

    /// Makes the trial point one that is a few units of the last digit away, upwards or in both directions in turns, as far as bounds
    /// allow.
    fn displace<P: LeastSquares<T> + ?Sized>(&mut self, problem: &P, alternate: bool) {
        let is_single = size_of::<T>() == size_of::<f32>();
        let unit = T::from_f64(DISPLACEMENTS[usize::from(is_single)]) * T::EPSILON;
        if let Some(manifold) = problem.manifold() {
            let mut step = self.sizes().to_vec();
            let signs = (0..).map(|j| if alternate && j % 2 == 1 { -unit } else { unit });
            step.iter_mut().zip(signs).for_each(|(step, unit)| *step *= unit);
            return manifold.plus(self.x.as_ref(), &step, self.trial.as_mut());
        }
        for (j, (trial, &x)) in self.trial.as_mut().iter_mut().zip(self.x.as_ref()).enumerate() {
            let displaced = if alternate && j % 2 == 1 { x - unit * x } else { x + unit * x };
            let is_allowed = self.bounds.as_ref().is_none_or(|bounds| bounds.contains(j, displaced));
            *trial = if is_allowed { displaced } else { x };
        }
    }

    /// `‖r(trial) − r(x)‖²`, over all ranks; zero where that cannot be evaluated.
    fn squared_change<P: LeastSquares<T> + ?Sized>(&mut self, problem: &mut P) -> Result<T, EvaluationError> {
        let (x, trial) = (self.x.as_ref(), self.trial.as_ref());
        let mut sum = T::ZERO;
        let visited = self.tiles.visit_pairs(problem, |problem, first, here, there| {
            problem.residuals(x, first, here)?;
            problem.residuals(trial, first, there)?;
            sum += here
                .iter()
                .zip(there.iter())
                .fold(T::ZERO, |sum, (&here, &there)| sum + (there - here) * (there - here));
            Ok(())
        });
        self.evaluations.residuals += 2;
        match &mut self.rank_sync {
            None => visited?,
            Some(rank_sync) => rank_sync.sum(std::slice::from_mut(&mut sum), visited)?,
        }
        Ok(if sum.is_finite() { sum } else { T::ZERO })
    }
}
