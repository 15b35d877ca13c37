//! Equations at their points: a problem that optimizers step on.

use std::ops::Range;

use ndarray::{Array1, Array2, ArrayView2, Axis, concatenate, s};

use super::equations::{Coefficient, Field};
use super::mean_square::MeanSquare;
use super::solution::{HeldOut, Solution};
use super::{PhysicsError, Points};
use crate::distributed::Communicator;
use crate::nn::{Network, Node, Tape};
use crate::optim::Optimizer;
use crate::real::Real;
use crate::solver::damping::DampingPolicy;
use crate::solver::{Covariance, LevenbergMarquardt, Observer};
use crate::train::Trainer;
use crate::variables::Variables;

/// A term: points, and residuals that are to vanish there.
#[derive(Debug)]
pub(super) struct EquationTerm<T> {
    pub(super) name: String,
    pub(super) points: Points<T>,
    pub(super) weight: T,
    /// All residuals of a point, side by side.
    pub(super) residual: Node,
    /// Tape of the values that are computed once, and its nodes that enter the residuals.
    pub(super) known: Tape<T>,
    pub(super) brought: Vec<Node>,
    /// True if it has the networks of a term with measurements, and others.
    pub(super) is_coupled: bool,
}

/// Equations at their points: networks, data, and the loss `Σ weight · mean of squared residuals`.
///
/// [`solve`](Self::solve) minimises it by [`LevenbergMarquardt`]; [`trainer`](Self::trainer) trains in minibatches, by any
/// optimizer. Both judge the solution at points that were held out.
#[derive(Debug)]
pub struct Collocation<T> {
    pub(super) network: Network<T>,
    pub(super) terms: Vec<EquationTerm<T>>,
    columns: usize,
    /// Coordinates, set, factor of the residuals, and the numbers computed once, of the points of all terms, one after the other.
    pub(super) arrays: Vec<Array2<T>>,
    held_out: Vec<Option<Vec<Array2<T>>>>,
    pub(super) measurements_first: bool,
}

impl<T: Real> Collocation<T> {
    pub(super) fn new(
        mut tape: Tape<T>,
        [coordinates, set, scale]: [Node; 3],
        columns: usize,
        terms: Vec<EquationTerm<T>>,
        variables: &Variables<T>,
    ) -> Result<Self, PhysicsError> {
        if terms.is_empty() {
            return Err(PhysicsError::NoTerms);
        }
        debug_assert_eq!(coordinates.index(), 0);
        let widest = terms.iter().map(|term| term.residual.width()).max().unwrap_or(0);
        let mut outputs = Vec::new();
        for term in &terms {
            let scaled = tape.mul(term.residual, scale)?;
            // All samples have the same number of residuals: terms with fewer are padded by zeros.
            let missing = widest - scaled.width();
            let rest = (missing > 0).then(|| tape.constant(&vec![T::ZERO; missing]));
            outputs.push((scaled, rest));
        }
        let mut network = Network::new(tape, variables)?.with_sample_sets(set, terms.len())?;
        for (index, (scaled, rest)) in outputs.into_iter().enumerate() {
            network = network.with_loss_of_set(index, scaled, MeanSquare, T::ONE)?;
            if let Some(rest) = rest {
                network = network.with_loss_of_set(index, rest, MeanSquare, T::ONE)?;
            }
        }
        let (arrays, held_out) = (Vec::new(), Vec::new());
        let mut problem = Collocation { network, terms, columns, arrays, held_out, measurements_first: true };
        problem.lay_out()?;
        Ok(problem)
    }

    /// Computes the numbers that depend on the points alone, and binds all points.
    fn lay_out(&mut self) -> Result<(), PhysicsError> {
        let total = self.terms.iter().map(|term| term.points.len()).sum();
        let mut parts = Vec::new();
        self.held_out.clear();
        for (set, term) in self.terms.iter().enumerate() {
            parts.push(term.arrays(&term.points, set, self.columns, total)?);
            let others = term.points.held_out();
            let others = others.map(|points| term.arrays(&points, set, self.columns, total)).transpose()?;
            self.held_out.push(others);
        }
        let join = |k: usize| {
            let views: Vec<ArrayView2<'_, T>> = parts.iter().map(|part| part[k].view()).collect();
            concatenate(Axis(0), &views).expect("all terms have the same columns")
        };
        self.arrays = (0..parts[0].len()).map(join).collect();
        self.bind()
    }

    /// The problem over several ranks. Each computes a share of the points; all state the same equations.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`].
    pub fn with_communicator(mut self, ranks: &Communicator) -> Result<Self, PhysicsError> {
        self.network = self.network.with_communicator(ranks);
        self.bind()?;
        Ok(self)
    }

    /// Sets whether a solve with an unknown function that the measurements do not show follows these first, see [`solve`](Self::solve); default true.
    pub fn with_measurements_first(mut self, measurements_first: bool) -> Self {
        self.measurements_first = measurements_first;
        self
    }

