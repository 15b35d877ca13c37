//! Fits the decays of one isotope in three samples, which share its rate and have amplitudes of their own; compares the
//! rate with those of separate fits, tests whether it may be shared, and draws global_fit.svg.
//!
//! ```text
//! cargo run --release --example global_fit
//! ```

use std::error::Error;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{FTest, GlobalError, f_test};
use marquardt::{CurveFit, Dual, FittedCurve, GlobalFit, Tie};
use rand_distr::{Distribution, StandardNormal};

const RATE: f64 = 0.31;
const NOISE: f64 = 0.15;

/// A sample, and its activity over time.
struct Sample {
    name: &'static str,
    hours: Vec<f64>,
    activity: Vec<f64>,
}

fn decay(t: f64, [amplitude, rate]: [Dual<f64, 2>; 2]) -> Dual<f64, 2> {
    amplitude * (-rate * t).exp()
}

/// Samples of different amplitudes, measured for different times.
fn measure() -> [Sample; 3] {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    [("weak", 1.0, 12), ("middle", 3.0, 16), ("strong", 8.0, 24)].map(|(name, amplitude, count)| {
        let hours: Vec<f64> = (0..count).map(|index| 0.5 * f64::from(index)).collect();
        let mut noise = || -> f64 { NOISE * Distribution::<f64>::sample(&StandardNormal, &mut random) };
        let activity = hours.iter().map(|t| amplitude * (-RATE * t).exp() + noise()).collect();
        Sample { name, hours, activity }
    })
}

fn fit<'a>(samples: &'a [Sample], shared: &[&str]) -> Result<FittedCurve<'a, f64>, GlobalError> {
    let all = samples.iter().fold(GlobalFit::new(), |all, Sample { name, hours, activity }| {
        all.data_set(name, CurveFit::new(decay, hours, activity, [1.0, 0.1]).names(["amplitude", "rate"]))
    });
    all.shared(shared.iter().copied()).fit()
}

fn main() -> Result<(), Box<dyn Error>> {
    let samples = measure();
    let (together, apart) = (fit(&samples, &["rate"])?, fit(&samples, &[])?);
    println!("{together}\n");

    println!("rate, of which the truth is {RATE}");
    for Sample { name, .. } in &samples {
        let rate = apart.parameter(&format!("{name}.rate")).ok_or("there is no such parameter")?;
        println!("  {name:<6}  {:.4} ± {:.4}", rate.value, rate.standard_error);
    }
    let rate = together.parameter("rate").ok_or("there is no such parameter")?;
    println!("  shared  {:.4} ± {:.4}", rate.value, rate.standard_error);
    let half_life = together.derived(&Tie::new(["rate"], |[rate]| rate.recip() * 2_f64.ln()))?;
    println!("half-life {:.3} ± {:.3} h", half_life.value, half_life.standard_error);

    let FTest { statistic, numerator, denominator, p_value, .. } = f_test(&together.criteria(), &apart.criteria())?;
    println!("one rate against three: F({numerator}, {denominator}) = {statistic:.2}, p = {p_value:.2}\n");

    let plot = together.plot()?.title("Three decays, one rate").x_label("time (h)").y_label("activity (kBq)");
    plot.save("global_fit.svg")?;
    println!("drawn to global_fit.svg");
    Ok(())
}
