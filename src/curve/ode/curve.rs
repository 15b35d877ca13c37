//! The curve of a system of differential equations.

use std::cell::RefCell;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Integrator;
use super::equations::Equations;
use super::integration::{Integration, System};
use crate::autodiff::Dual;
use crate::curve::{Curve, CurveFit};
use crate::parallel;
use crate::problem::Evaluated;

/// The solution of an initial value problem as a curve over the time, made by [`CurveFit::differential_equations`] and
/// [`CurveFit::differential_formulas`]. Derivatives are exact for the equations: forward sensitivities, by up to `L` parameters at a time, are
/// integrated with the states.
#[derive(Clone)]
pub struct FromDifferentialEquations<E, const L: usize> {
    pub(super) equations: E,
    integration: Integration,
    /// Parameters that are not fixed.
    free: Vec<usize>,
    /// An integration has reached all times before. A failure is then one of the parameters, and a fit avoids them.
    has_succeeded: Arc<AtomicBool>,
}

/// A system at given parameters, with the sensitivities to some of them.
struct AtParameters<'a, E, const L: usize> {
    equations: &'a E,
    /// Numbers that carry the derivatives by the parameters of the sensitivities.
    b: Vec<Dual<f64, L>>,
    /// Number of these parameters.
    sensitive: usize,
    /// Scratch for states and their derivatives by the time.
    states: RefCell<[Vec<Dual<f64, L>>; 2]>,
}

impl<E: Equations<L>, const L: usize> AtParameters<'_, E, L> {
    /// Number of entries of a solution.
    fn len(&self) -> usize {
        self.equations.states() * (1 + self.sensitive)
    }

    /// Fills in the states in `y`, with their sensitivities if it has them.
    fn read(&self, y: &[f64], states: &mut [Dual<f64, L>]) {
        let (values, sensitivities) = y.split_at(states.len());
        states.iter_mut().zip(values).for_each(|(state, &value)| *state = Dual::constant(value));
        for (state, slopes) in states.iter_mut().zip(sensitivities.chunks_exact(self.sensitive.max(1))) {
            state.gradient[..slopes.len()].copy_from_slice(slopes);
        }
    }

    /// Writes states, and their sensitivities if `y` has them.
    fn write(&self, states: &[Dual<f64, L>], y: &mut [f64]) {
        let (values, sensitivities) = y.split_at_mut(states.len());
        values.iter_mut().zip(states).for_each(|(value, state)| *value = state.value);
        for (slopes, state) in sensitivities.chunks_exact_mut(self.sensitive.max(1)).zip(states) {
            slopes.copy_from_slice(&state.gradient[..slopes.len()]);
        }
    }
}

impl<E: Equations<L>, const L: usize> System for AtParameters<'_, E, L> {
    fn states(&self) -> usize {
        self.equations.states()
    }

    fn derivative(&self, time: f64, y: &[f64], derivative: &mut [f64]) {
        let [states, slopes] = &mut *self.states.borrow_mut();
        self.read(y, states);
        self.equations.derivative(time, states, &self.b, slopes);
        self.write(slopes, derivative);
    }

    fn jacobian(&self, time: f64, y: &[f64], jacobian: &mut [f64]) {
        let constants: Vec<Dual<f64, L>> = self.b.iter().map(|b| Dual::constant(b.value)).collect();
        let [states, slopes] = &mut *self.states.borrow_mut();
        let count = states.len();
        // As many columns at once as there are derivatives in a number.
        for first in (0..count).step_by(L) {
            let seeded = |(k, state): (usize, &mut Dual<f64, L>)| *state = Dual::variable(y[k], k.wrapping_sub(first));
            states.iter_mut().enumerate().for_each(seeded);
            self.equations.derivative(time, states, &constants, slopes);
            for (row, slope) in jacobian.chunks_exact_mut(count).zip(&*slopes) {
                row[first..].iter_mut().zip(slope.gradient).for_each(|(entry, slope)| *entry = slope);
            }
        }
    }
}