    /// The rows of all points that this rank has.
    pub(super) fn shard(&self) -> Range<usize> {
        self.network.communicator().shard(self.arrays[0].nrows())
    }

    /// Binds all points, as before a full solve.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`].
    pub fn bind(&mut self) -> Result<(), PhysicsError> {
        let rows = self.shard();
        self.network.batch(&rows_of(&self.arrays, rows), &[])?;
        Ok(())
    }

    /// The network, bound to all points: an [`Objective`](crate::problem::Objective) and a [`LeastSquares`](crate::LeastSquares) problem.
    pub fn network(&mut self) -> &mut Network<T> {
        &mut self.network
    }

    /// Inputs of the network, on this rank: coordinates, the number of the term, a factor of the residuals, and the numbers
    /// computed once.
    pub fn inputs(&self) -> Vec<ArrayView2<'_, T>> {
        rows_of(&self.arrays, self.shard())
    }

    /// Residuals in all: those of the loss, without the zeros that fill up terms with fewer residuals than others.
    pub fn residual_count(&self) -> usize {
        self.terms.iter().map(|term| term.points.len() * term.residual.width()).sum()
    }

    /// Minimises the loss over all points, to convergence, and judges the solution at the points that were held out.
    ///
    /// Where the equation has an unknown function that the measurements, [`Points::with_values`](super::Points::with_values), do not show, a conductivity
    /// for example, up to 50 trials, at most a third of all, are first made with a small weight of the equation: its loss is a thousandth of that of the other terms
    /// at the start. If the end has more than a thousandth of the loss at the start, a second solve without these trials begins at the same start, and the lower end
    /// counts. [`with_measurements_first`](Self::with_measurements_first) turns both off.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::NonFiniteResidual`] for a residual that is NaN or infinite at the start, and
    /// [`PhysicsError::Optimizer`] where the solve does not begin.
    pub fn solve<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
        variables: &mut Variables<T>,
    ) -> Result<Solution<T>, PhysicsError> {
        self.solve_observed(solver, variables, &mut ())
    }

    /// [`solve`](Self::solve) with an observer that sees each trial.
    ///
    /// # Errors
    ///
    /// As [`solve`](Self::solve).
    pub fn solve_observed<D: DampingPolicy<T>>(
        &mut self,
        solver: &LevenbergMarquardt<T, D>,
        variables: &mut Variables<T>,
        observer: &mut (impl Observer<T> + ?Sized),
    ) -> Result<Solution<T>, PhysicsError> {
        self.check_start(variables)?;
        let report = self.minimize(solver, variables, observer)?;
        Ok(Solution { report, terms: self.judge(variables)? })
    }

    /// A trainer of the network, and its data, to [fit](Trainer::fit) without targets.
    pub fn trainer<'a>(
        &'a mut self,
        variables: &'a mut Variables<T>,
        optimizer: &'a mut dyn Optimizer<T>,
    ) -> (Trainer<'a, T>, Vec<ArrayView2<'a, T>>) {
        let rows = self.shard();
        let Collocation { network, arrays, .. } = self;
        (Trainer::new(network, variables, optimizer), rows_of(arrays, rows))
    }

    /// Refuses a start where a residual is NaN or infinite.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::NonFiniteResidual`] with the term and the point.
    pub fn check_start(&mut self, variables: &Variables<T>) -> Result<(), PhysicsError> {
        for index in 0..self.terms.len() {
            let residuals = self.residuals(variables, index)?;
            let term = &self.terms[index];
            term.check_finite(&term.points, &residuals)?;
        }
        Ok(())
    }

    /// The residuals of a term at its points, without weight: a row for each point.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`] for other variables.
    ///
    /// # Panics
    ///
    /// When there is no term of this number, counted from 0.
    pub fn residuals(&mut self, variables: &Variables<T>, term: usize) -> Result<Array2<T>, PhysicsError> {
        let first: usize = self.terms[..term].iter().map(|term| term.points.len()).sum();
        let rows = first..first + self.terms[term].points.len();
        Ok(self.network.predict(variables, &rows_of(&self.arrays, rows), self.terms[term].residual)?)
    }

    /// The root mean square of each term's residuals, at its points and at as many others that were held out.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`] for other variables.
    pub fn judge(&mut self, variables: &Variables<T>) -> Result<Vec<HeldOut<T>>, PhysicsError> {
        let mut judged = Vec::new();
        for index in 0..self.terms.len() {
            let trained = root_mean_square(&self.residuals(variables, index)?);
            let residual = self.terms[index].residual;
            let held_out = match &self.held_out[index] {
                Some(arrays) => {
                    let views: Vec<_> = arrays.iter().map(|array| array.view()).collect();
                    Some(root_mean_square(&self.network.predict(variables, &views, residual)?))
                }
                None => None,
            };
            let term = &self.terms[index];
            judged.push(HeldOut { term: term.name.clone(), points: term.points.len(), trained, held_out });
        }
        Ok(judged)
    }

    /// Samples points anew, with seeds that depend on `seed`, where a term's points were sampled; grids and data stay. To be
    /// called between the epochs of a training.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`].
    pub fn resample(&mut self, seed: u64) -> Result<(), PhysicsError> {
        for term in &mut self.terms {
            if let Some(points) = term.points.resampled(seed) {
                term.points = points;
            }
        }
        self.lay_out()
    }

    /// The outputs of a network at any points, a row for each.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Batch`] for points of another number of coordinates, or other variables.
    pub fn predict(
        &mut self,
        variables: &Variables<T>,
        field: Field,
        points: ArrayView2<'_, T>,
    ) -> Result<Array2<T>, PhysicsError> {
        let rest = Array2::from_elem((points.nrows(), 1), T::ZERO);
        let mut arrays = vec![points];
        arrays.extend((0..2 + self.columns).map(|_| rest.view()));
        Ok(self.network.predict(variables, &arrays, field.node)?)
    }

    /// The covariance of all variables, as that of a curve fit: `s² (JᵀJ)⁻¹` with the rows of all terms.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Covariance`].
    pub fn covariance(&mut self, variables: &Variables<T>) -> Result<Covariance<T>, PhysicsError> {
        self.bind()?;
        Ok(Covariance::at(&mut self.network, variables.values())?)
    }

    /// The standard error of a coefficient where the residuals of term `data` are measurements with independent errors of one
    /// size, and the other terms hold exactly.
    ///
    /// The minimum moves by `−H⁻¹ Jᵀε` for errors `ε` of the rows, with `H = JᵀJ`. Here only the rows of the data have errors,
    /// whose variance is that of their residuals; [`covariance`](Self::covariance) takes all rows for measurements.
    ///
    /// # Errors
    ///
    /// [`PhysicsError::Evaluation`].
    ///
    /// # Panics
    ///
    /// When there is no term of this number, counted from 0.
    pub fn standard_error(
        &mut self,
        variables: &Variables<T>,
        coefficient: Coefficient,
        data: usize,
    ) -> Result<T, PhysicsError> {
        self.bind()?;
        let counts: Vec<usize> = self.terms.iter().map(|term| term.points.len()).collect();
        let first: usize = counts[..data].iter().sum();
        let (parameter, rows) = (coefficient.variable.range().start, first..first + counts[data]);
        super::standard_error::of(&mut self.network, variables, parameter, rows)
    }

    /// Names of the terms.
    pub fn terms(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().map(|term| term.name.as_str())
    }
}

