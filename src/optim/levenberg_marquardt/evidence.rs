//! Bayesian regularisation: weight decay and noise by the evidence.

use std::f64::consts::PI;
use std::fmt;
use std::ops::Range;

use super::training::decays;
use crate::kernels::triangular::absorb_rows;
use crate::kernels::triangular_inverse::invert_upper;
use crate::kernels::vector::dot;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::precision::compile_once;
use crate::problem::selected::{Selected, SelectionMemory, count, gather};
use crate::problem::{EvaluationError, LeastSquares, Objective};
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Report, SolveError, Status, Triangle};
use crate::variables::Variables;

/// Solves, each with a better weight decay, after which the search ends.
const ROUNDS: usize = 200;

/// Iterations of a solve whose weight decay has not nearly settled.
const EARLY_ITERATIONS: usize = 20;

/// Relative change of the weight decay below which it has nearly settled.
const NEARLY_SETTLED: f64 = 0.1;

/// Relative change of the weight decay below which it has settled.
const SETTLED: f64 = 1e-4;

/// Effective number of parameters below which the targets are nothing but noise.
const FEWEST_PARAMETERS: f64 = 1e-3;

/// First weight decay, relative to the mean square of the columns of the Jacobian.
const FIRST_DECAY: f64 = 1e-3;

/// Result of [`minimize_variables_by_evidence`](LevenbergMarquardt::minimize_variables_by_evidence).
#[derive(Debug)]
#[non_exhaustive]
pub struct Evidence<T> {
    /// Report of the last solve, with the work of all.
    pub report: Report<T>,
    /// Weight decay `α / β` of the last solve, in the unit of [`with_weight_decay`](LevenbergMarquardt::with_weight_decay).
    pub weight_decay: T,
    /// Effective number of parameters `γ`, from 0 to [`parameters`](Self::parameters): parameters that the data determine, those that do
    /// not decay included.
    pub effective_parameters: T,
    /// Trainable parameters.
    pub parameters: usize,
    /// Residuals.
    pub residuals: usize,
    /// Standard deviation of the residuals, `1/√β`: `‖r‖ / √(m − γ)`. [`target_noise`](Self::target_noise) is in the unit of targets.
    pub noise: T,
    /// Logarithm of the evidence, `ln p(r | α, β)`; infinite where all residuals vanish. The larger of two is that of the better network, for the same targets and the same loss. Of a
    /// layer of `h` units of tanh, add `ln(h! 2ʰ)`, for as many minima are equal by symmetry.
    pub log_evidence: T,
    /// Solves made.
    pub rounds: usize,
    /// Whether the weight decay has settled to four digits and the last solve has ended by itself. It may not settle where the targets
    /// have no noise, or nothing but noise.
    pub is_settled: bool,
}

impl<T: Real> Evidence<T> {
    /// Standard deviation of the noise of the targets, for networks whose loss is one [`MeanSquaredError`](crate::nn::MeanSquaredError):
    /// its residuals are the errors times `√(2/m)`.
    pub fn target_noise(&self) -> T {
        self.noise * T::from_f64(0.5 * self.residuals as f64).sqrt()
    }
}

impl<T: Real> fmt::Display for Evidence<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_settled = if self.is_settled { "settled" } else { "not settled" };
        writeln!(f, "weight decay   {:.4e}, {is_settled} after {} solves", self.weight_decay, self.rounds)?;
        writeln!(f, "parameters     {}, effective {:.2}", self.parameters, self.effective_parameters)?;
        writeln!(f, "noise          {:.4e} of {} residuals", self.noise, self.residuals)?;
        writeln!(f, "log evidence   {:.4}", self.log_evidence)?;
        write!(f, "{}", self.report)
    }
}

