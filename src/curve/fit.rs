//! A curve fit: the curve, the data, the start, and how to solve.

use std::borrow::Cow;

use ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};

use super::model::{FromClosure, FromModel, FromNumeric};
use super::{Curve, CurveError, FittedCurve, Model};
use crate::{Covariance, Difference, Dual, EvaluationError, LeastSquares, LevenbergMarquardt, Real};

/// Fits a closure to data, with exact derivatives: the short form of [`CurveFit::new`] and [`CurveFit::fit`].
///
/// # Errors
///
/// [`CurveError`] names what is wrong with the data or the start.
///
/// ```
/// let x = [1.0, 2.0, 4.0, 8.0, 16.0_f64];
/// let y = [1.8, 3.3, 5.4, 8.0, 9.6];
/// let fit = marquardt::curve_fit(|x, [top, rate]| top * (1.0 - (-rate * x).exp()), &x, &y, [8.0, 0.1])?;
/// println!("{fit}");
/// assert!((fit.parameters()[0].value - 10.0).abs() < 0.3);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
pub fn curve_fit<'a, T: Real, const N: usize>(
    curve: impl Fn(T, [Dual<T, N>; N]) -> Dual<T, N> + 'a,
    x: impl Into<ArrayView1<'a, T>>,
    y: impl Into<ArrayView1<'a, T>>,
    start: [T; N],
) -> Result<FittedCurve<'a, T, impl Curve<T> + 'a>, CurveError> {
    CurveFit::new(curve, x, y, start).fit()
}

/// A curve fit, ready to run.
///
/// | the curve is | take | derivatives |
/// |---|---|---|
/// | a closure of one predictor | [`CurveFit::new`] | exact |
/// | a closure of several predictors | [`CurveFit::with_predictors`] | exact |
/// | a [`Model`] | [`CurveFit::model`] | exact |
/// | a closure over plain floats | [`CurveFit::numeric`] | differences |
/// | your own [`Curve`] | [`CurveFit::curve`] | by hand |
///
/// ```
/// use marquardt::CurveFit;
///
/// let x = [0.0, 1.0, 2.0, 3.0, 4.0_f64];
/// let y = [10.1, 6.1, 3.6, 2.2, 1.4];
/// let fit = CurveFit::new(|x, [a, k]| a * (-k * x).exp(), &x, &y, [5.0, 1.0]).names(["amplitude", "rate"]).fit()?;
/// let rate = fit.parameter("rate").unwrap();
/// assert!((rate.value - 0.5).abs() < 3.0 * rate.standard_error);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct CurveFit<'a, T: Real, C> {
    curve: C,
    data: Data<'a, T>,
    start: Vec<T>,
    names: Option<Vec<String>>,
    solver: LevenbergMarquardt<T>,
}

/// Rows of predictors, and a response to each.
#[derive(Debug, Clone)]
pub(super) struct Data<'a, T: Clone> {
    pub(super) x: Cow<'a, [T]>,
    /// Rows of predictors.
    pub(super) rows: usize,
    /// Predictors in a row.
    pub(super) width: usize,
    pub(super) y: Cow<'a, [T]>,
}

/// Predictors: one an observation, or several, a row of a matrix an observation.
///
/// Made from slices, vectors, arrays, and `ndarray`'s one- and two-dimensional arrays and views.
#[derive(Debug, Clone)]
pub struct Predictors<'a, T>(ArrayView2<'a, T>);

impl<'a, T> Predictors<'a, T> {
    /// A row an observation.
    pub(super) fn rows(self) -> ArrayView2<'a, T> {
        self.0
    }
}

macro_rules! predictors_from {
    ($($vector:ty $(, $size:ident)?;)*) => {
        $(
            impl<'a, T $(, const $size: usize)?> From<$vector> for Predictors<'a, T> {
                fn from(x: $vector) -> Self {
                    Predictors(ArrayView1::from(x).insert_axis(Axis(1)))
                }
            }
        )*
    };
}

