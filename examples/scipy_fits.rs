//! Six fits as SciPy's users make them; beside it, `examples/python/scipy_fits.py`.
//!
//! ```text
//! cargo run --release --example scipy_fits
//! ```

use marquardt::{CurveError, CurveFit, FittedCurve, Loss, model};

/// The name of a fit, and the value and standard error of each of its parameters.
type Fit = (&'static str, Vec<[f64; 2]>);

fn fits() -> Result<Vec<Fit>, CurveError> {
    let x: Vec<f64> = (0..20).map(|i| f64::from(i) / 2.0).collect();
    let y: Vec<f64> = x.iter().map(|x| 3.0 * (-0.5 * x).exp() + 1.0 + 0.05 * (7.0 * x).sin()).collect();
    let sigma: Vec<f64> = x.iter().map(|x| 0.03 + 0.004 * x).collect();
    let spoilt: Vec<f64> = x.iter().zip(&y).map(|(&x, &y)| if x == 4.0 { 9.0 } else { y }).collect();
    let fit = |y| CurveFit::model(model!(|x; a, k, c| a * exp(-k * x) + c), &x, y, &[2.0, 0.3, 0.0]);

    let plane = ndarray::Array2::from_shape_fn((20, 2), |(i, power)| x[i].powi(power as i32 + 1));
    let heights: Vec<f64> = x.iter().map(|x| 2.0 * x - 0.1 * x * x + x.sin()).collect();
    let inclined = CurveFit::with_predictors(|x, [a, b]| a * x[0] + b * x[1], &plane, &heights, [1.0; 2]);
    Ok(vec![
        ("plain", numbers(fit(&y).fit()?)),
        ("sigma", numbers(fit(&y).sigma(&sigma).absolute_sigma(true).fit()?)),
        ("bounds", numbers(fit(&y).bounds("a", 0.0..).bounds("k", 0.0..=1.0).bounds("c", 0.0..=5.0).fit()?)),
        ("fixed", numbers(fit(&y).fix_at("c", 1.0).fit()?)),
        ("robust", numbers(fit(&spoilt).robust(Loss::Cauchy).f_scale(0.1).fit()?)),
        ("plane", numbers(inclined.fit()?)),
    ])
}

fn numbers(fit: FittedCurve<'_, f64>) -> Vec<[f64; 2]> {
    fit.parameters().iter().map(|parameter| [parameter.value, parameter.standard_error]).collect()
}

fn main() -> Result<(), CurveError> {
    fits().map(|fits| fits.iter().for_each(|(what, parameters)| println!("{what:6} {parameters:.6?}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the script in Python prints.
    #[test]
    fn the_numbers_are_scipys() {
        let expected: [(&str, &[f64], &[f64]); 6] = [
            ("plain", &[2.999097, 0.497969, 0.996829], &[0.02996, 0.011783, 0.016124]),
            ("sigma", &[2.998908, 0.498504, 0.99763], &[0.030862, 0.013646, 0.024479]),
            ("bounds", &[2.999097, 0.497969, 0.996829], &[0.02996, 0.011783, 0.016124]),
            ("fixed", &[2.997576, 0.499731], &[0.028191, 0.007505]),
            ("robust", &[3.000725, 0.498751, 0.99626], &[]),
            ("plane", &[1.928793, -0.086258], &[0.110756, 0.014676]),
        ];
        for ((what, found), (name, values, errors)) in fits().unwrap().into_iter().zip(expected) {
            assert_eq!(what, name);
            let free: Vec<[f64; 2]> = found.into_iter().filter(|[_, error]| *error > 0.0).collect();
            for (index, value) in values.iter().enumerate() {
                assert!((free[index][0] - value).abs() < 2e-6, "{what} {free:?}");
                assert!(errors.is_empty() || (free[index][1] - errors[index]).abs() < 2e-6, "{what} {free:?}");
            }
        }
    }
}