impl<T: Real, D: DampingPolicy<T>> LevenbergMarquardt<T, D> {
    /// Minimises the loss with the weight decay that the evidence asks for: Bayesian regularisation, `trainbr` of MATLAB.
    ///
    /// Weights are taken to be normally distributed around zero with precision `α`, and residuals with precision `β`. Solves of
    /// `½ β ‖r‖² + ½ α ‖x‖²` alternate with the updates `α = γ / ‖x‖²` and `β = (m − γ) / ‖r‖²`, where `γ = n − α tr(H⁻¹)` is the
    /// effective number of parameters and `H = β JᵀJ + α` (MacKay 1992; Foresee & Hagan 1997). No rows are held back for validation.
    ///
    /// Inputs and targets should be of about 1, as [`Normalization`](crate::nn::Normalization) makes them: all weights decay alike. The search
    /// begins at the solver's own weight decay, or at a small one; [excluded](Self::exclude_from_weight_decay) variables do not decay. Other
    /// settings hold for each solve. `γ` takes `2mn² + O(n³)` flops and `n²` numbers of memory.
    ///
    /// ```
    /// use marquardt::nn::{MeanSquaredError, Sequential};
    /// use marquardt::{LevenbergMarquardt, Variables};
    /// use ndarray::Array2;
    ///
    /// let x = Array2::from_shape_fn((60, 1), |(i, _)| i as f64 / 30.0 - 1.0);
    /// let noise = |i: usize| 0.1 * (12.9898 * (i * i) as f64).sin();
    /// let y = Array2::from_shape_fn((60, 1), |(i, _)| (3.0 * x[[i, 0]]).sin() + noise(i));
    /// let mut variables = Variables::new();
    /// let layers = Sequential::new(1).dense(10).tanh().dense(1);
    /// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
    /// network.batch(&[x.view()], &[y.view()])?;
    ///
    /// let found = LevenbergMarquardt::new().minimize_variables_by_evidence(&mut network, &mut variables)?;
    /// assert!(found.is_settled && found.effective_parameters < 15.0, "{found}");
    /// assert!((found.target_noise() - 0.07).abs() < 0.02, "{found}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`OptimizerError::NoEvidence`] for losses that are no sums of squares, problems with bounds, and where nothing decays or not
    /// enough residuals remain; else as [`minimize_variables`](Self::minimize_variables). The variables are unchanged then.
    pub fn minimize_variables_by_evidence(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<Evidence<T>> {
        let before = variables.values().to_vec();
        let found = self.search_weight_decay(objective, variables);
        if found.is_err() {
            variables.values_mut().copy_from_slice(&before);
        }
        found
    }

    /// Solves with one weight decay after the other, until it has settled.
    fn search_weight_decay(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &mut Variables<T>,
    ) -> OptimizerResult<Evidence<T>> {
        let problem = Weights::of(variables, &self.settings.training.exclusions)?;
        let [_, _, mut decay, ..] = self.settings.training.at(0)?;
        let start = problem.measure(objective, variables)?;
        let mean_square = dot(&start.triangle, &start.triangle) / problem.decays.len() as f64;
        if mean_square == 0.0 {
            return Err(refusal("the loss depends on none of the trainable variables"));
        }
        if decay == 0.0 && mean_square.is_finite() {
            decay = FIRST_DECAY * mean_square;
        }
        let (mut rounds, mut is_early, mut earlier) = (0, true, None);
        loop {
            rounds += 1;
            let mut solver = self.clone().with_weight_decay(decay);
            if is_early {
                solver.settings.max_iterations = EARLY_ITERATIONS.min(self.settings.max_iterations);
            }
            let mut report = solver.minimize_variables(objective, variables)?;
            let estimate = problem.measure(objective, variables)?.estimate(&problem.decays, &report.x, decay)?;
            if let Some(earlier) = earlier.take() {
                report = report.after(earlier);
            }
            let change = (estimate.weight_decay / decay - 1.0).abs();
            let is_last = change < SETTLED && !(is_early && report.status == Status::MaxIterations)
                || rounds == ROUNDS
                || has_failed(report.status)
                || !(estimate.weight_decay.is_finite() && estimate.determined > FEWEST_PARAMETERS)
                || estimate.weight_decay <= T::EPSILON.to_f64().powi(2) * mean_square;
            if is_last {
                let is_settled =
                    change < SETTLED && !has_failed(report.status) && report.status != Status::MaxIterations;
                return Ok(estimate.evidence(report, (decay, rounds, is_settled)));
            }
            is_early &= change > NEARLY_SETTLED;
            (decay, earlier) = (estimate.weight_decay, Some(report));
        }
    }
}

/// Returns true for an end that another weight decay does not change.
fn has_failed(status: Status) -> bool {
    use Status::{Cancelled, EvaluationFailed, MaxEvaluations, TimeLimit, WrongDerivatives};
    matches!(status, Cancelled | EvaluationFailed | MaxEvaluations | TimeLimit | WrongDerivatives)
}

fn refusal(reason: &str) -> OptimizerError {
    OptimizerError::NoEvidence { reason: reason.to_owned() }
}

/// The trainable parameters.
struct Weights {
    columns: Vec<Range<usize>>,
    /// Whether each of them decays.
    decays: Vec<bool>,
}

/// Arguments of [`triangle`].
struct Linearization<'a, T: Real> {
    problem: &'a mut (dyn LeastSquares<T> + 'a),
    variables: &'a Variables<T>,
    columns: &'a [Range<usize>],
}

compile_once!(triangle(Linearization) -> Result<Triangle, EvaluationError>);

impl<T: Real> Linearization<'_, T> {
    fn run(self) -> Result<Triangle<T>, EvaluationError> {
        let Linearization { problem, variables, columns } = self;
        let mut x = vec![T::ZERO; count(columns)];
        gather(&mut x, variables.values(), columns);
        let mut memory = SelectionMemory::of(variables.values());
        Triangle::at(&mut Selected { problem, columns, memory: &mut memory }, &x)
    }
}

