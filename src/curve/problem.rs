//! The least-squares problem of a curve, its data, and the bounds, ties and priors of its parameters.

use std::ops::Range;
use std::sync::atomic::AtomicBool;

use super::Curve;
use super::data::Data;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::model_sums::{ModelRows, ModelSums, Summand};
use super::noise::Noise;
use super::undefined_derivatives::Differences;
use crate::distributed::Communicator;
use crate::kernels::vector::{all_finite, dot};
use crate::problem::{Capabilities, ConcurrentRows, Evaluated, LeastSquares, ParameterDomain, Probe, advance};
use crate::real::Real;

/// Whitened residuals of the data, followed by those of the priors, as functions of the free parameters. Of rows that ranks
/// share, they are this rank's; rank 0 has the priors.
pub(super) struct CurveProblem<'p, T: Real> {
    curve: &'p dyn Curve<T>,
    data: &'p Data<'p, T>,
    map: &'p ParameterMap<T>,
    likelihood: &'p Likelihood<T>,
    /// All parameters of the curve, where it was evaluated last.
    all: Vec<T>,
    /// Derivatives of all parameters by the free ones, row after row.
    chain: Vec<T>,
    /// Rows of derivatives by all parameters.
    wide: Vec<T>,
    /// Free parameters where it was evaluated first, and whether it was last evaluated there.
    first: Vec<T>,
    is_first: bool,
    /// Derivatives may be undefined.
    expects_undefined: AtomicBool,
    /// Cost of the rows evaluated last.
    cost: T,
    /// Memory for the second derivative along a step.
    probe: Probe<T>,
}

impl<'p, T: Real> CurveProblem<'p, T> {
    pub(super) fn new(
        curve: &'p dyn Curve<T>,
        data: &'p Data<'p, T>,
        map: &'p ParameterMap<T>,
        likelihood: &'p Likelihood<T>,
    ) -> Self {
        let (all, chain) = map.begin();
        CurveProblem {
            curve,
            data,
            map,
            likelihood,
            all,
            chain,
            wide: Vec::new(),
            first: Vec::new(),
            is_first: true,
            expects_undefined: AtomicBool::new(false),
            cost: T::ZERO,
            probe: Probe::default(),
        }
    }

    /// Brings all parameters up to date. `false` where one is not finite, or a relation is violated: no such point is an answer, whatever
    /// the curve makes of it.
    fn arrive(&mut self, free: &[T]) -> bool {
        self.map.expand(free, &mut self.all, &mut self.chain);
        self.cost = T::ZERO;
        if self.first.is_empty() {
            self.first.extend(free);
        }
        self.is_first = self.first == free;
        all_finite(&self.all) && self.map.allows(&self.all)
    }

    /// All parameters of the curve, and their derivatives by the free ones, at free ones.
    pub(super) fn expand(&mut self, free: &[T]) -> (&[T], &[T]) {
        self.map.expand(free, &mut self.all, &mut self.chain);
        (&self.all, &self.chain)
    }

    /// Returns the number of data rows among `count` rows from `first` on.
    fn data_rows(&self, first: usize, count: usize) -> usize {
        self.data.y().len().saturating_sub(first).min(count)
    }

    /// Fills `r` with the whitened residuals of data, which are not weighed by the likelihood, and those of priors.
    pub(super) fn whitened(&mut self, free: &[T], first: usize, r: &mut [T]) -> Evaluated {
        if !self.arrive(free) {
            r.fill(T::from_f64(f64::NAN));
            return Ok(());
        }
        self.whitened_here(first, r).map(|_| ())
    }

    /// Writes the whitened residuals where all parameters are up to date; returns the cost of priors.
    fn whitened_here(&self, first: usize, r: &mut [T]) -> Evaluated<T> {
        let (of_data, of_priors) = r.split_at_mut(self.data_rows(first, r.len()));
        let predictors = self.data.predictors(first, of_data.len());
        self.curve.responses(predictors, self.data.width(), &self.all, of_data)?;
        self.data.subtract(first, of_data);
        self.data.noise.whiten(first, of_data, &mut [], 1);
        Ok(self.fill_priors(first + of_data.len(), of_priors, &mut []))
    }

    /// Fills `r` with the residuals where all parameters are up to date; returns their cost, unless that is the sum of squares.
    fn residuals_here(&self, first: usize, r: &mut [T]) -> Evaluated<T> {
        let of_priors = self.whitened_here(first, r)?;
        let count = self.data_rows(first, r.len());
        Ok(of_priors + self.weigh(first, &mut r[..count], &mut []))
    }

