//! Prints the times that `web/tests/measure.mjs` prints of the package, for native fits: `MARQUARDT_REGISTERS=portable` is the nearest to WebAssembly.

use std::error::Error;
use std::fs;
use std::time::Instant;

use marquardt::{CurveFit, FitMany, Formula};
use ndarray::{Array1, Array2};

const GAUSS: &str = "b1*exp(-b2*x) + b3*exp(-(x-b4)^2/b5^2) + b6*exp(-(x-b7)^2/b8^2)";

/// Median time of some calls, in microseconds.
fn median(count: usize, mut act: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..count)
        .map(|_| {
            let begun = Instant::now();
            act();
            begun.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[count / 2]
}

/// Predictors, responses and the first start of a set of NIST.
fn load(name: &str) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let text = fs::read_to_string(format!("{}/../../tests/nist/{name}.dat", env!("CARGO_MANIFEST_DIR")))?;
    let numbers = |line: &str| line.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<f64>>();
    let starts = text.lines().filter(|line| line.trim_start().starts_with('b')).filter_map(|line| {
        let (_, values) = line.split_once('=')?;
        numbers(values).first().copied()
    });
    let data = text
        .lines()
        .skip_while(|line| {
            !(line.starts_with("Data:") && line.contains('y') && line.contains('x') && !line.contains('('))
        })
        .skip(1);
    let rows: Vec<Vec<f64>> = data.map(numbers).filter(|row| row.len() == 2).collect();
    Ok((rows.iter().map(|row| row[1]).collect(), rows.iter().map(|row| row[0]).collect(), starts.collect()))
}

fn main() -> Result<(), Box<dyn Error>> {
    for (name, formula, count) in [("Misra1a", "b1*(1-exp(-b2*x))", 500), ("Gauss1", GAUSS, 60)] {
        let (x, y, start) = load(name)?;
        let fit = || {
            let formula = Formula::parse(formula).expect("it is one");
            let mut fit = CurveFit::guessed(formula, &x, &y);
            for (index, value) in start.iter().enumerate() {
                fit = fit.start(&format!("b{}", index + 1), *value);
            }
            assert!(fit.fit().expect("it begins").report().is_converged());
        };
        median(30, fit);
        println!("{name} us={:.1}", median(count, fit));
    }
    let mut state: u64 = 1;
    let mut uniform = || {
        state = state * 16807 % 2_147_483_647;
        state as f64 / 2_147_483_647.0
    };
    let x = Array1::from_shape_fn(30, |i| 0.3 * i as f64);
    let mut y = Array2::zeros((10_000, 30));
    for mut row in y.rows_mut() {
        let (amplitude, center, width) = (5.0 + 5.0 * uniform(), 3.0 + 3.0 * uniform(), 0.7 + uniform());
        for (y, x) in row.iter_mut().zip(&x) {
            *y = amplitude * (-(x - center).powi(2) / (2.0 * width * width)).exp() + 0.2 * (uniform() - 0.5);
        }
    }
    let formula = Formula::parse("a*exp(-(x-c)^2/(2*s^2))")?;
    let mut converged = 0;
    let time = median(3, || {
        let fits = FitMany::new(formula.clone(), &x, &y).start(&[7.0, 4.5, 1.2][..]);
        converged = fits.fit().expect("they begin").converged();
    });
    println!("peaks fits=10000 converged={converged} ms={:.1}", time / 1000.0);
    Ok(())
}
