//! The circle that lies nearest to points: residuals over named parameters that are no curve, as lmfit's users state them; beside it,
//! `examples/python/circle.py`.
//!
//! ```text
//! cargo run --release --example circle
//! ```

use std::error::Error;
use std::f64::consts::PI;

use marquardt::{CurveError, FittedCurve, Parameters, tie};

const POINTS: [[f64; 2]; 6] = [[2.1, 0.9], [1.1, 2.0], [-0.1, 1.1], [0.9, 0.1], [1.8, 1.6], [0.3, 0.2]];

fn circle() -> Result<FittedCurve<'static, f64>, CurveError> {
    let parameters = Parameters::new([("east", 0.8), ("north", 0.8), ("radius", 1.0), ("area", 0.0)])
        .tie("area", tie!(|radius| pi * radius * radius; pi = PI));
    parameters.minimize(POINTS.len(), |[east, north, radius, _area], r| {
        for (r, [x, y]) in r.iter_mut().zip(POINTS) {
            *r = (east - x).hypot(north - y) - radius;
        }
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let fit = circle()?;
    println!("{fit}");
    let radius = fit.profile_interval("radius", 0.95)?;
    println!("\nradius by the likelihood: {:.6} to {:.6}", radius.low, radius.high);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What lmfit prints.
    #[test]
    fn the_circle_is_lmfits() {
        let fit = circle().unwrap();
        for (name, value, error) in [
            ("east", 0.97921751, 0.05748391),
            ("north", 1.02548537, 0.05906630),
            ("radius", 1.03188122, 0.03895332),
            ("area", 3.34510143, 0.25255388),
        ] {
            let found = fit.parameter(name).unwrap();
            // By differences, lmfit comes so near.
            assert!((found.value - value).abs() < 1e-6 && (found.standard_error - error).abs() < 1e-6, "{found:?}");
        }
        let radius = fit.profile_interval("radius", 0.95).unwrap();
        assert!((radius.low - 0.908016454).abs() < 1e-6 && (radius.high - 1.156036765).abs() < 1e-6, "{radius:?}");
    }
}