predictors_from! {
    &'a [T];
    &'a Vec<T>;
    &'a [T; N], N;
    &'a Array1<T>;
    ArrayView1<'a, T>;
}

impl<'a, T> From<ArrayView2<'a, T>> for Predictors<'a, T> {
    fn from(x: ArrayView2<'a, T>) -> Self {
        Predictors(x)
    }
}

impl<'a, T> From<&'a Array2<T>> for Predictors<'a, T> {
    fn from(x: &'a Array2<T>) -> Self {
        Predictors(x.view())
    }
}

impl<'a, T: Real> CurveFit<'a, T, ()> {
    /// Fits a closure `|x, [a, b, …]|` of one predictor. The parameters arrive as [`Dual`] numbers, so the derivatives are
    /// exact; write it as over floats, with the functions of [`Scalar`](crate::Scalar).
    pub fn new<const N: usize, F: Fn(T, [Dual<T, N>; N]) -> Dual<T, N> + 'a>(
        curve: F,
        x: impl Into<ArrayView1<'a, T>>,
        y: impl Into<ArrayView1<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, impl Curve<T> + 'a> {
        let of_row = move |x: &[T], b: [Dual<T, N>; N]| curve(x[0], b);
        CurveFit::curve(FromClosure(of_row), x.into(), y, &start)
    }

    /// Fits a closure `|x, [a, b, …]|` of several predictors, `x` being a slice.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// let x = ndarray::array![[1.0, 0.0], [2.0, 1.0], [3.0, 0.0], [4.0, 1.0]];
    /// let y = [2.1, 3.0, 6.1, 6.9_f64];
    /// let plane = CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], &x, &y, [1.0, 1.0]).fit()?;
    /// assert!((plane.parameters()[0].value - 2.0).abs() < 0.1);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn with_predictors<const N: usize, F: Fn(&[T], [Dual<T, N>; N]) -> Dual<T, N>>(
        curve: F,
        x: impl Into<ArrayView2<'a, T>>,
        y: impl Into<ArrayView1<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, FromClosure<F, N>> {
        CurveFit::curve(FromClosure(curve), x.into(), y, &start)
    }

    /// Fits a [`Model`].
    pub fn model<M: Model<T>>(
        model: M,
        x: impl Into<Predictors<'a, T>>,
        y: impl Into<ArrayView1<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromModel<M>> {
        CurveFit::curve(FromModel(model), x, y, start)
    }

    /// Fits a closure `|x, b|` over plain floats, both slices, with derivatives by differences.
    ///
    /// ```
    /// use marquardt::{CurveFit, Difference};
    ///
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0_f64], [1.0, 2.7, 7.4, 20.1]);
    /// let fit = CurveFit::numeric(|x, b| (b[0] * x[0]).exp(), Difference::Central, &x, &y, &[0.5]).fit()?;
    /// assert!((fit.parameters()[0].value - 1.0).abs() < 1e-2);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn numeric<F: Fn(&[T], &[T]) -> T>(
        response: F,
        difference: Difference,
        x: impl Into<Predictors<'a, T>>,
        y: impl Into<ArrayView1<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromNumeric<F>> {
        CurveFit::curve(FromNumeric { response, parameters: start.len(), difference }, x, y, start)
    }
}

impl<'a, T: Real, C: Curve<T>> CurveFit<'a, T, C> {
    /// Fits any [`Curve`].
    pub fn curve(
        curve: C,
        x: impl Into<Predictors<'a, T>>,
        y: impl Into<ArrayView1<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, C> {
        let x = x.into().rows();
        let y = y.into();
        let data = Data {
            rows: x.nrows(),
            width: x.ncols(),
            x: x.to_slice().map_or_else(|| x.iter().copied().collect(), Cow::Borrowed),
            y: y.to_slice().map_or_else(|| y.iter().copied().collect(), Cow::Borrowed),
        };
        CurveFit { curve, data, start: start.to_vec(), names: None, solver: LevenbergMarquardt::new() }
    }

    /// What to call the parameters in reports.
    pub fn names<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        CurveFit { names: Some(names.into_iter().map(Into::into).collect()), ..self }
    }