impl<T: Real> EquationTerm<T> {
    /// Refuses residuals at these points that are NaN or infinite.
    fn check_finite(&self, points: &Points<T>, residuals: &Array2<T>) -> Result<(), PhysicsError> {
        let Some(((point, residual), value)) = residuals.indexed_iter().find(|(_, value)| !value.is_finite()) else {
            return Ok(());
        };
        let coordinates = points.coordinates().row(point).iter().map(|x| x.to_f64()).collect();
        Err(PhysicsError::NonFiniteResidual {
            term: self.name.clone(),
            residual,
            point,
            coordinates,
            value: value.to_f64(),
        })
    }

    /// Inputs of the network for these points.
    fn arrays(
        &self,
        points: &Points<T>,
        set: usize,
        columns: usize,
        total: usize,
    ) -> Result<Vec<Array2<T>>, PhysicsError> {
        let count = points.len();
        // A mean over all points of the loss is one over the points of the term, times its weight.
        let factor = (self.weight.to_f64() * total as f64 / self.points.len() as f64).sqrt();
        let column = |value: f64| Array2::from_elem((count, 1), T::from_f64(value));
        let mut arrays = vec![points.coordinates().to_owned(), column(set as f64), column(factor)];
        let variables = Variables::new();
        let mut known = Network::new(self.known.clone(), &variables)?;
        let values: Vec<Array1<T>> =
            points.value_names().filter_map(|name| points.values_of(name)).map(|v| Array1::from(v.to_vec())).collect();
        let mut inputs = vec![points.coordinates()];
        inputs.extend(values.iter().map(|values| values.view().insert_axis(Axis(1))));
        for &node in &self.brought {
            let found = known.predict(&variables, &inputs, node)?;
            self.check_finite(points, &found)?;
            arrays.push(found);
        }
        arrays.resize_with(3 + columns, || column(0.0));
        Ok(arrays)
    }
}

/// Some rows of each array.
pub(super) fn rows_of<T>(arrays: &[Array2<T>], rows: Range<usize>) -> Vec<ArrayView2<'_, T>> {
    arrays.iter().map(|array| array.slice(s![rows.clone(), ..])).collect()
}

/// The root of the mean over points of the sum of squares.
fn root_mean_square<T: Real>(residuals: &Array2<T>) -> T {
    let sum: T = residuals.iter().map(|&r| r * r).sum();
    (sum / T::from_f64(residuals.nrows().max(1) as f64)).sqrt()
}
