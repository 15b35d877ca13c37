//! The curve of a system of differential equations, and how a fit of one is stated.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{array, iter};

use super::Integrator;
use super::integration::{Integration, System};
use crate::autodiff::Dual;
use crate::curve::{Curve, CurveFit, Rows};
use crate::parallel;
use crate::problem::Evaluated;

/// Responses as a function of the time, the states and the parameters.
type Observation<'f, const N: usize, const K: usize> =
    Arc<dyn Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> Vec<Dual<f64, N>> + Send + Sync + 'f>;

/// The solution of an initial value problem of `K` states and `N` parameters as a curve over the time, made by
/// [`CurveFit::differential_equations`]. Derivatives are exact for the equations: forward sensitivities are integrated with the states.
#[derive(Clone)]
pub struct FromDifferentialEquations<'f, F, I, const N: usize, const K: usize> {
    derivative: F,
    initial: I,
    /// Responses other than all states.
    observation: Option<Observation<'f, N, K>>,
    outputs: usize,
    integration: Integration,
    /// Parameters that are not fixed.
    free: Vec<usize>,
    /// An integration has reached all times before. A failure is then one of the parameters, and a fit avoids them.
    has_succeeded: Arc<AtomicBool>,
}

/// A system at given parameters, with the sensitivities to some of them.
struct AtParameters<'a, F, const N: usize, const K: usize> {
    derivative: &'a F,
    /// Numbers that carry the derivatives by the parameters in `sensitive` alone.
    b: [Dual<f64, N>; N],
    sensitive: &'a [usize],
}

impl<F, const N: usize, const K: usize> AtParameters<'_, F, N, K> {
    /// Number of entries of a solution.
    fn len(&self) -> usize {
        K + K * self.sensitive.len()
    }

    /// Returns the states in `y`, with their sensitivities if it has them.
    fn states(&self, y: &[f64]) -> [Dual<f64, N>; K] {
        let (values, sensitivities) = y.split_at(K);
        let mut states: [Dual<f64, N>; K] = array::from_fn(|k| Dual::constant(values[k]));
        for (state, slopes) in states.iter_mut().zip(sensitivities.chunks_exact(self.sensitive.len().max(1))) {
            self.sensitive.iter().zip(slopes).for_each(|(&j, &slope)| state.gradient[j] = slope);
        }
        states
    }

    /// Writes states, and their sensitivities if `y` has them.
    fn write(&self, states: [Dual<f64, N>; K], y: &mut [f64]) {
        let (values, sensitivities) = y.split_at_mut(K);
        values.iter_mut().zip(&states).for_each(|(value, state)| *value = state.value);
        for (slopes, state) in sensitivities.chunks_exact_mut(self.sensitive.len().max(1)).zip(&states) {
            self.sensitive.iter().zip(slopes).for_each(|(&j, slope)| *slope = state.gradient[j]);
        }
    }
}

impl<F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K], const N: usize, const K: usize> System
    for AtParameters<'_, F, N, K>
{
    fn states(&self) -> usize {
        K
    }

    fn derivative(&self, time: f64, y: &[f64], derivative: &mut [f64]) {
        self.write((self.derivative)(time, self.states(y), self.b), derivative);
    }

    fn jacobian(&self, time: f64, y: &[f64], jacobian: &mut [f64]) {
        let constants = self.b.map(|b| Dual::constant(b.value));
        // As many columns at once as there are derivatives in a number.
        for first in (0..K).step_by(N) {
            let seeded = array::from_fn(|k| Dual::variable(y[k], k.wrapping_sub(first)));
            let slopes = (self.derivative)(time, seeded, constants);
            for (row, slope) in jacobian.chunks_exact_mut(K).zip(slopes) {
                row[first..].iter_mut().zip(slope.gradient).for_each(|(entry, slope)| *entry = slope);
            }
        }
    }
}