    /// Fills rows of the Jacobian too, with room for rows of derivatives by all parameters.
    fn linearize_here(&self, first: usize, r: &mut [T], jacobian: &mut [T], wide: &mut Vec<T>) -> Evaluated<T> {
        let count = self.data_rows(first, r.len());
        let (of_data, of_priors) = r.split_at_mut(count);
        let (data_rows, prior_rows) = jacobian.split_at_mut(count * self.map.free().len());
        let predictors = (self.data.predictors(first, count), self.data.width());
        let range = |index: usize| self.map.parameters[index].range();
        let differences = Differences {
            start: || Some(self.map.begin().0),
            is_first: self.is_first,
            range,
            are_expected: &self.expects_undefined,
        };
        if self.map.is_identity() {
            differences.linearize(self.curve, predictors, &self.all, of_data, data_rows)?;
        } else {
            wide.resize(count * self.map.count(), T::ZERO);
            differences.linearize(self.curve, predictors, &self.all, of_data, wide)?;
            self.map.narrow(&self.chain, wide, data_rows);
        }
        self.data.subtract(first, of_data);
        self.data.noise.whiten(first, of_data, data_rows, self.map.free().len());
        let cost = self.weigh(first, of_data, data_rows);
        Ok(cost + self.fill_priors(first + count, of_priors, prior_rows))
    }

    /// These rows, where they are of data alone, with a response and a standard deviation each, the parameters are the curve's, and the cost
    /// is the sum of squares.
    fn rows_alone(&self, rows: &Range<usize>) -> Option<ModelRows<'_, T>> {
        let sigma: &[T] = match &self.data.noise {
            Noise::Uniform => &[],
            Noise::Sigma(sigma) => sigma.get(rows.clone())?,
            Noise::Correlated(_) => return None,
        };
        let is_plain = self.map.is_identity() && self.likelihood.is_sum_of_squares() && self.data.outputs() == 1;
        let are_data = rows.end <= self.data.y().len();
        let at = || ModelRows {
            x: self.data.predictors(rows.start, rows.len()),
            width: self.data.width(),
            b: &self.all,
            sigma,
        };
        (is_plain && are_data).then(at)
    }

    /// Weighs whitened rows of data as the likelihood does; returns their cost, unless that is the sum of squares.
    #[inline]
    fn weigh(&self, first: usize, r: &mut [T], jacobian: &mut [T]) -> T {
        let n = self.map.free().len().max(1);
        if self.likelihood.is_sum_of_squares() {
            return T::ZERO;
        }
        self.likelihood.reweigh(&self.data.y()[first..], r, jacobian, n)
    }

    /// Fills the rows from `first` on that are not those of data; returns their cost.
    fn fill_priors(&self, first: usize, r: &mut [T], jacobian: &mut [T]) -> T {
        let mut cost = T::ZERO;
        if r.is_empty() {
            return cost;
        }
        let n = self.map.free().len().max(1);
        let skipped = first.saturating_sub(self.data.y().len());
        r.fill(T::ZERO);
        jacobian.fill(T::ZERO);
        for (k, (index, mean, deviation)) in self.map.priors().skip(skipped).take(r.len()).enumerate() {
            r[k] = (self.all[index] - mean) / deviation;
            if let Some(row) = jacobian.chunks_exact_mut(n).nth(k) {
                let derivatives = self.chain[index * n..(index + 1) * n].iter();
                row.iter_mut().zip(derivatives).for_each(|(row, &derivative)| *row = derivative / deviation);
            }
            cost += T::from_f64(0.5) * r[k] * r[k];
        }
        cost
    }

    /// The cost of rows, which is `own` where it is not the sum of squares.
    #[inline]
    fn cost_or(&self, own: T, r: &[T]) -> T {
        if self.likelihood.is_sum_of_squares() { T::from_f64(0.5) * dot(r, r) } else { own }
    }
}

