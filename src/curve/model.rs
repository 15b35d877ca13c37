//! Curves: responses as functions of predictors and parameters.

use super::GlobalCurve;
use super::complex::evaluate_programs;
use super::formula::Program;
use super::model_rows;
use super::model_sums::{self, ModelRows, ModelSums, Summand};
use super::models::AnyModel;
use crate::autodiff::{Difference, Dual, Variable};
use crate::kernels::simd::{self, Kernel};
use crate::number::ScalarOf;
use crate::problem::{AutoDiff, Evaluated, EvaluationError, LeastSquares, Residuals};
use crate::real::Real;
use crate::scalar::Scalar;

/// A model written once for every scalar: the library evaluates it with floats, with numbers that carry derivatives, and with
/// registers full of either, for several points or fits at once.
///
/// The code cannot branch on computed values; use [`Scalar::select_less`] to select one of two values. Mark `response` and all functions it
/// calls `#[inline(always)]`: code that is not inlined cannot use the wide registers and is about 10 times slower.
///
/// Optimised builds use the widest registers of the processor. The environment variable `MARQUARDT_REGISTERS`, read once, lowers
/// that to `portable`, `avx2` or `avx512`, but never takes registers that the processor lacks. Builds with debug assertions use
/// `portable` ones of two lanes unless it is set, as code that is not optimised would fill the stack with wide ones.
///
/// ```
/// use marquardt::{CurveFit, Model, Scalar, ScalarOf};
///
/// /// y = b₁ x₁ + b₂ eˣ²
/// struct Mixture;
///
/// impl Model<f64> for Mixture {
///     fn parameter_count(&self) -> usize { 2 }
///     fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
///         b[0] * x[0] + b[1] * x[1].exp()
///     }
/// }
///
/// let x = ndarray::array![[1.0, 0.0], [2.0, 0.5], [3.0, 0.0], [4.0, 1.0]];
/// let y = [3.0, 5.7, 7.0, 10.7];
/// let fit = CurveFit::model(Mixture, &x, &y, &[1.0, 1.0]).fit()?;
/// assert!((fit.parameter("b1").unwrap().value - 2.0).abs() < 0.1);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
pub trait Model<T: Real>: Send + Sync {
    /// Sets whether the library evaluates the model for several points or fits at once; default `true`. With `false` it evaluates one after
    /// the other, for models so large that compiling a copy for each set of registers would take minutes.
    const IN_LANES: bool = true;

    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// The response to one row of predictors.
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S;

    /// Name of parameter `index`; `b1`, `b2`, … unless the model knows better.
    fn parameter_name(&self, index: usize) -> String {
        format!("b{}", index + 1)
    }

    /// The program of the model, if it has one, which evaluates many rows at once.
    #[doc(hidden)]
    fn as_program(&self) -> Option<&Program> {
        None
    }

    /// The programs of the real and the imaginary part of a model whose response is complex, which [`response`](Self::response) is not.
    #[doc(hidden)]
    fn as_parts(&self) -> Option<&[Program; 2]> {
        None
    }

    /// Returns the model in the form that is saved in a file, if it has one.
    #[doc(hidden)]
    fn to_any_model(&self) -> Option<AnyModel> {
        None
    }
}

/// Interface of a curve for the fit: responses at rows of predictors, and their derivatives.
///
/// The constructors of [`CurveFit`](crate::CurveFit) make one from a model or a closure; implement it to write the
/// derivatives by hand. With the feature `rayon`, many rows are evaluated on all cores.
pub trait Curve<T: Real>: Send + Sync {
    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// Name of parameter `index`.
    fn parameter_name(&self, index: usize) -> String {
        format!("b{}", index + 1)
    }

    /// Responses to each row of predictors.
    fn response_count(&self) -> usize {
        1
    }

    /// Returns true if the responses are evaluated together, as by a simulation; default `false`. The fit then evaluates all rows in one
    /// call, and does not divide them into tiles or among cores.
    fn takes_all_rows(&self) -> bool {
        false
    }

