//! Fits a rise to a plateau to data of which 30 % are gross outliers, by least squares and under robust losses side by
//! side, and draws outliers.svg.
//!
//! ```text
//! cargo run --release --example outliers
//! ```

use std::error::Error;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::curve::{Plot, Series};
use marquardt::models::ExponentialRise;
use marquardt::{CurveFit, Loss};
use rand_distr::{Distribution, Exp1, StandardNormal};

const COUNT: usize = 60;
const NOISE: f64 = 0.2;
/// Amplitude and decay.
const TRUTH: [f64; 2] = [10.0, 3.0];

/// Times and responses, three of ten of which are far too high.
fn measure() -> (Vec<f64>, Vec<f64>) {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let [amplitude, decay] = TRUTH;
    let rows = (0..COUNT).map(|index| {
        let t = 0.2 * (index + 1) as f64;
        let noise: f64 = StandardNormal.sample(&mut random);
        let excess: f64 = Exp1.sample(&mut random);
        let outlier = if index % 10 % 4 == 1 { 3.0 + 4.0 * excess } else { 0.0 };
        (t, amplitude * (1.0 - (-t / decay).exp()) + NOISE * noise + outlier)
    });
    rows.unzip()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (t, y) = measure();
    println!("{:<16}  {:>18}  {:>16}  {:>8}", "loss", "amplitude", "decay", "scale");
    println!("{:<16}  {:>18.3}  {:>16.3}", "truth", TRUTH[0], TRUTH[1]);
    let title = "Three of ten far off: Tukey's loss, Huber's, and least squares";
    let mut plot = Plot::new().title(title).x_label("time").y_label("response");
    for &loss in Loss::ALL {
        let rise = CurveFit::guessed(ExponentialRise, &t, &y);
        let fit = if loss == Loss::Linear { rise.fit()? } else { rise.robust(loss).fit()? };
        let [amplitude, decay] =
            [0, 1].map(|index| &fit.parameters()[index]).map(|p| format!("{:.3} ± {:.3}", p.value, p.standard_error));
        let name = if loss == Loss::Linear { "least squares" } else { loss.name() };
        let scale = fit.robust_scale().map_or_else(String::new, |scale| format!("{scale:.3}"));
        println!("{name:<16}  {amplitude:>18}  {decay:>16}  {scale:>8}");
        // One of the fits says which data it takes for outliers.
        let drawn = match loss {
            Loss::Tukey => fit.plot_series()?,
            Loss::Linear | Loss::Huber => {
                vec![Series::new().curve(t.iter().copied().zip(fit.fitted().iter().copied()))]
            }
            _ => Vec::new(),
        };
        plot = drawn.into_iter().fold(plot, |plot, series| plot.series(series.name(name)));
    }
    plot.save("outliers.svg")?;
    println!("\ndrawn to outliers.svg");
    Ok(())
}
