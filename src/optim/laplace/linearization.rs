//! The Gauss–Newton matrix of an objective with weight decay, and what follows from it by the evidence.

use std::f64::consts::PI;
use std::ops::Range;

use crate::kernels::triangular::absorb_rows;
use crate::kernels::triangular_inverse::invert_upper;
use crate::kernels::vector::dot;
use crate::optim::{OptimizerError, OptimizerResult};
use crate::precision::compile_once;
use crate::problem::selected::{Selected, SelectionMemory, count, gather};
use crate::problem::{EvaluationError, LeastSquares, Objective};
use crate::real::Real;
use crate::solver::{SolveError, Triangle};
use crate::variables::{Variables, pattern};

/// Effective number of parameters below which the targets are nothing but noise.
pub(in crate::optim) const FEWEST_PARAMETERS: f64 = 1e-3;

/// First weight decay, relative to the mean square of the columns of the Jacobian. From a smaller one, the search may end where most of the noise is fitted.
const FIRST_DECAY: f64 = 0.1;

/// Names of biases.
const BIASES: &str = "*bias";

pub(super) fn refusal(reason: impl Into<String>) -> OptimizerError {
    OptimizerError::NoEvidence { reason: reason.into() }
}

/// The trainable parameters, and which of them decay.
#[derive(Debug, Clone)]
pub(in crate::optim) struct DecayingWeights {
    pub(super) columns: Vec<Range<usize>>,
    /// Index of the weight decay of each parameter; none if it does not decay.
    groups: Vec<Option<usize>>,
    /// Number of weight decays.
    decays: usize,
    /// Square roots of the weight decay of each parameter, relative to that of its group. All that follows is of the parameters times these.
    roots: Vec<f64>,
}

/// Arguments of [`triangle`].
struct Reduction<'a, T: Real> {
    problem: &'a mut (dyn LeastSquares<T> + 'a),
    variables: &'a Variables<T>,
    columns: &'a [Range<usize>],
}

compile_once!(triangle(Reduction) -> Result<Triangle, EvaluationError>);

impl<T: Real> Reduction<'_, T> {
    fn run(self) -> Result<Triangle<T>, EvaluationError> {
        let Reduction { problem, variables, columns } = self;
        let mut x = vec![T::ZERO; count(columns)];
        gather(&mut x, variables.values(), columns);
        let mut memory = SelectionMemory::of(variables.values());
        Triangle::at(&mut Selected { problem, columns, memory: &mut memory }, &x)
    }
}

impl DecayingWeights {
    /// The trainable variables with names that match a pattern, of which those with names that match an exclusion do not decay; with one weight
    /// decay, of which biases have a share, or one for each variable.
    pub(in crate::optim) fn of<T: Real>(
        variables: &Variables<T>,
        patterns: &[String],
        exclusions: &[String],
        is_per_variable: bool,
        bias_decay: f64,
    ) -> OptimizerResult<Self> {
        let matches = |patterns: &[String], name: &str| patterns.iter().any(|pattern| pattern::matches(pattern, name));
        let taken = variables.iter().filter(|&variable| {
            variables.is_trainable(variable) && !variable.is_empty() && matches(patterns, variables.name(variable))
        });
        let (mut columns, mut groups, mut roots, mut decays) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for variable in taken {
            columns.push(variable.range());
            let decays_too = !matches(exclusions, variables.name(variable));
            let group = decays_too.then_some(if is_per_variable { decays } else { 0 });
            decays = group.map_or(decays, |group| decays.max(group + 1));
            groups.resize(groups.len() + variable.len(), group);
            let is_bias = decays_too && !is_per_variable && pattern::matches(BIASES, variables.name(variable));
            roots.resize(groups.len(), if is_bias { bias_decay.sqrt() } else { 1.0 });
        }
        if columns.is_empty() {
            return Err(OptimizerError::NothingToTrain);
        }
        if decays == 0 {
            return Err(refusal("all trainable variables are excluded from it"));
        }
        Ok(DecayingWeights { columns, groups, decays, roots })
    }