    /// The solver, with settings of one's own.
    pub fn solver(self, solver: LevenbergMarquardt<T>) -> Self {
        CurveFit { solver, ..self }
    }

    /// Fits.
    ///
    /// # Errors
    ///
    /// [`CurveError`] names what is wrong with the data or the start. A solve that started always returns its best point;
    /// see [`FittedCurve::report`] for why it ended.
    pub fn fit(self) -> Result<FittedCurve<'a, T, C>, CurveError> {
        let CurveFit { curve, data, start, names, solver } = self;
        let parameters = curve.parameter_count();
        data.check(parameters)?;
        let names = names.unwrap_or_else(|| (0..parameters).map(|j| curve.parameter_name(j)).collect());
        if names.len() != parameters {
            return Err(CurveError::WrongNameCount { parameters, names: names.len() });
        }
        let mut problem = Misfit { curve: &curve, data: &data, names: &names };
        let report = solver.minimize(&mut problem, &start)?;
        let covariance = Covariance::at(&mut problem, &report.x)?;
        Ok(FittedCurve::new(curve, data, names, report, covariance))
    }
}

impl<T: Real> Data<'_, T> {
    /// The data can be fitted with so many parameters.
    fn check(&self, parameters: usize) -> Result<(), CurveError> {
        let (x, y) = (self.rows, self.y.len());
        if x != y {
            return Err(CurveError::UnequalLengths { x, y });
        }
        if y == 0 {
            return Err(CurveError::NoObservations);
        }
        if let Some(k) = self.x.iter().position(|x| !x.is_finite()) {
            let (row, column) = (k / self.width, k % self.width);
            let variable = if self.width == 1 { "x".into() } else { format!("x{}", column + 1) };
            return Err(CurveError::NonFiniteDatum { variable, row, value: self.x[k].to_f64() });
        }
        if let Some(row) = self.y.iter().position(|y| !y.is_finite()) {
            return Err(CurveError::NonFiniteDatum { variable: "y".into(), row, value: self.y[row].to_f64() });
        }
        if y < parameters {
            return Err(CurveError::TooFewObservations { observations: y, parameters });
        }
        Ok(())
    }
}

/// The least-squares problem of a curve and its data: response minus datum.
struct Misfit<'p, T: Clone, C> {
    curve: &'p C,
    data: &'p Data<'p, T>,
    names: &'p [String],
}

impl<T: Real, C: Curve<T>> Misfit<'_, T, C> {
    /// The predictors from row `first` on.
    fn predictors(&self, first: usize, rows: usize) -> &[T] {
        &self.data.x[first * self.data.width..(first + rows) * self.data.width]
    }

    /// Turns responses into residuals.
    fn subtract_data(&self, first: usize, r: &mut [T]) {
        for (r, &y) in r.iter_mut().zip(&self.data.y[first..]) {
            *r -= y;
        }
    }
}

impl<T: Real, C: Curve<T>> LeastSquares<T> for Misfit<'_, T, C> {
    fn parameter_count(&self) -> usize {
        self.curve.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.data.y.len()
    }

    fn residuals(&mut self, b: &[T], first: usize, r: &mut [T]) -> Result<(), EvaluationError> {
        self.curve.responses(self.predictors(first, r.len()), self.data.width, b, r)?;
        self.subtract_data(first, r);
        Ok(())
    }

    fn linearize(&mut self, b: &[T], first: usize, r: &mut [T], jacobian: &mut [T]) -> Result<(), EvaluationError> {
        self.curve.linearize(self.predictors(first, r.len()), self.data.width, b, r, jacobian)?;
        self.subtract_data(first, r);
        Ok(())
    }

    fn derivatives_are_cheap(&self) -> bool {
        self.curve.derivatives_are_cheap()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.names[index].clone()
    }
}
