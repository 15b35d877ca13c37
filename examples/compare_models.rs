//! Fits several models to the same data, compares them by information criteria, tests whether a nested one suffices, and
//! draws compare_models.svg.
//!
//! ```text
//! cargo run --release --example compare_models
//! ```

use std::error::Error;

use marquardt::CurveFit;
use marquardt::curve::{Compared, Comparison, FTest, Plot, Series, Table, f_test};
use marquardt::models::Named;

const MODELS: [&str; 6] = ["linear", "quadratic", "power_law", "exponential_rise", "michaelis_menten", "hill"];

/// Each is the next one with a parameter fixed.
const NESTED: [(&str, &str); 2] = [("linear", "quadratic"), ("michaelis_menten", "hill")];

fn main() -> Result<(), Box<dyn Error>> {
    let table = Table::from_csv(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enzyme.csv"))?;
    let (conc, rate) = (table.column("conc")?, table.column("rate")?);
    let mut fits = Vec::new();
    for name in MODELS {
        fits.push((name, CurveFit::guessed(name.parse::<Named>()?, conc, rate).fit()?));
    }
    let of_name = |name: &str| fits.iter().find(|(other, _)| *other == name).map(|(_, fit)| fit).ok_or("no such fit");

    let comparison = Comparison::of(fits.iter().map(|(name, fit)| (*name, fit.criteria())))?;
    println!("{comparison}\n");
    for (simple, full) in NESTED {
        let test = f_test(&of_name(simple)?.criteria(), &of_name(full)?.criteria())?;
        let FTest { statistic, numerator, denominator, p_value, .. } = test;
        let verdict = if p_value < 0.05 { "is needed" } else { "adds nothing" };
        println!("{full} {verdict} beside {simple}: F({numerator}, {denominator}) = {statistic:.2}, p = {p_value:.2e}");
    }

    // The best is drawn last, with its data.
    let best = comparison.best();
    println!("\n{}: {}\n", best.name, best.name.parse::<Named>()?.formula());
    let (least, greatest) = conc.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    let grid: Vec<f64> = (0..=200).map(|part| least + (greatest - least) * f64::from(part) / 200.0).collect();
    let mut plot = Plot::new().title(format!("An enzyme's rate: {} is the best of these", best.name));
    for Compared { name, .. } in comparison.fits().iter().rev() {
        let fit = of_name(name)?;
        let drawn = if *name == best.name {
            fit.plot_series()?
        } else {
            vec![Series::new().curve(grid.iter().copied().zip(fit.predict(&grid)?))]
        };
        plot = drawn.into_iter().fold(plot, |plot, series| plot.series(series.name(name)));
    }
    plot.x_label("concentration (mmol/l)").y_label("rate (µmol/min)").save("compare_models.svg")?;
    println!("drawn to compare_models.svg");
    Ok(())
}