    pub(super) fn count(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn undecaying(&self) -> usize {
        self.groups.iter().filter(|group| group.is_none()).count()
    }

    /// Number of weight decays.
    pub(in crate::optim) fn decays(&self) -> usize {
        self.decays
    }

    /// The weight decay of each parameter.
    pub(in crate::optim) fn ridge<T: Real>(&self, decays: &[f64]) -> Vec<T> {
        let decay = |(group, root): (&Option<usize>, f64)| group.map_or(0.0, |group| decays[group] * root * root);
        self.groups.iter().zip(self.roots.iter().copied()).map(decay).map(T::from_f64).collect()
    }

    /// Number of parameters of each weight decay, and the sum of their squares.
    fn squares<T: Real>(&self, variables: &Variables<T>) -> Vec<(f64, f64)> {
        let mut squares = vec![(0.0, 0.0); self.decays];
        let values = self.columns.iter().cloned().flatten().map(|j| variables.values()[j].to_f64());
        for ((value, root), group) in values.zip(&self.roots).zip(&self.groups) {
            if let Some(group) = *group {
                squares[group].0 += 1.0;
                squares[group].1 += (root * value).powi(2);
            }
        }
        squares
    }

    /// Rows of derivatives by the parameters, turned into those by the parameters times their roots.
    pub(super) fn scaled<T: Real>(&self, rows: &[T]) -> Vec<f64> {
        rows.iter().zip(self.roots.iter().cycle()).map(|(entry, root)| entry.to_f64() / root).collect()
    }

    /// Linearises the objective at the variables, as `n` columns.
    pub(in crate::optim) fn measure<T: Real>(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &Variables<T>,
    ) -> OptimizerResult<Linearization> {
        let misfit = self.misfit(objective, variables)?;
        let problem = objective.least_squares()?;
        let Triangle { triangle, sum_of_squares, rows, .. } =
            triangle(Reduction { problem, variables, columns: &self.columns })?;
        let sum_of_squares = misfit.loss.map_or(sum_of_squares.to_f64(), |loss| 2.0 * loss);
        let triangle = self.scaled(&triangle);
        self.linearization(triangle, self.groups.clone(), misfit, (sum_of_squares, rows), variables)
    }

    /// Linearises the objective at the variables, as `m` rows of the Jacobian, which are returned. All parameters decay alike.
    pub(super) fn measure_rows<T: Real>(
        &self,
        objective: &mut dyn Objective<T>,
        variables: &Variables<T>,
    ) -> OptimizerResult<(Linearization, Vec<f64>)> {
        let misfit = self.misfit(objective, variables)?;
        let problem = objective.least_squares()?;
        let (m, n) = (problem.residual_count(), self.count());
        let mut memory = SelectionMemory::of(variables.values());
        let mut selected = Selected { problem, columns: &self.columns, memory: &mut memory };
        let mut x = vec![T::ZERO; n];
        gather(&mut x, variables.values(), &self.columns);
        let (mut r, mut jacobian) = (vec![T::ZERO; m], vec![T::ZERO; m * n]);
        selected.linearize(&x, 0, &mut r, &mut jacobian)?;
        let jacobian = self.scaled(&jacobian);
        let mut transposed = vec![0.0; m * n];
        for (i, row) in jacobian.chunks_exact(n).enumerate() {
            transposed.iter_mut().skip(i).step_by(m).zip(row).for_each(|(to, &entry)| *to = entry);
        }
        let mut triangle = vec![0.0; m * m];
        let [mut rotated, mut work] = [(); 2].map(|()| vec![0.0; m]);
        absorb_rows(&mut triangle, &mut rotated, &mut transposed, &mut vec![0.0; n], &mut work);
        let squares = r.iter().map(|r| r.to_f64().powi(2)).sum();
        let sum_of_squares = misfit.loss.map_or(squares, |loss| 2.0 * loss);
        let measured = self.linearization(triangle, vec![Some(0); m], misfit, (sum_of_squares, m), variables)?;
        Ok((measured, jacobian))
    }

    /// Noise of an objective as far as it is known, if it can have evidence.
    fn misfit<T: Real>(&self, objective: &mut dyn Objective<T>, variables: &Variables<T>) -> OptimizerResult<Misfit> {
        let dispersion = objective.dispersion().map(T::to_f64);
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
        if problem.capabilities().cost_of(0, &r).is_none() {
            return Ok(Misfit { loss: None, dispersion: None });
        }
        let Some(dispersion) = dispersion else {
            return Err(refusal(
                "the loss is neither a sum of squares, such as the mean squared error, nor a log-likelihood",
            ));
        };
        let loss = objective.loss(variables.values())?.to_f64();
        Ok(Misfit { loss: Some(loss), dispersion: Some(dispersion) })
    }

    fn linearization<T: Real>(
        &self,
        triangle: Vec<f64>,
        groups: Vec<Option<usize>>,
        misfit: Misfit,
        (sum_of_squares, rows): (f64, usize),
        variables: &Variables<T>,
    ) -> OptimizerResult<Linearization> {
        let undecaying = self.undecaying();
        if rows <= undecaying && misfit.dispersion.is_none() {
            return Err(refusal(format!(
                "{rows} residuals determine no noise beside {undecaying} parameters that do not decay"
            )));
        }
        if !(sum_of_squares.is_finite() && triangle.iter().all(|entry| entry.is_finite())) {
            return Err(OptimizerError::NonFiniteLoss { value: sum_of_squares });
        }
        let (parameters, squares) = (self.count(), self.squares(variables));
        let (Misfit { dispersion, .. }, epsilon) = (misfit, T::EPSILON.to_f64());
        Ok(Linearization {
            triangle,
            groups,
            parameters,
            undecaying,
            rows,
            epsilon,
            sum_of_squares,
            squares,
            dispersion,
        })
    }
}

/// The loss, where it is not half the sum of squares, and the factor of the likelihood in it.
struct Misfit {
    loss: Option<f64>,
    dispersion: Option<f64>,
}

/// The Jacobian at a point, reduced.
#[derive(Debug, Clone)]
pub(in crate::optim) struct Linearization {
    /// The triangle `R` of `RᵀR = JᵀJ` or `JJᵀ`.
    triangle: Vec<f64>,
    /// Index of the weight decay that is added to each column of the triangle.
    groups: Vec<Option<usize>>,
    parameters: usize,
    /// Parameters that do not decay.
    undecaying: usize,
    rows: usize,
    /// Relative rounding error of the entries.
    epsilon: f64,
    /// `‖r‖²`, or twice the loss.
    sum_of_squares: f64,
    /// Number of parameters of each weight decay, and the sum of their squares.
    squares: Vec<(f64, f64)>,
    /// Factor of the likelihood in the loss, where it is known.
    dispersion: Option<f64>,
}

/// Estimates at a point.
#[derive(Debug, Clone)]
pub(in crate::optim) struct Estimate {
    /// The next weight decays.
    pub(in crate::optim) weight_decays: Vec<f64>,
    /// Effective number of parameters that decay.
    pub(in crate::optim) determined: f64,
    pub(in crate::optim) effective: f64,
    /// Standard deviation of the residuals.
    pub(in crate::optim) noise: f64,
    pub(in crate::optim) log_evidence: f64,
}

impl Linearization {
    pub(in crate::optim) fn parameters(&self) -> usize {
        self.parameters
    }