impl<F, I, V, const N: usize, const K: usize> FromDifferentialEquations<'_, F, I, N, K>
where
    F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
    I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
    V: Into<Dual<f64, N>>,
{
    /// Fills in the responses to the times, and their derivatives by some parameters, a row for each response.
    fn evaluate(
        &self,
        (times, width): (&[f64], usize),
        parameters: &[f64],
        sensitive: &[usize],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Evaluated {
        if width != 1 {
            return Err(format!("differential equations have one predictor, the time, not {width}").into());
        }
        // Times that an integration does not reach have no answer.
        y.fill(f64::NAN);
        jacobian.fill(f64::NAN);
        let variable = |j| if sensitive.contains(&j) { Dual::variable(parameters[j], j) } else { parameters[j].into() };
        let b: [Dual<f64, N>; N] = array::from_fn(variable);
        let system = AtParameters { derivative: &self.derivative, b, sensitive };
        let mut initial = vec![0.0; system.len()];
        system.write((self.initial)(b).map(Into::into), &mut initial);
        // Tolerances of sensitivities are those of the states for a change of a parameter by its own size.
        let sizes = sensitive.iter().map(|&j| if parameters[j] == 0.0 { 1.0 } else { parameters[j].abs() });
        let atol = iter::repeat_n(1.0, K).chain(sizes.cycle()).map(|size| self.integration.atol / size);
        let atol: Vec<f64> = atol.take(initial.len()).collect();
        let mut visit = |time: f64, rows: &[usize], solution: &[f64]| {
            let states = system.states(solution);
            let observed = match &self.observation {
                Some(observation) => observation(time, states, b),
                None => states.to_vec(),
            };
            for row in rows {
                for (output, response) in observed.iter().enumerate() {
                    let place = row * self.outputs + output;
                    y[place] = response.value;
                    let slopes = jacobian.iter_mut().skip(place * sensitive.len());
                    slopes.zip(sensitive).for_each(|(entry, &j)| *entry = response.gradient[j]);
                }
            }
        };
        let solved = self.integration.solve(&system, &initial, &atol, times, &mut visit);
        // What fails later fails because of the parameters: without an answer, a fit takes a shorter step.
        let has_succeeded = self.has_succeeded.fetch_or(solved.is_ok(), Ordering::Relaxed);
        if has_succeeded { Ok(()) } else { solved }
    }
}

impl<F, I, V, const N: usize, const K: usize> Curve<f64> for FromDifferentialEquations<'_, F, I, N, K>
where
    F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
    I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
    V: Into<Dual<f64, N>>,
{
    fn parameter_count(&self) -> usize {
        N
    }

    fn response_count(&self) -> usize {
        self.outputs
    }

    fn takes_all_rows(&self) -> bool {
        true
    }

    fn responses(&self, x: &[f64], width: usize, b: &[f64], y: &mut [f64]) -> Evaluated {
        self.evaluate((x, width), b, &[], y, &mut [])
    }

    fn linearize(&self, x: &[f64], width: usize, b: &[f64], y: &mut [f64], jacobian: &mut [f64]) -> Evaluated {
        // Implicit methods factorise matrices: many small systems take less time than a large one.
        let group = if self.integration.integrator.is_implicit() { 1 } else { N };
        let groups: Vec<&[usize]> = if self.free.is_empty() { vec![&[]] } else { self.free.chunks(group).collect() };
        let count = y.len();
        let solutions = parallel::map(groups.len(), |group| {
            let (mut y, mut columns) = (vec![0.0; count], vec![0.0; count * groups[group].len()]);
            self.evaluate((x, width), b, groups[group], &mut y, &mut columns).map(|()| (y, columns))
        });
        jacobian.fill(0.0);
        for (group, solution) in groups.into_iter().zip(solutions) {
            let (solution, columns) = solution?;
            y.copy_from_slice(&solution);
            for (row, columns) in jacobian.chunks_exact_mut(N).zip(columns.chunks_exact(group.len().max(1))) {
                group.iter().zip(columns).for_each(|(&j, &slope)| row[j] = slope);
            }
        }
        Ok(())
    }

    fn keep_within(&mut self, lower: &[f64], upper: &[f64]) {
        self.free = (0..N).filter(|&j| lower[j] < upper[j]).collect();
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }
}

impl<'a> CurveFit<'a, f64, ()> {
    /// Fits the solution of differential equations `dy/dt = f(t, y, b)` to its values at times, with exact derivatives.
    ///
    /// The closures are the right side, `|t, [y1, y2, …], [b1, b2, …]| [dy1, dy2, …]`, and the initial values,
    /// `|[b1, b2, …]| [y1, y2, …]`, floats or functions of the parameters, from which unknown initial values follow. They hold at the time
    /// 0, or the [`initial_time`](CurveFit::initial_time). Times may come in any order, repeat, and precede the initial time. The columns of the
    /// data are the states, unless [`observed`](CurveFit::observed) says otherwise.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// // A drug by mouth: amounts in gut and blood, of which samples give the concentration in the blood.
    /// let hours = [0.5, 1.0, 2.0, 4.0, 6.0, 9.0, 12.0];
    /// let concentrations = [2.13, 2.99, 3.28, 2.26, 1.42, 0.66, 0.32];
    /// let fit = CurveFit::differential_equations(
    ///     |_, [gut, blood], [ka, ke, _]| [-ka * gut, ka * gut - ke * blood],
    ///     |_| [100.0, 0.0],
    ///     &hours,
    ///     &concentrations,
    ///     [1.0, 0.1, 10.0],
    /// )
    /// .observed(|_, [_, blood], [_, _, volume]| [blood / volume])
    /// .names(["absorption", "elimination", "volume"])
    /// .bounds("volume", 0.0..)
    /// .fit()?;
    /// assert!((fit.parameter("volume").unwrap().value - 20.0).abs() < 1.0);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    ///
    /// States and their sensitivities, the derivatives by the parameters that are not fixed, are integrated together, by implicit methods for
    /// one parameter after the other, to the same [`tolerances`](CurveFit::tolerances), 10⁻¹⁰ relatively and 10⁻¹² absolutely; the
    /// responses alone take the states alone. The [`integrator`](CurveFit::integrator) is DOP853; stiff systems need [`Integrator::Radau`]. Where an integration
    /// fails, as for a solution that grows without bounds, the fit takes a shorter step; at the start, the reason is the error. Right sides
    /// with jumps between the times, such as doses on the way, may pass unseen: fit the parts as data sets of a
    /// [`GlobalFit`](crate::GlobalFit). Equations are solved in double precision.
    pub fn differential_equations<'f, F, I, V, const N: usize, const K: usize>(
        derivative: F,
        initial: I,
        t: impl Into<Rows<'a, f64>>,
        y: impl Into<Rows<'a, f64>>,
        start: [f64; N],
    ) -> CurveFit<'a, f64, FromDifferentialEquations<'f, F, I, N, K>>
    where
        F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
        I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
        V: Into<Dual<f64, N>>,
    {
        let curve = FromDifferentialEquations {
            derivative,
            initial,
            observation: None,
            outputs: K,
            integration: Integration::default(),
            free: (0..N).collect(),
            has_succeeded: Arc::default(),
        };
        CurveFit::curve(curve, t, y, &start)
    }
}

