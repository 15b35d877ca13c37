//! Residual blocks that contradict the others.

use std::collections::HashMap;

use super::block::ResidualBlock;
use super::covariance::BlockCovariance;
use super::error::GraphError;
use super::innovation::Innovation;
use super::problem::Problem;
use crate::problem::Loss;
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{LevenbergMarquardt, Report, Status};
use crate::statistics::distributions::chi_squared_upper_quantile;

/// Relative reduction of the cost at which solves on the way end, and most trial steps of one.
const ROUGH_FTOL: f64 = 1e-3;
const ROUGH_ITERATIONS: usize = 10;

/// Most solves with outliers excluded, and most rounds in which consistent blocks are included.
const MAX_FINAL_ROUNDS: usize = 10;
const MAX_INCLUSIONS: usize = 40;

/// Most standard deviations of the noise that are tried, the share of one below which residuals are too small for it, and the factor by
/// which the next one is larger than they tell, as false blocks may be among them.
const MAX_NOISE_SCALES: usize = 4;
const SMALLER: f64 = 0.5;
const LARGER: f64 = 1.2;

/// Share of the consistent blocks that is included at once.
const INCLUDED_SHARE: f64 = 0.25;

/// Finds residual blocks that contradict the others, and leaves them out.
///
/// Two searches are made. The first is graduated non-convexity (Yang, Antonante, Tzoumas & Carlone 2020): residual blocks that may be false
/// are put under the Geman–McClure loss, `½C²‖r‖²/(C² + ‖r‖²)`. Its scale `C` is first so large that the cost is almost that of least
/// squares, and shrinks from solve to solve to the largest length that the noise explains. The second begins without these blocks, and
/// includes those that agree with what the others tell, `rᵀ(I + JΣJᵀ)⁻¹r ≤ C²`, the best known first. The selection of lower cost is taken,
/// in which an excluded block costs `½C²`; at its minimum, blocks change sides until they are consistent.
///
/// The cost is that of some 50 solves from near starts, and of as many covariances as blocks are included in rounds.
///
/// ```
/// use marquardt::LevenbergMarquardt;
/// use marquardt::graph::{GraduatedNonConvexity, Problem, RelativePose2};
/// use marquardt::manifold::{Pose2, SE2};
///
/// // A robot drives along a line. One of two measurements of its last place is false.
/// let identity = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let mut problem = Problem::<f64>::new();
/// let mut poses = Vec::new();
/// for i in 0..5 {
///     poses.push(problem.add_parameter_block(SE2, &Pose2::new(1.1 * i as f64, 0.0, 0.0).to_array())?);
/// }
/// problem.set_constant(poses[0])?;
/// for i in 1..5 {
///     problem.add_residual_block(RelativePose2::new(Pose2::new(1.0, 0.0, 0.0), identity)?, (poses[i - 1], poses[i]))?;
/// }
/// let right = problem.add_residual_block(RelativePose2::new(Pose2::new(4.2, 0.0, 0.0), identity)?, (poses[0], poses[4]))?;
/// let wrong = problem.add_residual_block(RelativePose2::new(Pose2::new(-40.0, 3.0, 2.0), identity)?, (poses[0], poses[4]))?;
/// let solved = GraduatedNonConvexity::new().solve(&LevenbergMarquardt::new(), &mut problem, &[right, wrong])?;
/// assert_eq!(solved.outliers, [wrong]);
/// assert!((problem.point(poses[4])?[0] - 4.16).abs() < 1e-9);
/// # Ok::<(), marquardt::graph::GraphError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GraduatedNonConvexity {
    noise_scale: Option<f64>,
    confidence: f64,
    factor: f64,
}

/// The end of a solve by [`GraduatedNonConvexity`].
#[derive(Debug)]
#[non_exhaustive]
pub struct GraduatedReport<T> {
    /// Report of the last solve, without the outliers.
    pub report: Report<T>,
    /// Residual blocks that were taken as false; they are excluded from the problem.
    pub outliers: Vec<ResidualBlock>,
    /// Standard deviation of the residuals, `√(Σr²/(m − n))`, in the end: 1 if information matrices are right. `None` where there are no
    /// more residuals than parameters.
    pub noise: Option<f64>,
}

