//! Bayesian regularisation: weight decay and noise by the evidence.

use std::fmt;

use crate::optim::OptimizerResult;
use crate::optim::laplace::{DecayingWeights, Estimate, FEWEST_PARAMETERS};
use crate::problem::Objective;
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Report, Status};
use crate::variables::Variables;

/// Solves, each with a better weight decay, after which the search ends.
const ROUNDS: usize = 200;

/// Iterations of a solve whose weight decay has not nearly settled.
const EARLY_ITERATIONS: usize = 20;

/// Relative change of the weight decay below which it has nearly settled.
const NEARLY_SETTLED: f64 = 0.1;

/// Factor of the first weight decay of a second search, where the first one has ended with weights of zero.
const SMALLER: f64 = 0.01;

/// Relative change of the weight decay below which it has settled.
const SETTLED: f64 = 1e-4;

/// Result of [`minimize_variables_by_evidence`](LevenbergMarquardt::minimize_variables_by_evidence).
#[derive(Debug)]
#[non_exhaustive]
pub struct Evidence<T> {
    /// Report of the last solve, with the work of all.
    pub report: Report<T>,
    /// Weight decay `α / β` of the last solve, that of the first variable where each has its own, in the unit of [`with_weight_decay`](LevenbergMarquardt::with_weight_decay).
    pub weight_decay: T,
    /// The weight decays [of each variable](LevenbergMarquardt::with_decay_per_variable) that decays, in their order, or the one.
    pub weight_decays: Vec<T>,
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
    fn of(
        report: Report<T>,
        estimate: Estimate,
        (parameters, residuals): (usize, usize),
        (decays, rounds, is_settled): (&[f64], usize, bool),
    ) -> Self {
        Evidence {
            report,
            weight_decay: T::from_f64(decays[0]),
            weight_decays: decays.iter().map(|&decay| T::from_f64(decay)).collect(),
            effective_parameters: T::from_f64(estimate.effective),
            parameters,
            residuals,
            noise: T::from_f64(estimate.noise),
            log_evidence: T::from_f64(estimate.log_evidence),
            rounds,
            is_settled,
        }
    }

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
    /// begins at the solver's own weight decay, or at a large one, and again at a small one where that leaves no weights; [excluded](Self::exclude_from_weight_decay) variables do not decay. Other
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
    /// [`OptimizerError::NoEvidence`](crate::optim::OptimizerError::NoEvidence) for losses that are neither sums of squares nor log-likelihoods, problems with bounds, and where nothing decays or not
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
        let training = &self.settings.training;
        let weights =
            DecayingWeights::of(variables, &["*".to_owned()], &training.exclusions, training.decay_per_variable)?;
        let [_, _, decay, ..] = training.at(0)?;
        let start = weights.measure(objective, variables)?;
        let (mean_square, first_decay) = (start.mean_square(), start.first_decay()?);
        let mut decays = vec![if decay == 0.0 { first_decay } else { decay }; weights.decays()];
        let [smallest, largest] = [T::EPSILON.to_f64().powi(2) * mean_square, mean_square / T::EPSILON.to_f64()];
        let before = (decay == 0.0).then(|| variables.values().to_vec());
        let (mut rounds, mut is_early, mut earlier, mut before) = (0, true, None, before);
        loop {
            rounds += 1;
            let mut solver = self.clone();
            if is_early {
                solver.settings.max_iterations = EARLY_ITERATIONS.min(self.settings.max_iterations);
            }
            let mut report = solver.minimize_with_ridge(objective, variables, weights.ridge(&decays), &mut ())?;
            let here = weights.measure(objective, variables)?;
            let estimate = here.estimate(&decays)?;
            if let Some(earlier) = earlier.take() {
                report = report.after(earlier);
            }
            let mut next = estimate.weight_decays.clone();
            if next.len() > 1 {
                // A variable that the data do not need decays ever more.
                next.iter_mut().for_each(|decay| *decay = decay.clamp(smallest, largest));
            }
            let changes = next.iter().zip(&decays).map(|(next, decay)| (next / decay - 1.0).abs());
            let change = changes.fold(0.0, |most, change| if change <= most { most } else { change });
            let is_last = change < SETTLED && !(is_early && report.status == Status::MaxIterations)
                || rounds >= ROUNDS
                || has_failed(report.status)
                || !(next.iter().all(|decay| decay.is_finite()) && estimate.determined > FEWEST_PARAMETERS)
                || next.iter().all(|&decay| decay <= smallest);
            if is_last
                && estimate.determined <= FEWEST_PARAMETERS
                && !has_failed(report.status)
                && let Some(before) = before.take()
            {
                variables.values_mut().copy_from_slice(&before);
                decays.fill(SMALLER * first_decay);
                (is_early, earlier) = (true, Some(report));
                continue;
            }
            if is_last {
                let is_settled =
                    change < SETTLED && !has_failed(report.status) && report.status != Status::MaxIterations;
                let sizes = (here.parameters(), here.rows());
                return Ok(Evidence::of(report, estimate, sizes, (&decays, rounds, is_settled)));
            }
            is_early &= change > NEARLY_SETTLED;
            (decays, earlier) = (next, Some(report));
        }
    }
}

/// Returns true for an end that another weight decay does not change.
fn has_failed(status: Status) -> bool {
    use Status::{Cancelled, EvaluationFailed, MaxEvaluations, TimeLimit, WrongDerivatives};
    matches!(status, Cancelled | EvaluationFailed | MaxEvaluations | TimeLimit | WrongDerivatives)
}