impl<'f, F, I, V, const N: usize, const K: usize> CurveFit<'_, f64, FromDifferentialEquations<'f, F, I, N, K>>
where
    F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
    I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
    V: Into<Dual<f64, N>>,
{
    /// Sets the responses, `|t, [y1, y2, …], [b1, b2, …]| [r1, …]`: some of the states, or functions of states and parameters. By default
    /// they are the states.
    pub fn observed<const R: usize>(
        self,
        responses: impl Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; R] + Send + Sync + 'f,
    ) -> Self {
        self.with_curve(|curve| {
            curve.observation = Some(Arc::new(move |t, states, b| responses(t, states, b).to_vec()));
            curve.outputs = R;
        })
    }

    /// Sets the time of the initial values; 0 by default.
    pub fn initial_time(self, time: f64) -> Self {
        self.with_curve(|curve| curve.integration.initial_time = time)
    }

    /// Sets the method of integration; [`Integrator::Dop853`] by default.
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.with_curve(|curve| curve.integration.integrator = integrator)
    }

    /// Sets the relative tolerance of each step, 10⁻¹⁰ by default, and the absolute one, 10⁻¹² (SciPy's `rtol` and `atol`). States that are
    /// smaller than 10⁻⁶ throughout need a smaller absolute one.
    pub fn tolerances(self, relative: f64, absolute: f64) -> Self {
        self.with_curve(|curve| (curve.integration.rtol, curve.integration.atol) = (relative, absolute))
    }

    /// Sets the largest number of steps of an integration; 10,000 by default.
    pub fn max_steps(self, steps: usize) -> Self {
        self.with_curve(|curve| curve.integration.max_steps = steps)
    }
}