    pub(in crate::optim) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn dispersion(&self) -> Option<f64> {
        self.dispersion
    }

    /// Mean square of the columns of the Jacobian.
    pub(in crate::optim) fn mean_square(&self) -> f64 {
        dot(&self.triangle, &self.triangle) / self.parameters as f64
    }

    /// A weight decay to begin with.
    pub(in crate::optim) fn first_decay(&self) -> OptimizerResult<f64> {
        let mean_square = self.mean_square();
        if mean_square == 0.0 {
            return Err(refusal("the loss depends on none of the trainable variables"));
        }
        Ok(FIRST_DECAY * mean_square)
    }

    /// The upper triangle `F` of `FFᵀ = (RᵀR + decays)⁻¹`, and the logarithm of the determinant of what is inverted.
    pub(super) fn inverse_root(&self, decays: &[f64]) -> OptimizerResult<(Vec<f64>, f64)> {
        let k = self.groups.len();
        let mut root = self.triangle.clone();
        let mut ridge = vec![0.0; k * k];
        for (j, group) in self.groups.iter().enumerate() {
            ridge[j * k + j] = group.map_or(0.0, |group| decays[group].sqrt());
        }
        let [mut rotated, mut r, mut work] = [(); 3].map(|()| vec![0.0; k]);
        absorb_rows(&mut root, &mut rotated, &mut ridge, &mut r, &mut work);
        let log_determinant: f64 = (0..k).map(|j| 2.0 * root[j * k + j].abs().ln()).sum();
        let is_lost = |j: usize| {
            let column = root.iter().skip(j).step_by(k).map(|entry| entry * entry).sum::<f64>().sqrt();
            root[j * k + j].abs() <= k as f64 * self.epsilon * column
        };
        let is_without = |j: usize| self.groups[j].is_none_or(|group| decays[group] == 0.0);
        if !log_determinant.is_finite() || (0..k).any(|j| is_without(j) && is_lost(j)) {
            let has_decay = decays.iter().any(|&decay| decay > 0.0);
            let which = if has_decay { "the parameters that do not decay" } else { "all parameters" };
            return Err(refusal(format!("the residuals do not determine {which}")));
        }
        invert_upper(&mut root, k);
        Ok((root, log_determinant))
    }