    /// Names of the data sets, if a row of predictors begins with the number of its data set, counted from 0; otherwise empty.
    fn data_set_names(&self) -> Vec<String> {
        Vec::new()
    }

    /// The curve as a curve of several data sets; `None` if it is not.
    #[doc(hidden)]
    fn as_global(&self) -> Option<&GlobalCurve<'_, T>> {
        None
    }

    /// Fills `y` with the responses to rows of `width` predictors, row after row.
    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated;

    /// Fills in the predictors of the points nearest to the observations in the rows, and returns `true`; returns `false` if the rows
    /// contain no observations.
    #[doc(hidden)]
    fn fitted_predictors(&self, x: &[T], width: usize, b: &[T], fitted: &mut [T]) -> Evaluated<bool> {
        let _ = (x, width, b, fitted);
        Ok(false)
    }

    /// Fills `y` as [`responses`](Self::responses) does, and `jacobian` with their derivatives, a row for each response.
    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated;

    /// Fills `jacobian` as [`linearize`](Self::linearize) does, given the responses `y`, and returns `true`; returns `false`, the default,
    /// if this is not cheaper. Differences save one evaluation.
    fn differentiate(&self, x: &[T], width: usize, b: &[T], y: &[T], jacobian: &mut [T]) -> Evaluated<bool> {
        let _ = (x, width, b, y, jacobian);
        Ok(false)
    }

    /// Adds sums over rows without forming a Jacobian, and returns `true`; returns `false`, with nothing added, if this is not possible.
    #[doc(hidden)]
    fn add_sums(&self, rows: ModelRows<'_, T>, summand: Summand<'_, T>, sums: &mut ModelSums<'_, T>) -> bool {
        let _ = (rows, summand, sums);
        false
    }

    /// See [`Capabilities::derivatives_are_cheap`](crate::problem::Capabilities::derivatives_are_cheap).
    fn derivatives_are_cheap(&self) -> bool {
        true
    }

    /// See [`Capabilities::derivatives_are_rough`](crate::problem::Capabilities::derivatives_are_rough).
    fn derivatives_are_rough(&self) -> bool {
        false
    }

    /// Limits all further evaluations to these bounds, a lower and an upper one for each parameter. Meant for curves that compute
    /// differences.
    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        let _ = (lower, upper);
    }

    /// Passes the start of the fit. Meant for curves that compute differences: it sets the smallest steps, which must exceed the rounding
    /// errors of a parameter of this size.
    fn note_start(&mut self, start: &[T]) {
        let _ = start;
    }

    /// The model of the curve, in the form that is saved in a file; `None` if it has no such form.
    #[doc(hidden)]
    fn to_any_model(&self) -> Option<AnyModel> {
        None
    }
}

/// `count` rows of `width` predictors, of which there may be none.
fn rows<T>(x: &[T], width: usize, count: usize) -> impl Iterator<Item = &[T]> {
    (0..count).map(move |row| &x[row * width..(row + 1) * width])
}

/// The curve of a [`Model`], exactly differentiated.
#[derive(Debug, Clone, Copy)]
pub struct FromModel<M>(pub(in crate::curve) M);

impl<M> FromModel<M> {
    /// The curve of a model, for problems that are put together by hand; [`CurveFit::model`](crate::CurveFit::model) takes the model itself.
    ///
    /// ```
    /// use marquardt::Formula;
    /// use marquardt::curve::{Curve, FromModel};
    ///
    /// let curve = FromModel::new(Formula::parse("a * x^2")?);
    /// let (mut y, mut jacobian) = ([0.0; 2], [0.0; 2]);
    /// curve.linearize(&[1.0, 2.0], 1, &[3.0], &mut y, &mut jacobian)?;
    /// assert_eq!((y, jacobian), ([3.0, 12.0], [1.0, 4.0]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(model: M) -> Self {
        FromModel(model)
    }

    /// The model.
    pub(super) fn model(&self) -> &M {
        &self.0
    }
}

