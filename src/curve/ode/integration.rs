//! Integration of first-order systems, with or without their sensitivities, by the crate `ivp`.

use std::slice;

use ivp::dense::StepInterpolant;
use ivp::ivp::FirstOrderSystem;
use ivp::matrix::{Matrix, MatrixStorage};
use ivp::methods::{BDF, DOP853, DOPRI5, RADAU, Tolerance, hinit};
use ivp::solout::{ControlFlag, SolOut};
use ivp::status::Status;

use crate::problem::{Evaluated, EvaluationError};

/// Method of integration, by its name in SciPy's `solve_ivp`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Integrator {
    /// Explicit Runge–Kutta method of order 5 (Dormand and Prince), for systems that are not stiff and tolerances above 10⁻⁶.
    Rk45,
    /// Explicit Runge–Kutta method of order 8, for systems that are not stiff.
    #[default]
    Dop853,
    /// Implicit Runge–Kutta method of order 5 (Radau IIA), for stiff systems.
    Radau,
    /// Backward differentiation formulas of orders 1 to 5, for stiff systems whose right sides cost much.
    Bdf,
}

impl Integrator {
    /// Returns true for the methods that solve systems of equations, in a time that grows with the cube of their size.
    pub(super) fn is_implicit(self) -> bool {
        matches!(self, Integrator::Radau | Integrator::Bdf)
    }
}

/// A first-order system at fixed parameters. Its vectors are those of the states alone, or those of the states followed by their
/// sensitivities: the derivatives of the first state by each parameter, of the second state, and so on.
pub(super) trait System {
    /// Number of states.
    fn states(&self) -> usize;

    /// Fills in the derivatives of all entries of `y` by the time.
    fn derivative(&self, time: f64, y: &[f64], derivative: &mut [f64]);

    /// Fills in the derivatives of the states' right sides by the states, row after row.
    fn jacobian(&self, time: f64, states: &[f64], jacobian: &mut [f64]);
}

/// Takes a time, the rows that have it, and the solution there.
type Visit<'a> = dyn FnMut(f64, &[usize], &[f64]) + 'a;

/// Settings of the integration.
#[derive(Debug, Clone, Copy)]
pub(super) struct Integration {
    pub(super) integrator: Integrator,
    pub(super) initial_time: f64,
    pub(super) rtol: f64,
    pub(super) atol: f64,
    pub(super) max_steps: usize,
}

impl Default for Integration {
    fn default() -> Self {
        let integrator = Integrator::default();
        Integration { integrator, initial_time: 0.0, rtol: 1e-10, atol: 1e-12, max_steps: 10_000 }
    }
}

impl Integration {
    /// Returns an error for settings with which nothing can be integrated.
    fn check(&self) -> Evaluated {
        let Integration { rtol, atol, max_steps, initial_time, .. } = *self;
        if !(rtol > 0.0 && rtol < 1.0) {
            return Err(format!("the relative tolerance must be between 0 and 1, not {rtol}").into());
        }
        if !(atol > 0.0 && atol.is_finite()) {
            return Err(format!("the absolute tolerance must be positive and finite, not {atol}").into());
        }
        if max_steps == 0 || !initial_time.is_finite() {
            return Err(format!("no integration has {max_steps} steps from the initial time {initial_time}").into());
        }
        Ok(())
    }

    /// Integrates from the initial time to each of the times, which may be in any order, lie on both sides of the initial time, and repeat.
    /// Calls `visit` with each finite time, the rows that have it, and the solution there. Absolute tolerances are of each entry.
    ///
    /// # Errors
    ///
    /// Settings with which nothing can be integrated, and an integration that ended early; times beyond its end are not visited.
    pub(super) fn solve(
        &self,
        system: &dyn System,
        initial: &[f64],
        atol: &[f64],
        times: &[f64],
        visit: &mut Visit<'_>,
    ) -> Evaluated {
        self.check()?;
        let mut rows: Vec<usize> = (0..times.len()).filter(|&row| times[row].is_finite()).collect();
        rows.sort_by(|&a, &b| times[a].total_cmp(&times[b]));
        let groups: Vec<&[usize]> = rows.chunk_by(|&a, &b| times[a] == times[b]).collect();
        let earlier = groups.partition_point(|group| times[group[0]] < self.initial_time);
        let (earlier, later) = groups.split_at(earlier);
        let atol = Tolerance::Vector(atol.to_vec());
        let later = self.pass(system, initial, &atol, later.iter().copied(), times, visit);
        later.and(self.pass(system, initial, &atol, earlier.iter().rev().copied(), times, visit))
    }

