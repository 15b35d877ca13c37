//! Curves with complex responses: each row has two real responses, the real and the imaginary part.

pub mod functions;
mod rows;

pub use rows::ComplexRows;

use super::formula::Program;
use super::model::{FromModel, FromVector};
use super::{Curve, CurveFit, Formula, Model, Rows, model_rows};
use crate::autodiff::{Complex, Dual};
use crate::number::ScalarOf;
use crate::problem::Evaluated;
use crate::real::Real;

/// A model whose response is a complex number, written once for every scalar, as a [`Model`] is.
///
/// ```
/// use marquardt::{Complex, CurveFit, Scalar, ScalarOf};
/// use marquardt::curve::ComplexModel;
///
/// /// A resistor, and behind it a resistor and a capacitor in parallel.
/// struct Randles;
///
/// impl ComplexModel<f64> for Randles {
///     fn parameter_count(&self) -> usize { 3 }
///     fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> Complex<S> {
///         let admittance = Complex::new(b[1].recip(), b[2] * x[0]);
///         admittance.recip() + b[0]
///     }
/// }
///
/// let omega = [10.0, 100.0, 1e3, 1e4, 1e5];
/// let re = [110.0, 109.1, 59.8, 11.1, 10.1];
/// let im = [-1.0, -9.9, -50.1, -9.8, -1.1];
/// let fit = CurveFit::complex_model(Randles, &omega, (&re, &im), &[1.0, 50.0, 2e-6]).fit()?;
/// assert!((fit.parameter("b3").unwrap().value - 1e-5).abs() < 1e-6);
/// # Ok::<(), marquardt::CurveError>(())
/// ```
pub trait ComplexModel<T: Real>: Send + Sync {
    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// The response to one row of predictors.
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> Complex<S>;

    /// Name of parameter `index`; `b1`, `b2`, … unless the model knows better.
    fn parameter_name(&self, index: usize) -> String {
        format!("b{}", index + 1)
    }
}

/// The curve of a [`ComplexModel`], exactly differentiated.
#[derive(Debug, Clone, Copy)]
pub struct FromComplexModel<M>(M);

/// The real or the imaginary part of a model.
struct Part<'m, M, const IS_IMAGINARY: bool>(&'m M);

impl<T: Real, M: ComplexModel<T>, const IS_IMAGINARY: bool> Model<T> for Part<'_, M, IS_IMAGINARY> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        let Complex { re, im } = self.0.response(x, b);
        if IS_IMAGINARY { im } else { re }
    }
}

impl<T: Real, M: ComplexModel<T>> Curve<T> for FromComplexModel<M> {
    fn parameter_count(&self) -> usize {
        self.0.parameter_count()
    }

    fn parameter_name(&self, index: usize) -> String {
        self.0.parameter_name(index)
    }

    fn response_count(&self) -> usize {
        2
    }

    fn responses(&self, x: &[T], width: usize, b: &[T], y: &mut [T]) -> Evaluated {
        join_parts(y, &mut [], |is_imaginary, y, _| match is_imaginary {
            false => FromModel(Part::<_, false>(&self.0)).responses(x, width, b, y),
            true => FromModel(Part::<_, true>(&self.0)).responses(x, width, b, y),
        })
    }

    fn linearize(&self, x: &[T], width: usize, b: &[T], y: &mut [T], jacobian: &mut [T]) -> Evaluated {
        join_parts(y, jacobian, |is_imaginary, y, jacobian| match is_imaginary {
            false => FromModel(Part::<_, false>(&self.0)).linearize(x, width, b, y, jacobian),
            true => FromModel(Part::<_, true>(&self.0)).linearize(x, width, b, y, jacobian),
        })
    }
}

/// Fills in the responses to rows of `width` predictors, and their derivatives where there is room, by the programs of both parts.
pub(super) fn evaluate_programs<T: Real>(
    parts: &[Program; 2],
    (x, width): (&[T], usize),
    b: &[T],
    y: &mut [T],
    jacobian: &mut [T],
) -> Evaluated {
    join_parts(y, jacobian, |is_imaginary, y, jacobian| {
        model_rows::backwards(&parts[usize::from(is_imaginary)], x, width, b, y, jacobian);
        Ok(())
    })
}

