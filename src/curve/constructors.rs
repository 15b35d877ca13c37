//! The ways to state a curve fit.

use super::model::{FromClosure, FromModel, FromNumeric, FromVector};
use super::numeric_rows::FromNumericRows;
use super::{Curve, CurveError, CurveFit, FittedCurve, Model, Rows};
use crate::autodiff::{Difference, Dual};
use crate::problem::Evaluated;
use crate::real::Real;

/// Fits a closure to data, with exact derivatives: the short form of [`CurveFit::new`] and [`CurveFit::fit`].
///
/// # Errors
///
/// [`CurveError`] names what is wrong with the data or the start.
///
/// ```
/// let x = [1.0, 2.0, 4.0, 8.0, 16.0_f64];
/// let y = [1.8, 3.3, 5.4, 8.0, 9.6];
/// let fit = marquardt::curve_fit(
///     |x, [top, rate]| top * (1.0 - (-rate * x).exp()),
///     &x,
///     &y,
///     [8.0, 0.1],
/// )?;
/// println!("{fit}");
/// assert!((fit.parameters()[0].value - 10.0).abs() < 0.3);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
pub fn curve_fit<'a, T: Real, const N: usize>(
    curve: impl Fn(T, [Dual<T, N>; N]) -> Dual<T, N> + Send + Sync + 'a,
    x: impl Into<Rows<'a, T>>,
    y: impl Into<Rows<'a, T>>,
    start: [T; N],
) -> Result<FittedCurve<'a, T>, CurveError> {
    CurveFit::new(curve, x, y, start).fit()
}

impl<'a, T: Real> CurveFit<'a, T, ()> {
    /// Fits a closure `|x, [a, b, …]|` of one predictor. The parameters arrive as [`Dual`] numbers, so the derivatives are
    /// exact; write it as over floats, with the functions of [`Scalar`](crate::Scalar).
    ///
    /// A closure is evaluated for one point at a time, and every operation computes all derivatives. A [`Model`], for example from
    /// [`model!`](crate::model!), is evaluated for several points at once, and many derivatives are computed in reverse. Compared with it,
    /// a closure takes 1.2 to 1.7 times as long for 3 parameters, 2.4 to 2.9 times for 9, and 6 to 7 times for 60.
    pub fn new<const N: usize, F: Fn(T, [Dual<T, N>; N]) -> Dual<T, N> + Send + Sync + 'a>(
        curve: F,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
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
    /// let plane =
    ///     CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], &x, &y, [1.0, 1.0]).fit()?;
    /// assert!((plane.parameters()[0].value - 2.0).abs() < 0.1);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn with_predictors<const N: usize, F: Fn(&[T], [Dual<T, N>; N]) -> Dual<T, N> + Send + Sync>(
        curve: F,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, FromClosure<F, N>> {
        CurveFit::curve(FromClosure(curve), x.into(), y, &start)
    }