/// A model at some rows of predictors, one after the other, as a function of the parameters alone.
struct AtRows<'a, T, M> {
    model: &'a M,
    x: &'a [T],
    width: usize,
    rows: usize,
}

impl<T: Real, M: Model<T>> Residuals<T> for AtRows<'_, T, M> {
    fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.rows
    }

    fn evaluate<S: Scalar<Real = T>>(&self, b: &[S], first: usize, y: &mut [S]) -> Evaluated {
        for (y, x) in y.iter_mut().zip(rows(&self.x[first * self.width..], self.width, self.rows - first)) {
            *y = self.model.response(x, b);
        }
        Ok(())
    }
}

impl<T: Real, M: Model<T>> Curve<T> for FromModel<M> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn to_any_model(&self) -> Option<AnyModel> {
        self.0.to_any_model()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.0.parameter_name(index)
    }

    fn response_count(&self) -> usize {
        1 + usize::from(self.0.as_parts().is_some())
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        if let Some(parts) = self.0.as_parts() {
            return evaluate_programs(parts, (x, width), b, y, &mut []);
        }
        if let Some(program) = self.0.as_program() {
            model_rows::backwards(program, x, width, b, y, &mut []);
            return Ok(());
        }
        if M::IN_LANES {
            model_rows::responses(&self.0, x, width, b, y);
            return Ok(());
        }
        AtRows { model: &self.0, x, width, rows: y.len() }.evaluate(b, 0, y)
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        if let Some(parts) = self.0.as_parts() {
            return evaluate_programs(parts, (x, width), b, y, jacobian);
        }
        if let Some(program) = self.0.as_program() {
            model_rows::backwards(program, x, width, b, y, jacobian);
            return Ok(());
        }
        if M::IN_LANES {
            model_rows::linearize(&self.0, x, width, b, y, jacobian);
            return Ok(());
        }
        AutoDiff(AtRows { model: &self.0, x, width, rows: y.len() }).linearize(b, 0, y, jacobian)
    }

    fn add_sums(&self, rows: ModelRows<'_, T>, summand: Summand<'_, T>, sums: &mut ModelSums<'_, T>) -> bool {
        model_sums::add(&self.0, rows, summand, sums)
    }
}

/// Fills `y` with the `K` responses of a closure over dual numbers to each of its rows.
fn dual_responses<T: Real, const N: usize, const K: usize>(
    curve: impl Fn(&[T], [Dual<T, N>; N]) -> [Dual<T, N>; K],
    x: &[T],
    width: usize,
    b: &[T],
    y: &mut [T],
) {
    let b = std::array::from_fn(|j| Dual::constant(b[j]));
    let rows = rows(x, width, y.len() / K);
    for (y, x) in y.chunks_exact_mut(K).zip(rows) {
        y.copy_from_slice(&curve(x, b).map(|response| response.value));
    }
}

/// Fills `y` as [`dual_responses`] does, and `jacobian` with their derivatives, a tangent in each lane of the registers where the
/// closure is inlined.
struct DualRows<'a, T, F, const N: usize, const K: usize> {
    curve: F,
    x: &'a [T],
    width: usize,
    b: &'a [T],
    y: &'a mut [T],
    jacobian: &'a mut [T],
}

impl<T: Real, const N: usize, const K: usize, F: Fn(&[T], [Dual<T, N>; N]) -> [Dual<T, N>; K]> Kernel
    for DualRows<'_, T, F, N, K>
{
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        let DualRows { curve, x, width, b, y, jacobian } = self;
        let b = std::array::from_fn(|j| Dual::variable(b[j], j));
        let rows = rows(x, width, y.len() / K);
        for ((y, block), x) in y.chunks_exact_mut(K).zip(jacobian.chunks_exact_mut(K * N)).zip(rows) {
            let responses = curve(x, b);
            y.copy_from_slice(&responses.map(|response| response.value));
            for (row, response) in block.chunks_exact_mut(N).zip(responses) {
                row.copy_from_slice(&response.gradient);
            }
        }
    }
}

