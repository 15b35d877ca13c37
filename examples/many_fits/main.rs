//! Fits thousands of small curves at once, prints one line, and draws a dozen of them.
//!
//! ```text
//! cargo run --release --example many_fits                                10,000 Gaussian peaks
//! cargo run --release --example many_fits -- --workload decays --threads 2
//! cargo run --release --example many_fits -- --help
//! ```

mod sheet;
#[path = "../../benches/workloads/mod.rs"]
mod workloads;

use std::error::Error;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use marquardt::curve::ManyFits;
use marquardt::solver::FitStatus;
use marquardt::{FitMany, Model, Real, model};
use ndarray::Array2;
use rayon::ThreadPoolBuilder;
use workloads::{Decays, Family, GaussianPeaks, ManyCurves};

/// Fits thousands of noisy curves, from starts that are off by half.
#[derive(Debug, Parser)]
struct Options {
    /// What is fitted
    #[arg(long, value_enum, default_value_t = Workload::Peaks)]
    workload: Workload,
    /// Threads that share the fits
    #[arg(long, default_value_t = 1, value_parser = positive)]
    threads: usize,
    /// Number of curves
    #[arg(long, default_value_t = 10_000, value_parser = positive)]
    fits: usize,
    /// Observations of each curve
    #[arg(long, default_value_t = 64, value_parser = at_least_four)]
    points: usize,
    /// Of parameters, starts and noise
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Single precision
    #[arg(long)]
    single: bool,
    /// Every hundredth row of data is NaN, zeros or a constant
    #[arg(long)]
    bad: bool,
    /// How often all is fitted; the shortest time is printed
    #[arg(long, default_value_t = 5, value_parser = positive)]
    repeat: usize,
    /// Where a dozen of the fits are drawn
    #[arg(long, value_name = "FILE", default_value = "many_fits.svg")]
    svg: PathBuf,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Workload {
    /// Gaussian peaks: amplitude, centre, width, offset
    Peaks,
    /// Exponential decays on a linear background
    Decays,
}

fn positive(text: &str) -> Result<usize, String> {
    at_least(1, text)
}

/// As many as there are parameters.
fn at_least_four(text: &str) -> Result<usize, String> {
    at_least(4, text)
}

fn at_least(least: usize, text: &str) -> Result<usize, String> {
    let number = text.parse().map_err(|error| format!("{error}"))?;
    if number < least { Err(format!("at least {least} is expected")) } else { Ok(number) }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    let report = run(&options)?;
    println!("{report}");
    Ok(())
}

/// Fits and draws what the options say; says how it went.
fn run(options: &Options) -> Result<String, Box<dyn Error>> {
    let peak =
        model!(|x; amplitude, center, width, offset| amplitude * exp(-0.5 * ((x - center) / width).powi(2)) + offset);
    let decay = model!(|x; amplitude, lifetime, background, slope| {
        amplitude * exp(-x / lifetime) + background + slope * x
    });
    match (options.workload, options.single) {
        (Workload::Peaks, false) => fit_family::<f64, GaussianPeaks>(options, peak),
        (Workload::Peaks, true) => fit_family::<f32, GaussianPeaks>(options, peak),
        (Workload::Decays, false) => fit_family::<f64, Decays>(options, decay),
        (Workload::Decays, true) => fit_family::<f32, Decays>(options, decay),
    }
}

fn fit_family<T: Real, F: Family>(options: &Options, model: impl Model<T> + Copy) -> Result<String, Box<dyn Error>> {
    let mut curves = ManyCurves::<F>::new(options.fits, options.points, options.seed);
    if options.bad {
        curves = curves.with_bad_rows().0;
    }
    let rows = |values: &[f64]| {
        let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
        Array2::from_shape_vec((options.fits, values.len() / options.fits), values)
    };
    let x: Vec<T> = curves.x.iter().map(|&x| T::from_f64(x)).collect();
    let (y, start) = (rows(&curves.y)?, rows(&curves.start)?);

    let pool = ThreadPoolBuilder::new().num_threads(options.threads).build()?;
    let fit = || FitMany::new(model, &x, &y).start(&start).fit();
    let mut best: Option<(Duration, ManyFits<T>)> = None;
    for _ in 0..options.repeat {
        let begin = Instant::now();
        let fits = pool.install(fit)?;
        let time = begin.elapsed();
        if best.as_ref().is_none_or(|(shortest, _)| time < *shortest) {
            best = Some((time, fits));
        }
    }
    let (time, fits) = best.ok_or("nothing was repeated")?;
    std::fs::write(&options.svg, sheet::svg(&model, &x, &y, &fits))
        .map_err(|error| format!("{}: {error}", options.svg.display()))?;
    Ok(report(options, time, &fits))
}

/// One line, and another for each way in which fits ended without a minimum.
fn report<T: Real>(options: &Options, time: Duration, fits: &ManyFits<T>) -> String {
    let Options { fits: count, threads, .. } = options;
    let (seconds, solved) = (time.as_secs_f64(), fits.converged());
    let mean = fits.iterations.sum() as f64 / *count as f64;
    let mut report =
        format!("fits={count} threads={threads} seconds={seconds:.4} solved={solved} mean_iterations={mean:.1}");
    for (status, count) in failures(fits) {
        report += &format!("\n{count:>6}  {status}");
    }
    report
}

/// How often fits ended in each way that is no minimum.
fn failures<T>(fits: &ManyFits<T>) -> Vec<(FitStatus, usize)> {
    let mut counts: Vec<(FitStatus, usize)> = Vec::new();
    for &status in fits.status.iter().filter(|status| !status.is_converged()) {
        match counts.iter_mut().find(|(of, _)| *of == status) {
            Some((_, count)) => *count += 1,
            None => counts.push((status, 1)),
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_line(line: &str) -> (String, String) {
        let svg = std::env::temp_dir().join(format!("marquardt-many-{}.svg", line.replace(' ', "")));
        let words = ["many_fits", "--fits", "120", "--repeat", "1", "--svg"].map(str::to_owned).into_iter();
        let words = words.chain([svg.display().to_string()]).chain(line.split_whitespace().map(str::to_owned));
        let report = run(&Options::parse_from(words)).unwrap();
        let drawing = std::fs::read_to_string(&svg).unwrap();
        std::fs::remove_file(&svg).unwrap();
        (report, drawing)
    }

    #[test]
    fn all_are_solved_and_a_dozen_drawn() {
        for line in ["", "--workload decays --threads 2", "--single"] {
            let (report, drawing) = run_line(line);
            assert!(report.contains(" solved=120 ") && report.lines().count() == 1, "{report}");
            assert_eq!(drawing.matches("<svg").count(), 1 + 12);
            assert_eq!(drawing.matches("<svg").count(), drawing.matches("</svg>").count());
        }
    }

    #[test]
    fn bad_rows_are_counted() {
        let (report, _) = run_line("--bad");
        assert!(report.starts_with("fits=120 threads=1 ") && report.contains("1  the data are not finite"), "{report}");
    }
}