impl Default for GraduatedNonConvexity {
    fn default() -> Self {
        Self::new()
    }
}

impl GraduatedNonConvexity {
    /// A standard deviation of the residuals of 1, unless they tell another, a confidence of 0.999, and scales that shrink by √1.4.
    pub fn new() -> Self {
        GraduatedNonConvexity { noise_scale: None, confidence: 0.999, factor: 1.4 }
    }

    /// Sets the standard deviation of the residuals of true blocks. By default it is first 1, that of residuals which are divided by their
    /// noise; if the residuals of the solution are less than half as large, the search is made again by what they tell.
    pub fn with_noise_scale(self, noise_scale: f64) -> Self {
        GraduatedNonConvexity { noise_scale: Some(noise_scale), ..self }
    }

    /// Sets the probability that a true block is shorter than the limit `C`, the root of a quantile of χ²; default 0.999.
    pub fn with_confidence(self, confidence: f64) -> Self {
        GraduatedNonConvexity { confidence, ..self }
    }

    /// Sets the factor by which the square of the scale shrinks from solve to solve; default 1.4.
    pub fn with_factor(self, factor: f64) -> Self {
        GraduatedNonConvexity { factor, ..self }
    }

    /// Solves a problem, some of whose residual blocks may be false. These candidates end with squares in place of their losses; all
    /// others are trusted, and keep theirs.
    ///
    /// # Errors
    ///
    /// Those of [`Problem::solve`]; [`GraphError::Graduation`] for a noise scale, a confidence or a factor out of range.
    pub fn solve<T: Real, D: DampingPolicy<T> + Clone>(
        &self,
        solver: &LevenbergMarquardt<T, D>,
        problem: &mut Problem<T>,
        candidates: &[ResidualBlock],
    ) -> Result<GraduatedReport<T>, GraphError> {
        self.check()?;
        let start = problem.x.clone();
        let mut noise_scale = self.noise_scale.unwrap_or(1.0);
        for _ in 1..MAX_NOISE_SCALES {
            let solved = self.solve_at(noise_scale, solver, problem, candidates)?;
            let is_known = self.noise_scale.is_some() || is_stopped(&solved.report);
            if is_known || solved.noise.is_none_or(|noise| noise > SMALLER * noise_scale) {
                return Ok(solved);
            }
            noise_scale = solved.noise.map_or(noise_scale, |noise| LARGER * noise);
            problem.x.copy_from_slice(&start);
        }
        self.solve_at(noise_scale, solver, problem, candidates)
    }

    /// Solves with this standard deviation of the residuals of true blocks.
    fn solve_at<T: Real, D: DampingPolicy<T> + Clone>(
        &self,
        noise_scale: f64,
        solver: &LevenbergMarquardt<T, D>,
        problem: &mut Problem<T>,
        candidates: &[ResidualBlock],
    ) -> Result<GraduatedReport<T>, GraphError> {
        let limits = self.limits(noise_scale, problem, candidates)?;
        let mut selection = Selection { problem, candidates, limits, is_outlier: Vec::new() };
        selection.select(vec![false; candidates.len()])?;
        let rough = solver.clone().with_ftol(T::from_f64(ROUGH_FTOL)).with_max_iterations(ROUGH_ITERATIONS);
        let rough = rough.with_polish(false);
        let start = selection.problem.x.clone();
        if let Some(report) = selection.graduate(&rough, self.factor)? {
            return Ok(GraduatedReport { report, outliers: Vec::new(), noise: None });
        }
        let graduated = selection.end(&rough)?;
        let (cost, end) = (selection.cost()?, (selection.problem.x.clone(), graduated));
        selection.problem.x.copy_from_slice(&start);
        let grown = selection.grow(&rough)?;
        let is_better = grown && selection.end(&rough).is_ok() && selection.cost()? < cost;
        if !is_better {
            selection.problem.x.copy_from_slice(&end.0);
            selection.select(end.1)?;
        }
        selection.finish(solver)
    }