/// All parameters are up to date.
impl<T: Real> ConcurrentRows<T> for CurveProblem<'_, T> {
    fn evaluate_rows(&self, first: usize, r: &mut [T]) -> Evaluated<T> {
        let cost = self.residuals_here(first, r)?;
        Ok(self.cost_or(cost, r))
    }

    fn linearize_rows(&self, first: usize, r: &mut [T], jacobian: &mut [T], room: &mut Vec<T>) -> Evaluated<T> {
        let cost = self.linearize_here(first, r, jacobian, room)?;
        Ok(self.cost_or(cost, r))
    }

    fn add_products(&self, rows: Range<usize>, gram: &mut [T], gradient: &mut [T]) -> Option<T> {
        let (at, summand) = (self.rows_alone(&rows)?, Summand::Products { y: &self.data.y()[rows] });
        let mut sums = ModelSums { gram, vector: gradient, squares: T::ZERO };
        self.curve.add_sums(at, summand, &mut sums).then_some(sums.squares)
    }

    fn add_forcing(
        &self,
        rows: Range<usize>,
        (v, ahead, probe): (&[T], &[T], T),
        room: &mut [T],
        sums: &mut [T],
    ) -> Evaluated<bool> {
        let Some(at) = self.rows_alone(&rows) else { return Ok(false) };
        self.curve.responses(at.x, at.width, ahead, room)?;
        let mut sums = ModelSums { gram: &mut [], vector: sums, squares: T::ZERO };
        Ok(self.curve.add_sums(at, Summand::Forcing { ahead: room, v, probe }, &mut sums))
    }
}

impl<T: Real> LeastSquares<T> for CurveProblem<'_, T> {
    fn parameter_count(&self) -> usize {
        self.map.free().len()
    }

    fn residual_count(&self) -> usize {
        let priors = if self.data.ranks().is_root() { self.map.priors().count() } else { 0 };
        (self.data.y().len() + priors).next_multiple_of(self.data.outputs())
    }

    fn row_group(&self) -> usize {
        match self.data.noise {
            Noise::Correlated(_) => self.residual_count(),
            _ if self.curve.takes_all_rows() => self.residual_count(),
            _ => self.data.outputs(),
        }
    }

    fn residuals(&mut self, free: &[T], first: usize, r: &mut [T]) -> Evaluated {
        if !self.arrive(free) {
            r.fill(T::from_f64(f64::NAN));
            self.cost = T::from_f64(f64::NAN);
            return Ok(());
        }
        self.cost = self.residuals_here(first, r)?;
        Ok(())
    }

    fn linearize(&mut self, free: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Evaluated {
        if !self.arrive(free) {
            r.fill(T::from_f64(f64::NAN));
            jacobian.fill(T::from_f64(f64::NAN));
            self.cost = T::from_f64(f64::NAN);
            return Ok(());
        }
        let mut wide = std::mem::take(&mut self.wide);
        let cost = self.linearize_here(first, r, jacobian, &mut wide);
        self.wide = wide;
        self.cost = cost?;
        Ok(())
    }

    fn domain(&self) -> ParameterDomain<'_, T> {
        self.map.bounds().into()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.map.name(self.map.free()[index]).to_owned()
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<T> {
        self
    }
}

impl<T: Real> Capabilities<T> for CurveProblem<'_, T> {
    fn concurrent(&mut self, free: &[T]) -> Option<&dyn ConcurrentRows<T>> {
        if self.arrive(free) { Some(self) } else { None }
    }

    fn cost_of(&mut self, _first: usize, _r: &[T]) -> Option<T> {
        (!self.likelihood.is_sum_of_squares()).then_some(self.cost)
    }

    /// Writes the second derivative of the whitened residuals, with the weights that the likelihood gives them here. A difference
    /// of the rows of [`residuals`](Self::residuals) would be wrong: the Jacobian is not their derivative.
    fn second_directional_derivative(
        &mut self,
        free: &[T],
        v: &[T],
        first: usize,
        second: &mut [T],
    ) -> Evaluated<bool> {
        if self.likelihood.is_sum_of_squares() {
            return Ok(false);
        }
        let mut probe = std::mem::take(&mut self.probe);
        probe.here.resize(second.len(), T::ZERO);
        self.whitened(free, first, &mut probe.here)?;
        probe.difference(second, |share, point, r| {
            advance(None, free, share, v, point);
            self.whitened(point, first, r)
        })?;
        let count = self.data_rows(first, second.len());
        let observed = self.data.y()[first..].iter().zip(&probe.here);
        for (second, (&y, &r)) in second[..count].iter_mut().zip(observed) {
            self.likelihood.row(y, r).scale(std::slice::from_mut(second));
        }
        self.probe = probe;
        Ok(true)
    }

    fn communicator(&mut self) -> Option<&Communicator> {
        Some(self.data.ranks()).filter(|_| self.data.is_shared())
    }

    fn derivatives_are_cheap(&mut self) -> Option<bool> {
        Some(self.curve.derivatives_are_cheap())
    }

    fn derivatives_are_rough(&mut self) -> bool {
        self.curve.derivatives_are_rough()
    }
}