/// The curve of a closure over `N` dual numbers, exactly differentiated.
#[derive(Debug, Clone, Copy)]
pub struct FromClosure<F, const N: usize>(pub(super) F);

impl<T: Real, const N: usize, F: Fn(&[T], [Dual<T, N>; N]) -> Dual<T, N> + Send + Sync> Curve<T> for FromClosure<F, N> {
    fn parameter_count(&self) -> usize {
        N
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        dual_responses(|x, b| [(self.0)(x, b)], x, width, b, y);
        Ok(())
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        simd::run(DualRows { curve: |x: &[T], b| [(self.0)(x, b)], x, width, b, y, jacobian });
        Ok(())
    }
}

/// The curve of a closure over `N` dual numbers with `K` responses, exactly differentiated.
#[derive(Debug, Clone, Copy)]
pub struct FromVector<F, const N: usize, const K: usize>(pub(super) F);

impl<T: Real, const N: usize, const K: usize, F: Fn(&[T], [Dual<T, N>; N]) -> [Dual<T, N>; K] + Send + Sync> Curve<T>
    for FromVector<F, N, K>
{
    fn parameter_count(&self) -> usize {
        N
    }

    fn response_count(&self) -> usize {
        K
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        dual_responses(&self.0, x, width, b, y);
        Ok(())
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        simd::run(DualRows { curve: &self.0, x, width, b, y, jacobian });
        Ok(())
    }
}

/// The curve of a closure over floats, differentiated by differences.
#[derive(Debug, Clone)]
pub struct FromNumeric<T, F> {
    response: F,
    difference: Difference,
    /// The parameters, as they are differenced.
    variables: Vec<Variable<T>>,
}

impl<T: Real, F> FromNumeric<T, F> {
    pub(super) fn new(response: F, parameters: usize, difference: Difference) -> Self {
        FromNumeric { response, difference, variables: vec![Variable::new(T::ZERO); parameters] }
    }
}

impl<T: Real, F: Fn(&[T], &[T]) -> T + Send + Sync> Curve<T> for FromNumeric<T, F> {
    fn parameter_count(&self) -> usize {
        self.variables.len()
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        let rows = rows(x, width, y.len());
        for (y, x) in y.iter_mut().zip(rows) {
            *y = (self.response)(x, b);
        }
        Ok(())
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        self.responses(x, width, b, y)?;
        self.differentiate(x, width, b, y, jacobian).map(|_| ())
    }

    fn differentiate(&self, x: &[T], width: usize, b: &[T], y: &[T], jacobian: &mut [T]) -> Evaluated<bool> {
        let mut moved = b.to_vec();
        for (j, variable) in self.variables.iter().enumerate() {
            let variable = Variable { value: b[j], ..*variable };
            self.difference.fill_column(&variable, y, (&mut *jacobian, j, b.len()), |stencil, jacobian| {
                let rows = rows(x, width, y.len());
                for ((&y, row), x) in y.iter().zip(jacobian.chunks_exact_mut(b.len())).zip(rows) {
                    let [first, second] = stencil.points().map(|point| match point {
                        Some(point) => {
                            moved[j] = point;
                            (self.response)(x, &moved)
                        }
                        None => y,
                    });
                    row[j] = stencil.slope(b[j], y, first, second);
                }
                moved[j] = b[j];
                Ok::<(), EvaluationError>(())
            })?;
        }
        Ok(true)
    }

    fn derivatives_are_cheap(&self) -> bool {
        false
    }

    fn derivatives_are_rough(&self) -> bool {
        self.difference.is_rough(T::EPSILON)
    }

    fn keep_within(&mut self, lower: &[T], upper: &[T]) {
        Variable::bound_all(&mut self.variables, lower, upper);
    }

    fn note_start(&mut self, start: &[T]) {
        Variable::start_all(&mut self.variables, start, T::EPSILON);
    }
}