impl Weights {
    fn of<T: Real>(variables: &Variables<T>, exclusions: &[String]) -> OptimizerResult<Self> {
        let (columns, decays) = (variables.trainable_ranges(), decays(exclusions, variables));
        if columns.is_empty() {
            return Err(OptimizerError::NothingToTrain);
        }
        let decays: Vec<bool> = columns.iter().cloned().flatten().map(|j| decays[j] > T::ZERO).collect();
        if !decays.contains(&true) {
            return Err(refusal("all trainable variables are excluded from it"));
        }
        Ok(Weights { columns, decays })
    }

    /// Linearises the objective at the variables.
    fn measure<T: Real>(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &Variables<T>,
    ) -> OptimizerResult<Measured> {
        let problem = objective.least_squares()?;
        let (expected, found) = (problem.parameter_count(), variables.values().len());
        if expected != found {
            return Err(SolveError::WrongStartLength { expected, found }.into());
        }
        if problem.domain().bounds().is_some() {
            return Err(refusal("parameters have bounds"));
        }
        let mut r = vec![T::ZERO; problem.residual_count()];
        problem.residuals(variables.values(), 0, &mut r)?;
        if problem.capabilities().cost_of(0, &r).is_some() {
            return Err(refusal("the loss is not a sum of squares, such as the mean squared error"));
        }
        let Triangle { triangle, sum_of_squares, rows, .. } =
            triangle(Linearization { problem, variables, columns: &self.columns })?;
        let undecaying = self.decays.iter().filter(|&&decays| !decays).count();
        if rows <= undecaying {
            let reason =
                format!("{rows} residuals determine no noise beside {undecaying} parameters that do not decay");
            return Err(OptimizerError::NoEvidence { reason });
        }
        let triangle = triangle.into_iter().map(T::to_f64).collect();
        Ok(Measured { triangle, sum_of_squares: sum_of_squares.to_f64(), rows })
    }
}

/// The Jacobian at a point, reduced.
struct Measured {
    /// The triangle `R` of `QR = J`.
    triangle: Vec<f64>,
    /// `‖r‖²`.
    sum_of_squares: f64,
    rows: usize,
}

/// Estimates at a point.
struct Estimate {
    /// The next weight decay.
    weight_decay: f64,
    /// Effective number of parameters that decay.
    determined: f64,
    effective: f64,
    noise: f64,
    log_evidence: f64,
    parameters: usize,
    residuals: usize,
}

impl Measured {
    /// Estimates at the minimum `x` with this weight decay.
    fn estimate<T: Real>(self, decays: &[bool], x: &[T], decay: f64) -> OptimizerResult<Estimate> {
        let (n, m) = (decays.len(), self.rows);
        let count = decays.iter().filter(|&&decays| decays).count();
        // (JᵀJ + decay)⁻¹ = FFᵀ.
        let Measured { triangle: mut root, sum_of_squares, .. } = self;
        let mut ridge = vec![0.0; n * n];
        (0..n).filter(|&j| decays[j]).for_each(|j| ridge[j * n + j] = decay.sqrt());
        let [mut rotated, mut r, mut work] = [(); 3].map(|()| vec![0.0; n]);
        absorb_rows(&mut root, &mut rotated, &mut ridge, &mut r, &mut work);
        let log_determinant: f64 = (0..n).map(|j| 2.0 * root[j * n + j].abs().ln()).sum();
        if !log_determinant.is_finite() {
            return Err(refusal("the residuals do not determine the parameters that do not decay"));
        }
        invert_upper(&mut root, n);
        let variance = |j: usize| dot(&root[j * n..][..n], &root[j * n..][..n]);
        let determined: f64 = (0..n).filter(|&j| decays[j]).map(|j| 1.0 - decay * variance(j)).sum();
        let determined = determined.clamp(0.0, count as f64);
        let effective = determined + (n - count) as f64;
        let squares: f64 = x.iter().zip(decays).filter(|(_, decays)| **decays).map(|(x, _)| x.to_f64().powi(2)).sum();

        let (m, count) = (m as f64, count as f64);
        let square_of_noise = if sum_of_squares == 0.0 { 0.0 } else { sum_of_squares / (m - effective).max(0.0) };
        let weight_decay = determined / squares * square_of_noise;
        let log_evidence = if square_of_noise == 0.0 {
            f64::INFINITY
        } else {
            let misfit = (sum_of_squares + decay * squares) / square_of_noise;
            let of_noise = (m + count - n as f64) * (2.0 * PI * square_of_noise).ln();
            0.5 * (count * decay.ln() - log_determinant - misfit - of_noise)
        };
        let (noise, residuals) = (square_of_noise.sqrt(), self.rows);
        Ok(Estimate { weight_decay, determined, effective, noise, log_evidence, parameters: n, residuals })
    }
}

impl Estimate {
    fn evidence<T: Real>(self, report: Report<T>, (decay, rounds, is_settled): (f64, usize, bool)) -> Evidence<T> {
        Evidence {
            report,
            weight_decay: T::from_f64(decay),
            effective_parameters: T::from_f64(self.effective),
            parameters: self.parameters,
            residuals: self.residuals,
            noise: T::from_f64(self.noise),
            log_evidence: T::from_f64(self.log_evidence),
            rounds,
            is_settled,
        }
    }
}