    /// Cost of a problem at its points with the candidates under the last of the losses: false blocks cost little more than their limits.
    pub(super) fn cost(&self, problem: &mut Problem, candidates: &[ResidualBlock]) -> Result<f64, GraphError> {
        self.check()?;
        let limits = self.limits(self.noise_scale.unwrap_or(1.0), problem, candidates)?;
        for (&candidate, limit) in candidates.iter().zip(limits) {
            problem.set_loss(candidate, Some((Loss::GemanMcClure, limit)))?;
        }
        problem.cost()
    }

    /// Largest length of each candidate, if it is true.
    fn limits<T: Real>(
        &self,
        noise_scale: f64,
        problem: &Problem<T>,
        candidates: &[ResidualBlock],
    ) -> Result<Vec<f64>, GraphError> {
        let mut of_sizes = HashMap::new();
        let limit = |&candidate: &ResidualBlock| {
            let size = problem.residual_count_of(candidate)?;
            let limit = || noise_scale * chi_squared_upper_quantile(1.0 - self.confidence, size as f64).sqrt();
            Ok(*of_sizes.entry(size).or_insert_with(limit))
        };
        candidates.iter().map(limit).collect()
    }

    fn check(&self) -> Result<(), GraphError> {
        let GraduatedNonConvexity { noise_scale, confidence, factor } = *self;
        let noise_scale = noise_scale.unwrap_or(1.0);
        let numbers = [
            ("noise scale", noise_scale, noise_scale > 0.0 && noise_scale.is_finite()),
            ("confidence", confidence, confidence > 0.0 && confidence < 1.0),
            ("factor", factor, factor > 1.0 && factor.is_finite()),
        ];
        match numbers.into_iter().find(|&(_, _, is_right)| !is_right) {
            Some((name, value, _)) => Err(GraphError::Graduation { name, value }),
            None => Ok(()),
        }
    }
}

/// Returns true if a solve was stopped from outside.
fn is_stopped<T>(report: &Report<T>) -> bool {
    matches!(report.status, Status::Cancelled | Status::TimeLimit)
}

/// A problem, and which of its candidates are excluded.
struct Selection<'a, T: Real> {
    problem: &'a mut Problem<T>,
    candidates: &'a [ResidualBlock],
    limits: Vec<f64>,
    is_outlier: Vec<bool>,
}