impl<E: Equations<L>, const L: usize> FromDifferentialEquations<E, L> {
    pub(super) fn new(equations: E) -> Self {
        let free = (0..equations.parameters()).collect();
        let (integration, has_succeeded) = (Integration::default(), Arc::default());
        FromDifferentialEquations { equations, integration, free, has_succeeded }
    }

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
        let (equations, states) = (&self.equations, self.equations.states());
        let mut b: Vec<Dual<f64, L>> = parameters.iter().map(|&value| Dual::constant(value)).collect();
        sensitive.iter().enumerate().for_each(|(lane, &j)| b[j] = Dual::variable(parameters[j], lane));
        let scratch = vec![Dual::constant(0.0); states];
        let at = AtParameters { equations, b, sensitive: sensitive.len(), states: [scratch.clone(), scratch].into() };
        let mut initial = vec![0.0; at.len()];
        at.write(&equations.initial(&at.b), &mut initial);
        // Tolerances of sensitivities are those of the states for a change of a parameter by its own size.
        let sizes = sensitive.iter().map(|&j| if parameters[j] == 0.0 { 1.0 } else { parameters[j].abs() });
        let atol = iter::repeat_n(1.0, states).chain(sizes.cycle()).map(|size| self.integration.atol / size);
        let atol: Vec<f64> = atol.take(initial.len()).collect();
        let outputs = equations.outputs();
        let mut visit = |time: f64, rows: &[usize], solution: &[f64]| {
            let mut states = vec![Dual::constant(0.0); states];
            at.read(solution, &mut states);
            let observed = equations.observed(time, &states, &at.b);
            for row in rows {
                for (output, response) in observed.iter().enumerate() {
                    let place = row * outputs + output;
                    y[place] = response.value;
                    let slopes = jacobian.iter_mut().skip(place * sensitive.len()).take(sensitive.len());
                    slopes.zip(response.gradient).for_each(|(entry, slope)| *entry = slope);
                }
            }
        };
        let solved = self.integration.solve(&at, &initial, &atol, times, &mut visit);
        // What fails later fails because of the parameters: without an answer, a fit takes a shorter step.
        let has_succeeded = self.has_succeeded.fetch_or(solved.is_ok(), Ordering::Relaxed);
        if has_succeeded { Ok(()) } else { solved }
    }
}

impl<E: Equations<L>, const L: usize> Curve<f64> for FromDifferentialEquations<E, L> {
    fn parameter_count(&self) -> usize {
        self.equations.parameters()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.equations.parameter_name(index)
    }

    fn response_count(&self) -> usize {
        self.equations.outputs()
    }

    fn takes_all_rows(&self) -> bool {
        true
    }

    fn responses(&self, x: &[f64], width: usize, b: &[f64], y: &mut [f64]) -> Evaluated {
        self.evaluate((x, width), b, &[], y, &mut [])
    }

    fn linearize(&self, x: &[f64], width: usize, b: &[f64], y: &mut [f64], jacobian: &mut [f64]) -> Evaluated {
        // Implicit methods factorise matrices: many small systems take less time than a large one.
        let group = if self.integration.integrator.is_implicit() { 1 } else { L };
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
            for (row, columns) in jacobian.chunks_exact_mut(b.len()).zip(columns.chunks_exact(group.len().max(1))) {
                group.iter().zip(columns).for_each(|(&j, &slope)| row[j] = slope);
            }
        }
        Ok(())
    }

    fn keep_within(&mut self, lower: &[f64], upper: &[f64]) {
        self.free = (0..lower.len()).filter(|&j| lower[j] < upper[j]).collect();
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }
}

impl<E: Equations<L>, const L: usize> CurveFit<'_, f64, FromDifferentialEquations<E, L>> {
    /// Sets the time of the initial values; 0 by default.
    pub fn initial_time(self, time: f64) -> Self {
        self.with_curve(|curve| curve.integration.initial_time = time)
    }

    /// Sets the method of integration; [`Integrator::Dop853`] by default.
    pub fn integrator(self, integrator: Integrator) -> Self {
        self.with_curve(|curve| curve.integration.integrator = integrator)
    }

    /// Sets the relative tolerance of each step, 10⁻¹⁰ by default, and the absolute one, 10⁻¹² (SciPy's `rtol` and `atol`). If a state
    /// stays below 10⁻⁶, set a smaller absolute tolerance.
    pub fn tolerances(self, relative: f64, absolute: f64) -> Self {
        self.with_curve(|curve| (curve.integration.rtol, curve.integration.atol) = (relative, absolute))
    }

    /// Sets the largest number of steps of an integration; 10,000 by default.
    pub fn max_steps(self, steps: usize) -> Self {
        self.with_curve(|curve| curve.integration.max_steps = steps)
    }
}
