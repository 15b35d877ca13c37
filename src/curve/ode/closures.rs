//! Differential equations as closures.

use std::array;
use std::sync::Arc;

use super::FromDifferentialEquations;
use super::equations::Equations;
use crate::autodiff::Dual;
use crate::curve::{CurveFit, Rows};

/// Responses as a function of the time, the states and the parameters.
type Observation<'f, const N: usize, const K: usize> =
    Arc<dyn Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> Vec<Dual<f64, N>> + Send + Sync + 'f>;

/// Equations of `K` states and `N` parameters.
#[derive(Clone)]
pub struct EquationClosures<'f, F, I, const N: usize, const K: usize> {
    derivative: F,
    initial: I,
    /// Responses other than all states.
    observation: Option<Observation<'f, N, K>>,
    outputs: usize,
}

/// The numbers of a slice.
fn array_from<const N: usize, const K: usize>(numbers: &[Dual<f64, N>]) -> [Dual<f64, N>; K] {
    array::from_fn(|k| numbers[k])
}

impl<F, I, V, const N: usize, const K: usize> Equations<N> for EquationClosures<'_, F, I, N, K>
where
    F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
    I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
    V: Into<Dual<f64, N>>,
{
    fn states(&self) -> usize {
        K
    }

    fn parameters(&self) -> usize {
        N
    }

    fn outputs(&self) -> usize {
        self.outputs
    }

    fn derivative(&self, time: f64, states: &[Dual<f64, N>], b: &[Dual<f64, N>], slopes: &mut [Dual<f64, N>]) {
        slopes.copy_from_slice(&(self.derivative)(time, array_from(states), array_from(b)));
    }

    fn initial(&self, b: &[Dual<f64, N>]) -> Vec<Dual<f64, N>> {
        (self.initial)(array_from(b)).map(Into::into).to_vec()
    }

    fn observed(&self, time: f64, states: &[Dual<f64, N>], b: &[Dual<f64, N>]) -> Vec<Dual<f64, N>> {
        match &self.observation {
            Some(observation) => observation(time, array_from(states), array_from(b)),
            None => states.to_vec(),
        }
    }
}

impl<'a> CurveFit<'a, f64, ()> {
    /// Fits the solution of differential equations `dy/dt = f(t, y, b)` to its values at times, with exact derivatives.
    ///
    /// The closures are the right side, `|t, [y1, y2, …], [b1, b2, …]| [dy1, dy2, …]`, and the initial values, `|[b1, b2, …]| [y1, y2, …]`,
    /// floats or functions of the parameters, from which unknown initial values follow. They hold at the
    /// [`initial_time`](CurveFit::initial_time), default 0. Times may be in any order, repeat, and lie before the initial time. The columns
    /// of the data are the states, unless [`observed`](CurveFit::observed) sets other responses.
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
    /// States are integrated together with their sensitivities, the derivatives with respect to the parameters that are not fixed; implicit
    /// methods integrate the sensitivities for one parameter after the other. Both have the same [`tolerances`](CurveFit::tolerances), by
    /// default 10⁻¹⁰ relative and 10⁻¹² absolute. An evaluation without derivatives integrates the states alone. The default
    /// [`integrator`](CurveFit::integrator) is DOP853; stiff systems need [`Integrator::Radau`](crate::curve::Integrator::Radau). If an
    /// integration fails, for example because the solution grows without bounds, the fit takes a shorter step; at the start, the reason is
    /// returned as an error. The integrator may miss jumps of the right side between the times, such as doses: fit the intervals between
    /// the jumps as data sets of a [`GlobalFit`](crate::GlobalFit). Equations are solved in double precision.
    pub fn differential_equations<'f, F, I, V, const N: usize, const K: usize>(
        derivative: F,
        initial: I,
        t: impl Into<Rows<'a, f64>>,
        y: impl Into<Rows<'a, f64>>,
        start: [f64; N],
    ) -> CurveFit<'a, f64, FromDifferentialEquations<EquationClosures<'f, F, I, N, K>, N>>
    where
        F: Fn(f64, [Dual<f64, N>; K], [Dual<f64, N>; N]) -> [Dual<f64, N>; K] + Send + Sync,
        I: Fn([Dual<f64, N>; N]) -> [V; K] + Send + Sync,
        V: Into<Dual<f64, N>>,
    {
        let equations = EquationClosures { derivative, initial, observation: None, outputs: K };
        CurveFit::curve(FromDifferentialEquations::new(equations), t, y, &start)
    }
}

impl<'f, F, I, V, const N: usize, const K: usize>
    CurveFit<'_, f64, FromDifferentialEquations<EquationClosures<'f, F, I, N, K>, N>>
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
            let equations = &mut curve.equations;
            equations.observation = Some(Arc::new(move |t, states, b| responses(t, states, b).to_vec()));
            equations.outputs = R;
        })
    }
}
