//! The lifetimes of 100,000 pixels of photon counts, by maximum likelihood; beside it, `examples/python/pixels.py`.
//!
//! ```text
//! cargo run --release --example pixels
//! ```

use std::error::Error;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use marquardt::{FitMany, model, npy};
use ndarray::Array2;
use rand_distr::{Distribution, Poisson, Uniform};

fn main() -> Result<(), Box<dyn Error>> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let time: Vec<f64> = (0..64).map(|bin| 0.25 * f64::from(bin)).collect();
    let rates: Vec<f64> = Uniform::new(0.3, 1.2)?.sample_iter(&mut random).take(100_000).collect();
    let counts = Array2::from_shape_fn((rates.len(), time.len()), |(pixel, bin)| {
        let mean = 20.0 * (-rates[pixel] * time[bin]).exp() + 0.5;
        Poisson::new(mean).expect("means are positive").sample(&mut random)
    });

    let decay = model!(|t; height, rate, dark| height * exp(-rate * t) + dark);
    let fits = FitMany::new(decay, &time, &counts).start(&[15.0, 0.6, 1.0]).counts().fit()?;
    println!("{} of {} converged", fits.converged(), rates.len());
    let found = fits.parameters.column(1);
    let squares: f64 = found.iter().zip(&rates).map(|(found, rate)| (found - rate).powi(2)).sum();
    println!("the rates are off by {}", (squares / rates.len() as f64).sqrt());
    npy::write("rates.npy", &found)?;
    Ok(())
}