    /// Integrates to times on one side of the initial time, the nearest first.
    fn pass<'g>(
        &self,
        system: &dyn System,
        initial: &[f64],
        atol: &Tolerance,
        groups: impl Iterator<Item = &'g [usize]>,
        times: &[f64],
        visit: &mut Visit<'_>,
    ) -> Evaluated {
        let mut groups: Vec<&[usize]> = groups.collect();
        if let Some(first) = groups.first().filter(|first| times[first[0]] == self.initial_time) {
            visit(self.initial_time, first, initial);
            groups.remove(0);
        }
        let Some(last) = groups.last() else { return Ok(()) };
        let (mut time, mut y, mut steps) = (self.initial_time, initial.to_vec(), 0);
        let mut first_step = self.first_step(system, initial, times[last[0]], atol)?;
        // Within a step, the solution by Radau has fewer digits than at its end: its steps end at all times.
        let ends = if self.integrator == Integrator::Radau { &groups[..] } else { slice::from_ref(last) };
        let (solution, work) = (y.clone(), y.clone());
        let mut output = Output { time, y: solution, undefined_step: None, work, groups: &groups, times, visit };
        for end in ends.iter().map(|end| times[end[0]]) {
            loop {
                // A tolerance for each entry: Radau changes those that it is given, once for each entry.
                let (flat, rtol, atol) = (Flat(system), Tolerance::Vector(vec![self.rtol; y.len()]), atol.clone());
                let max_steps = self.max_steps.saturating_sub(steps).max(1);
                let (dense_output, stiff_test) = (end < time, usize::MAX);
                macro_rules! solve {
                    ($method:ident { $($setting:ident $(: $value:expr)?),* }) => {
                        $method { max_steps, first_step, $($setting $(: $value)?,)* ..$method::default() }
                            .solve(&flat, time, &y, end, rtol, atol, Some(&mut output))
                    };
                }
                let ended = match self.integrator {
                    Integrator::Rk45 => solve!(DOPRI5 { dense_output, stiff_test }),
                    Integrator::Dop853 => solve!(DOP853 { dense_output, stiff_test }),
                    Integrator::Radau => solve!(RADAU { mass_storage: MatrixStorage::Identity }),
                    Integrator::Bdf => solve!(BDF {}),
                };
                let ended = ended.map_err(EvaluationError::new)?;
                (time, first_step, steps) = (output.time, Some(ended.h), steps + ended.steps.total);
                y.copy_from_slice(&output.y);
                let reason = match (ended.status, output.undefined_step.take()) {
                    (_, Some(step)) if step.abs() > 1e-15 * end.abs().max(self.initial_time.abs()) => {
                        first_step = Some(0.1 * step);
                        continue;
                    }
                    (_, Some(_)) => "the solution is not finite",
                    (Status::Success, _) => break,
                    (Status::NeedLargerNMax, _) => "too many steps; stiff systems need Integrator::Radau",
                    _ => "no step is small enough, as where a solution grows without bounds",
                };
                let method = self.integrator;
                return Err(format!("{method:?} ended at the time {time} after {steps} steps: {reason}").into());
            }
        }
        Ok(())
    }

    /// Returns the first step, where the method does not find a good one itself.
    fn first_step(&self, system: &dyn System, y: &[f64], end: f64, atol: &Tolerance) -> Evaluated<Option<f64>> {
        let [mut slope, mut next_slope, mut next] = [vec![0.0; y.len()], vec![0.0; y.len()], vec![0.0; y.len()]];
        let (time, length) = (self.initial_time, end - self.initial_time);
        system.derivative(time, y, &mut slope);
        if !y.iter().chain(&slope).all(|value| value.is_finite()) {
            return Err("the initial values, or the right sides there, are not finite".into());
        }
        let (direction, rtol, order) = (length.signum(), Tolerance::Scalar(self.rtol), 3);
        let step = || {
            let (slopes, next) = (&mut next_slope, &mut next);
            hinit(&Flat(system), time, y, direction, &slope, slopes, next, order, length.abs(), atol, &rtol)
        };
        Ok(self.integrator.is_implicit().then(step))
    }
}