    /// Fits a closure `|x, [a, b, …]| [y1, y2, …]` of several responses to each row of predictors.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use ndarray::array;
    ///
    /// // Position and velocity share amplitude and frequency.
    /// let t = [0.0, 0.5, 1.0, 1.5, 2.0_f64];
    /// let y = array![[2.01, 0.02], [1.08, -3.35], [-0.82, -3.65], [-1.98, -0.57], [-1.31, 3.03]];
    /// let motion = CurveFit::with_responses(
    ///     |t, [a, w]| [a * (w * t[0]).cos(), -a * w * (w * t[0]).sin()],
    ///     &t,
    ///     &y,
    ///     [1.0, 1.8],
    /// );
    /// let fit = motion.names(["amplitude", "frequency"]).fit()?;
    /// assert!((fit.parameter("frequency").unwrap().value - 2.0).abs() < 0.03);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn with_responses<
        const N: usize,
        const K: usize,
        F: Fn(&[T], [Dual<T, N>; N]) -> [Dual<T, N>; K] + Send + Sync,
    >(
        curve: F,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, FromVector<F, N, K>> {
        CurveFit::curve(FromVector(curve), x, y, &start)
    }

    /// Fits an implicit curve, such as a circle, to rows of coordinates with errors. The curve consists of the points at which the closure
    /// `|x, [a, b, …]|` is zero. The sum of the squared distances of the points from the curve is minimised, by [orthogonal distance
    /// regression](super::ErrorsInX::OrthogonalDistance). Distances are in units of [`sigma_x`](CurveFit::sigma_x); default 1, relative.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// let points = ndarray::array![[4.0, 2.1], [2.0, 3.9], [0.1, 2.0], [1.9, 0.1], [3.5, 3.3]];
    /// let circle = CurveFit::implicit(
    ///     |p, [x, y, r]| (x - p[0]).powi(2) + (y - p[1]).powi(2) - r * r,
    ///     &points,
    ///     [1.0, 1.0, 1.0_f64],
    /// );
    /// let fit = circle.names(["x", "y", "radius"]).fit()?;
    /// assert!((fit.parameter("radius").unwrap().value - 1.95).abs() < 0.05);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn implicit<const N: usize, F: Fn(&[T], [Dual<T, N>; N]) -> Dual<T, N> + Send + Sync>(
        condition: F,
        x: impl Into<Rows<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, FromClosure<F, N>> {
        CurveFit::curve(FromClosure(condition), x, &[], &start).for_condition()
    }

    /// Fits a [`Model`] as an [implicit](Self::implicit) curve.
    pub fn implicit_model<M: Model<T>>(
        model: M,
        x: impl Into<Rows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromModel<M>> {
        CurveFit::curve(FromModel(model), x, &[], start).for_condition()
    }

    /// Fits a [`Model`].
    pub fn model<M: Model<T>>(
        model: M,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromModel<M>> {
        CurveFit::curve(FromModel(model), x, y, start)
    }

    /// Fits a closure `|x, b|` over plain floats, both slices, with derivatives by differences.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::autodiff::Difference;
    ///
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0_f64], [1.0, 2.7, 7.4, 20.1]);
    /// let fit = CurveFit::numeric(|x, b| (b[0] * x[0]).exp(), Difference::Central, &x, &y, &[0.5])
    ///     .fit()?;
    /// assert!((fit.parameters()[0].value - 1.0).abs() < 1e-2);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn numeric<F: Fn(&[T], &[T]) -> T + Send + Sync>(
        response: F,
        difference: Difference,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromNumeric<T, F>> {
        CurveFit::curve(FromNumeric::new(response, start.len(), difference), x, y, start)
    }

    /// Fits a closure `|x, b, y|` that fills in all responses by one call, for simulators and integrators, with derivatives by differences;
    /// `differential_equations` (feature `ode`) integrates by itself, with exact derivatives. A linearisation takes one more evaluation for
    /// each free parameter with forward differences, two with central ones; with the feature `rayon` they run on all cores. The fit keeps
    /// the last responses, so that the closure is evaluated only once for each point.
    ///
    /// `x` holds the predictors and `y` the responses, both row by row (row-major); a row of `y` has one entry for each column of the
    /// responses. During the fit the rows are those of the data, in their order, without the rows that are left out.
    /// [`predict`](FittedCurve::predict), plots, bands and [resampled cases](FittedCurve::bootstrap) pass other rows, which may be out of
    /// order or repeat.
    ///
    /// NaN in `y` means that the responses are undefined for these parameters; the fit then takes a shorter step. An error ends the fit,
    /// which keeps the best point so far. Entries of `y` that are not filled in count as NaN.
    ///
    /// ```
    /// use marquardt::CurveFit;
    /// use marquardt::autodiff::Difference;
    ///
    /// // Logistic growth, dN/dt = r N (1 - N / K), by small steps of the midpoint rule.
    /// let simulate = |t: &[f64], b: &[f64], n: &mut [f64]| {
    ///     let growth = |n: f64| b[0] * n * (1.0 - n / b[1]);
    ///     let (mut now, mut count, step) = (0.0, 1.0, 1e-3);
    ///     for (n, &t) in n.iter_mut().zip(t) {
    ///         while now < t - 0.5 * step {
    ///             count += step * growth(count + 0.5 * step * growth(count));
    ///             now += step;
    ///         }
    ///         *n = count;
    ///     }
    ///     Ok(())
    /// };
    /// let (days, counts) = ([0.0, 1.0, 2.0, 4.0, 6.0, 8.0], [1.02, 2.2, 4.3, 9.3, 11.4, 11.9]);
    /// let fit = CurveFit::numeric_rows(simulate, Difference::Central, &days, &counts, &[0.5, 10.0]);
    /// let fit = fit.names(["rate", "capacity"]).fit()?;
    /// assert!((fit.parameter("capacity").unwrap().value - 12.0).abs() < 0.3);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn numeric_rows<F: Fn(&[T], &[T], &mut [T]) -> Evaluated + Send + Sync>(
        responses: F,
        difference: Difference,
        x: impl Into<Rows<'a, T>>,
        y: impl Into<Rows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromNumericRows<T, F>> {
        let y: Rows<'a, T> = y.into();
        CurveFit::curve(FromNumericRows::new(responses, start.len(), y.width(), difference), x, y, start)
    }
}

impl<T: Real, F: Fn(&[T], &[T], &mut [T]) -> Evaluated + Send + Sync> CurveFit<'_, T, FromNumericRows<T, F>> {
    /// Sets the relative accuracy of the responses, from 0 to 1, such as the relative tolerance of an integrator; default `ε`, the last
    /// digit of the float. The relative steps of differences are its square root (forward) or its cube root (central), so that errors of
    /// the responses do not dominate the derivatives (lmfit's and MINPACK's `epsfcn`).
    pub fn accuracy(self, relative: T) -> Self {
        self.with_curve(|curve| curve.set_accuracy(relative))
    }
}