impl<T: Real> Selection<'_, T> {
    /// Solves under losses whose scale shrinks to the limits. Returns the report of a solve that was cancelled.
    fn graduate<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
        factor: f64,
    ) -> Result<Option<Report<T>>, GraphError> {
        // The square of the scale over that of the limits.
        let mut control = 2.0 * self.excesses()?.into_iter().fold(0.5, f64::max);
        loop {
            for (&candidate, limit) in self.candidates.iter().zip(&self.limits) {
                let scale = T::from_f64(limit * control.sqrt());
                self.problem.set_loss(candidate, Some((Loss::GemanMcClure, scale)))?;
            }
            let report = self.problem.solve(solver)?;
            if is_stopped(&report) {
                return Ok(Some(report));
            }
            if control <= 1.0 {
                break;
            }
            control = (control / factor).max(1.0);
        }
        for &candidate in self.candidates {
            self.problem.set_loss(candidate, None)?;
        }
        let are_too_long = self.excesses()?.into_iter().map(|excess| excess > 1.0).collect();
        self.select(are_too_long)?;
        Ok(None)
    }

    /// Begins without the candidates, and includes those that are consistent with the others, the best known first. Returns false if
    /// the others do not determine the problem.
    fn grow<D: DampingPolicy<T>>(&mut self, solver: &LevenbergMarquardt<T, D>) -> Result<bool, GraphError> {
        self.select(vec![true; self.candidates.len()])?;
        for _ in 0..MAX_INCLUSIONS {
            if self.problem.solve(solver).is_err() {
                return Ok(false);
            }
            let Ok(mut covariance) = self.problem.covariance() else { return Ok(false) };
            let innovations = self.innovations(&mut covariance)?;
            let consistent = innovations.into_iter().filter(|&(k, innovation)| !self.is_too_long(k, innovation));
            let mut consistent: Vec<(usize, f64)> =
                consistent.map(|(k, innovation)| (k, innovation.uncertainty)).collect();
            consistent.sort_by(|a, b| a.1.total_cmp(&b.1));
            let count = (consistent.len() as f64 * INCLUDED_SHARE).ceil() as usize;
            if count == 0 {
                break;
            }
            let mut is_outlier = self.is_outlier.clone();
            consistent[..count].iter().for_each(|&(k, _)| is_outlier[k] = false);
            self.select(is_outlier)?;
        }
        Ok(true)
    }

    /// Solves, and lets blocks change sides, until all are consistent; returns which are excluded.
    fn end<D: DampingPolicy<T>>(&mut self, solver: &LevenbergMarquardt<T, D>) -> Result<Vec<bool>, GraphError> {
        for _ in 0..MAX_FINAL_ROUNDS {
            self.problem.solve(solver)?;
            let next = self.contradictions()?;
            if next == self.is_outlier {
                break;
            }
            self.select(next)?;
        }
        Ok(self.is_outlier.clone())
    }

    /// The same to the accuracy of the solver; the report is that of the last solve.
    fn finish<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
    ) -> Result<GraduatedReport<T>, GraphError> {
        let report = self.problem.solve(solver)?;
        let outliers = self.candidates.iter().zip(&self.is_outlier).filter(|&(_, &is_outlier)| is_outlier);
        let outliers: Vec<ResidualBlock> = outliers.map(|(&block, _)| block).collect();
        let freedom = self.problem.freedom().filter(|&freedom| freedom > 0);
        let noise = freedom.map(|freedom| (2.0 * report.cost.to_f64() / freedom as f64).sqrt());
        Ok(GraduatedReport { report, outliers, noise })
    }

    /// True for each candidate that contradicts the others: one that is included and longer than its limit, or one that is excluded and
    /// longer than its noise and that of the others explain.
    fn contradictions(&self) -> Result<Vec<bool>, GraphError> {
        let mut contradict: Vec<bool> = self.excesses()?.into_iter().map(|excess| excess > 1.0).collect();
        if let Ok(mut covariance) = self.problem.covariance() {
            for (k, innovation) in self.innovations(&mut covariance)? {
                contradict[k] = self.is_too_long(k, innovation);
            }
        }
        Ok(contradict)
    }

    /// Index and innovation of each excluded candidate.
    fn innovations(&self, covariance: &mut BlockCovariance<T>) -> Result<Vec<(usize, Innovation)>, GraphError> {
        let excluded: Vec<usize> = (0..self.candidates.len()).filter(|&k| self.is_outlier[k]).collect();
        let innovations = self.problem.innovations(excluded.iter().map(|&k| self.candidates[k]), covariance)?;
        Ok(excluded.into_iter().zip(innovations).collect())
    }

    /// Returns true if the noise of a candidate and that of the others do not explain its innovation.
    fn is_too_long(&self, candidate: usize, innovation: Innovation) -> bool {
        innovation.squared_length > self.limits[candidate] * self.limits[candidate]
    }

    /// Excludes these candidates, and includes the others.
    fn select(&mut self, is_outlier: Vec<bool>) -> Result<(), GraphError> {
        for (&candidate, &is_outlier) in self.candidates.iter().zip(&is_outlier) {
            self.problem.set_excluded(candidate, is_outlier)?;
        }
        self.is_outlier = is_outlier;
        Ok(())
    }

    /// Cost at the points as they are, with the squared limit for each excluded candidate.
    fn cost(&self) -> Result<f64, GraphError> {
        let excluded = self.limits.iter().zip(&self.is_outlier).filter(|&(_, &is_outlier)| is_outlier);
        Ok(self.problem.cost()?.to_f64() + excluded.map(|(limit, _)| 0.5 * limit * limit).sum::<f64>())
    }

    /// Squared length of each candidate, over that of its limit.
    fn excesses(&self) -> Result<Vec<f64>, GraphError> {
        let mut excesses = Vec::with_capacity(self.candidates.len());
        let mut limits = self.limits.iter();
        self.problem.for_each_residuals(self.candidates.iter().copied(), |r| {
            let squares = r.iter().map(|&r| r * r).sum::<T>().to_f64();
            excesses.extend(limits.next().map(|limit| squares / (limit * limit)));
        })?;
        match excesses.iter().copied().find(|excess| !excess.is_finite()) {
            Some(value) => Err(GraphError::Graduation { name: "squared length of a residual block", value }),
            None => Ok(excesses),
        }
    }
}