/// Passes on the solution at the times of the data.
struct Output<'a> {
    /// Time that the integration has reached, and the solution there.
    time: f64,
    y: Vec<f64>,
    /// A step that led to a solution that is not finite; Radau takes such steps.
    undefined_step: Option<f64>,
    /// Scratch for an interpolated solution.
    work: Vec<f64>,
    /// Rows of the times that are still to come.
    groups: &'a [&'a [usize]],
    times: &'a [f64],
    visit: &'a mut Visit<'a>,
}

impl SolOut for Output<'_> {
    fn solout(&mut self, _: f64, time: &mut f64, y: &mut [f64], step: Option<&StepInterpolant<'_>>) -> ControlFlag {
        if !y.iter().all(|y| y.is_finite()) {
            self.undefined_step = Some(*time - self.time);
            return ControlFlag::Interrupt;
        }
        let direction = (*time - self.time).signum();
        self.time = *time;
        self.y.copy_from_slice(y);
        while let Some((group, rest)) = self.groups.split_first() {
            let next = self.times[group[0]];
            let ahead = direction * (next - *time);
            if step.is_none() || ahead > 4.0 * f64::EPSILON * time.abs() {
                return ControlFlag::XOut(next);
            }
            match step {
                Some(step) if ahead < 0.0 => step.interpolate(next, &mut self.work),
                _ => self.work.copy_from_slice(y),
            }
            (self.visit)(next, group, &self.work);
            self.groups = rest;
        }
        ControlFlag::Continue
    }
}

/// A system as `ivp` sees it.
struct Flat<'a>(&'a dyn System);

impl FirstOrderSystem for Flat<'_> {
    fn derivative(&self, time: f64, y: &[f64], derivative: &mut [f64]) {
        self.0.derivative(time, y, derivative);
    }

    /// Exact for the states, and for the sensitivities by themselves; derivatives of the sensitivities' right sides by the states are
    /// differences, which is enough for Newton's iterations.
    fn jac(&self, time: f64, y: &[f64], matrix: &mut Matrix) {
        let (states, n) = (self.0.states(), y.len());
        let mut jacobian = vec![0.0; states * states];
        self.0.jacobian(time, &y[..states], &mut jacobian);
        let parameters = n / states - 1;
        for (entry, &slope) in jacobian.iter().enumerate() {
            let (row, column) = (entry / states, entry % states);
            matrix[(row, column)] = slope;
            for j in 0..parameters {
                matrix[(states + row * parameters + j, states + column * parameters + j)] = slope;
            }
        }
        if parameters > 0 {
            let (mut moved, [mut here, mut there]) = (y.to_vec(), [vec![0.0; n], vec![0.0; n]]);
            self.0.derivative(time, y, &mut here);
            let size = y[..states].iter().fold(0.0, |size: f64, y| size.max(y.abs()));
            for column in 0..states {
                moved[column] += f64::EPSILON.sqrt() * y[column].abs().max(1e-6 * size).max(f64::MIN_POSITIVE.sqrt());
                self.0.derivative(time, &moved, &mut there);
                for row in states..n {
                    matrix[(row, column)] = (there[row] - here[row]) / (moved[column] - y[column]);
                }
                moved[column] = y[column];
            }
        }
    }
}