/// Fills in two responses to each row, and their derivatives where there is room, by one part after the other.
fn join_parts<T: Real>(
    y: &mut [T],
    jacobian: &mut [T],
    mut part: impl FnMut(bool, &mut [T], &mut [T]) -> Evaluated,
) -> Evaluated {
    let n = jacobian.len() / y.len().max(1);
    let (mut own_y, mut own_jacobian) = (vec![T::ZERO; y.len() / 2], vec![T::ZERO; jacobian.len() / 2]);
    for is_imaginary in [false, true] {
        part(is_imaginary, &mut own_y, &mut own_jacobian)?;
        let place = usize::from(is_imaginary);
        y.iter_mut().skip(place).step_by(2).zip(&own_y).for_each(|(y, &own)| *y = own);
        let rows = jacobian.chunks_exact_mut(n.max(1)).skip(place).step_by(2);
        rows.zip(own_jacobian.chunks_exact(n.max(1))).for_each(|(row, own)| row.copy_from_slice(own));
    }
    Ok(())
}

/// Names of the two responses to a row.
const PARTS: [&str; 2] = ["real part", "imaginary part"];

impl<'a, T: Real> CurveFit<'a, T, ()> {
    /// Fits a closure `|x, [a, b, …]|` whose response to one predictor is a [`Complex`] number, such as an impedance. The sum of the squared
    /// moduli of the residuals is minimised: real and imaginary parts are two responses to each row, and count as two observations.
    ///
    /// [`weight_by_modulus`](Self::weight_by_modulus) gives all responses the same relative precision. A row of `sigma` or of weights has
    /// one entry for both parts, or two entries, one for each part. [`FittedCurve::predict`](crate::FittedCurve::predict) and all others
    /// return real and imaginary parts in turn; [`nyquist_plot`](crate::FittedCurve::nyquist_plot) and
    /// [`bode_plot`](crate::FittedCurve::bode_plot) draw them.
    ///
    /// ```
    /// use marquardt::{Complex, CurveFit};
    ///
    /// // A resonator: S₂₁ = 1 − d / (1 + 2i q (f − f₀)/f₀).
    /// let f = [4.990, 4.995, 4.999, 5.000, 5.001, 5.005, 5.010_f64];
    /// let (re, im) = ([0.95, 0.84, 0.31, 0.2, 0.32, 0.84, 0.95], [-0.19, -0.32, -0.28, 0.0, 0.27, 0.32, 0.19]);
    /// let resonator = CurveFit::complex(
    ///     |f, [f0, q, d]| 1.0 - d / (1.0 + Complex::i() * (2.0 * q * (f - f0) / f0)),
    ///     &f,
    ///     (&re, &im),
    ///     [4.9995, 500.0, 0.7],
    /// );
    /// let fit = resonator.names(["f0", "q", "depth"]).fit()?;
    /// assert!((fit.parameter("q").unwrap().value - 1000.0).abs() < 100.0);
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn complex<const N: usize, F: Fn(T, [Dual<T, N>; N]) -> Complex<Dual<T, N>> + Send + Sync + 'a>(
        curve: F,
        x: impl Into<Rows<'a, T>>,
        z: impl Into<ComplexRows<'a, T>>,
        start: [T; N],
    ) -> CurveFit<'a, T, impl Curve<T> + 'a> {
        let parts = move |x: &[T], b: [Dual<T, N>; N]| {
            let Complex { re, im } = curve(x[0], b);
            [re, im]
        };
        CurveFit::curve(FromVector(parts), x, z.into().into_rows(), &start).response_names(PARTS)
    }

    /// Fits a [complex formula](Formula::complex), as [`complex`](Self::complex) fits a closure.
    pub fn complex_formula(
        formula: Formula,
        x: impl Into<Rows<'a, T>>,
        z: impl Into<ComplexRows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromModel<Formula>> {
        CurveFit::model(formula, x, z.into().into_rows(), start).response_names(PARTS)
    }

    /// Fits a [`ComplexModel`], as [`complex`](Self::complex) fits a closure.
    pub fn complex_model<M: ComplexModel<T>>(
        model: M,
        x: impl Into<Rows<'a, T>>,
        z: impl Into<ComplexRows<'a, T>>,
        start: &[T],
    ) -> CurveFit<'a, T, FromComplexModel<M>> {
        CurveFit::curve(FromComplexModel(model), x, z.into().into_rows(), start).response_names(PARTS)
    }
}