    /// Estimates with these weight decays, of which the point is the minimum.
    pub(in crate::optim) fn estimate(&self, decays: &[f64]) -> OptimizerResult<Estimate> {
        let k = self.groups.len();
        let (inverse, log_determinant) = self.inverse_root(decays)?;
        let mut determined = vec![0.0; decays.len()];
        for (j, group) in self.groups.iter().enumerate() {
            if let Some(group) = *group {
                determined[group] += 1.0 - decays[group] * dot(&inverse[j * k..][..k], &inverse[j * k..][..k]);
            }
        }
        determined.iter_mut().zip(&self.squares).for_each(|(of, &(count, _))| *of = of.clamp(0.0, count));
        let effective = determined.iter().sum::<f64>() + self.undecaying as f64;
        // Eigenvalues of JᵀJ beside those of JJᵀ are zero.
        let beside = self.parameters as f64 - k as f64;
        let log_determinant = log_determinant + if beside > 0.0 { beside * decays[0].ln() } else { 0.0 };

        let (m, undecaying) = (self.rows as f64, self.undecaying as f64);
        let sum_of_squares = self.sum_of_squares;
        let square_of_noise = match self.dispersion {
            Some(dispersion) => dispersion,
            None if sum_of_squares == 0.0 => 0.0,
            None => sum_of_squares / (m - effective).max(0.0),
        };
        let squares = self.squares.iter();
        let weight_decays =
            determined.iter().zip(squares.clone()).map(|(of, (_, sum))| of / sum * square_of_noise).collect();
        let log_evidence = if square_of_noise == 0.0 {
            f64::INFINITY
        } else {
            let (mut of_prior, mut of_decay) = (0.0, 0.0);
            for (decay, (count, sum)) in decays.iter().zip(squares) {
                of_prior += count * decay.ln();
                of_decay += decay * sum;
            }
            let misfit = sum_of_squares + of_decay;
            let of_noise = match self.dispersion {
                Some(dispersion) => misfit / dispersion - undecaying * (2.0 * PI * dispersion).ln(),
                // With the noise that makes it largest; where the weight decay has settled, the estimate.
                None => (m - undecaying) * (1.0 + (2.0 * PI * misfit / (m - undecaying)).ln()),
            };
            0.5 * (of_prior - log_determinant - of_noise)
        };
        let determined = determined.iter().sum();
        Ok(Estimate { weight_decays, determined, effective, noise: square_of_noise.sqrt(), log_evidence })
    }

    /// The one weight decay that the evidence asks for at this point.
    pub(super) fn settled_decay(&self) -> OptimizerResult<f64> {
        let (mut decay, smallest) = (self.first_decay()?, self.mean_square() * f64::EPSILON);
        for _ in 0..ROUNDS {
            let next = self.estimate(&[decay])?;
            let [found] = next.weight_decays[..] else { break };
            if !(found.is_finite() && found > smallest && next.determined > FEWEST_PARAMETERS) {
                break;
            }
            let change = (found / decay - 1.0).abs();
            decay = found;
            if change < SETTLED {
                break;
            }
        }
        Ok(decay)
    }
}

/// Updates of the weight decay at a point at most, and the relative change below which it has settled.
const ROUNDS: usize = 50;
const SETTLED: f64 = 1e-3;
