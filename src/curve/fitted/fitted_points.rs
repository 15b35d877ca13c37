//! Points of a curve that are nearest to observations with errors in x.

use ndarray::{Array2, ArrayView2};

use super::FittedCurve;
use crate::curve::Curve;
use crate::real::Real;

/// Nearest points, and their distances in x.
#[derive(Debug)]
pub(super) struct FittedPoints<T> {
    pub(super) x: Array2<T>,
    /// Responses of the curve at `x`.
    pub(super) y: Vec<T>,
    /// Observed less fitted predictors.
    residuals: Array2<T>,
}

impl<T: Real> FittedCurve<'_, T> {
    /// Estimates of the true predictors of a fit with [errors in x](crate::CurveFit::sigma_x), a row for each observation: those of the
    /// points of the curve that are nearest to the observations. `None` for other fits.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// // The diagonal, seen from (1, 0) and (2, 3) with equal errors in both directions.
    /// let (x, y) = ([0.0, 1.0, 2.0, 3.0], [0.0, 0.0, 3.0, 3.0_f64]);
    /// let line = CurveFit::new(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0]).sigma_x(&[1.0]).fit()?;
    /// let nearest = line.fitted_x().expect("there are errors in x");
    /// let slope = line.parameters()[1].value;
    /// let (dx, dy) = (x[1] - nearest[[1, 0]], y[1] - line.fitted()[1]);
    /// assert!((dx + slope * dy).abs() < 1e-9, "the distance is at right angles to the line");
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn fitted_x(&self) -> Option<ArrayView2<'_, T>> {
        self.points().map(|points| points.x.view())
    }

    /// Observed minus [fitted](Self::fitted_x) predictors of a fit with errors in x; `None` for other fits.
    pub fn x_residuals(&self) -> Option<ArrayView2<'_, T>> {
        self.points().map(|points| points.residuals.view())
    }

    /// The nearest points, where there are errors in x.
    pub(super) fn points(&self) -> Option<&FittedPoints<T>> {
        self.points.get_or_init(|| self.find_points().map(Box::new)).as_deref()
    }

    fn find_points(&self) -> Option<FittedPoints<T>> {
        let (data, curve, at) = (&self.checked.data, &self.checked.curve, &self.report.x);
        if !data.has_errors_in_x() {
            return None;
        }
        let (rows, width, own) = (data.rows(), data.width(), data.predictors_in_row());
        let mut x = vec![T::ZERO; rows * own];
        let mut y = vec![T::ZERO; data.y().len()];
        let found = curve.fitted_predictors(data.x(), width, at, &mut x);
        if found.and_then(|_| curve.responses(&x, own, at, &mut y)).is_err() {
            y.fill(T::INFINITY);
        }
        let x = Array2::from_shape_vec((rows, own), x).expect("as many as rows have");
        let residuals = Array2::from_shape_fn((rows, own), |(row, j)| data.x()[row * width + j] - x[[row, j]]);
        Some(FittedPoints { x, y, residuals })
    }
}
