//! The lockstep path and the scalar path of fixed size find the same.

use marquardt::problem::FixedAutoDiff;
use marquardt::{CurveFit, EvaluationError, LevenbergMarquardt, Model, Real, Residuals, Scalar};
use nalgebra::SVector;
use proptest::prelude::*;

use crate::curves::{
    Curves, DECAY, Design, Formula, LINE, LOGISTIC, PEAK, TWO_PEAKS, decay, line, logistic, peak, two_peaks,
};

/// A model at its observations, for every scalar.
struct Misfit<'a, T, M> {
    model: M,
    x: &'a [T],
    y: &'a [T],
}

impl<T: Real, M: Model<T>> Residuals<T> for Misfit<'_, T, M> {
    fn parameter_count(&self) -> usize {
        self.model.parameter_count()
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn evaluate<S: Scalar<Real = T>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (&x, &y)) in r.iter_mut().zip(self.x[first..].iter().zip(&self.y[first..])) {
            *r = self.model.response(&[x], b) - y;
        }
        Ok(())
    }
}

/// How far apart the paths may be.
struct Tolerance {
    /// Of the cost, relative.
    cost: f64,
    /// Of parameters, in standard errors.
    parameters: f64,
    /// Of standard errors, relative.
    standard_errors: f64,
}

const DOUBLE: Tolerance = Tolerance { cost: 1e-8, parameters: 1e-4, standard_errors: 1e-6 };
const SINGLE: Tolerance = Tolerance { cost: 1e-4, parameters: 2e-2, standard_errors: 1e-3 };

fn check<T: Real, const N: usize>(
    model: impl Model<T> + Copy,
    curves: &Curves<T>,
    tolerance: &Tolerance,
) -> Result<(), TestCaseError> {
    let fits = curves.fit(model);
    for row in 0..curves.y.nrows() {
        let (y, start) = curves.row(row);
        let mut problem = FixedAutoDiff::<_, N>(Misfit { model, x: &curves.x, y });
        let start: [T; N] = start.try_into().unwrap();
        let scalar = LevenbergMarquardt::new().minimize_fixed(&mut problem, SVector::from(start)).unwrap();
        let with_errors = CurveFit::model(model, &curves.x, y, &start).fit().unwrap();

        prop_assert!(fits.status[row].is_converged(), "{}: {}", row, fits.status[row]);
        let (cost, expected) = (fits.cost[row].to_f64(), scalar.cost.to_f64());
        prop_assert!((cost - expected).abs() <= tolerance.cost * expected, "{}: {:e} and {:e}", row, cost, expected);
        for j in 0..N {
            let error = with_errors.parameters()[j].standard_error.to_f64();
            let off = (fits.parameters[[row, j]].to_f64() - scalar.x[j].to_f64()).abs() / error;
            prop_assert!(off <= tolerance.parameters, "{}, {}: off by {:e} standard errors", row, j, off);
            let ratio = fits.standard_errors[[row, j]].to_f64() / error;
            prop_assert!((ratio - 1.0).abs() <= tolerance.standard_errors, "{}, {}: {:e}", row, j, ratio - 1.0);
        }
    }
    Ok(())
}

/// In both precisions.
fn check_both<const N: usize>(
    model: impl Formula,
    design: &Design,
    (fits, points, seed): (usize, usize, u64),
) -> Result<(), TestCaseError> {
    check::<f64, N>(model, &design.draw(model, fits, points, seed), &DOUBLE)?;
    check::<f32, N>(model, &design.draw(model, fits, points, seed), &SINGLE)
}

/// Numbers of fits, of points, and a seed.
fn sizes(points: std::ops::Range<usize>) -> impl Strategy<Value = (usize, usize, u64)> {
    (1..20_usize, points, any::<u64>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn lines(sizes in sizes(4..40)) {
        check_both::<2>(line(), &LINE, sizes)?;
    }

    #[test]
    fn decays(sizes in sizes(8..40)) {
        check_both::<2>(decay(), &DECAY, sizes)?;
    }

    #[test]
    fn peaks(sizes in sizes(30..70)) {
        check_both::<4>(peak(), &PEAK, sizes)?;
    }

    #[test]
    fn logistics(sizes in sizes(40..60)) {
        check_both::<5>(logistic(), &LOGISTIC, sizes)?;
    }

    #[test]
    fn two_peaks_on_a_line(sizes in sizes(50..70)) {
        check_both::<8>(two_peaks(), &TWO_PEAKS, sizes)?;
    }
}
