//! Fits a curve to data, prints the report, and draws data, curve and residuals.
//!
//! ```text
//! cargo run --release --example fit_curve                                     a peak, to measurements by NIST
//! cargo run --release --example fit_curve -- DATA.csv MODEL [START...]        a curve by name, to data of your own
//! cargo run --release --example fit_curve -- --help                           the names of the curves
//! ```

mod data;
mod models;
#[path = "../../tests/nist/mod.rs"]
#[allow(dead_code, reason = "one of the sets is enough here")]
mod nist;
mod plot;

use std::error::Error;
use std::process::ExitCode;

use data::Data;
use marquardt::{Curve, CurveFit, FittedCurve};
use models::Named;

/// Where the drawing goes.
const DRAWING: &str = "fit_curve.svg";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => fit_peak(),
        ["-h" | "--help"] => {
            print_help();
            Ok(())
        }
        [path, model, ref start @ ..] => fit_file(path, model, start),
        [_] => Err("a file and the name of a model are needed; see --help".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// A peak whose parameters have names, from NIST's far start.
fn fit_peak() -> Result<(), Box<dyn Error>> {
    let data = data::interference_filter();
    let fit = CurveFit::new(
        |x, [area, width, center]| area / width * (-0.5 * ((x - center) / width).powi(2)).exp(),
        &data.x,
        &data.y,
        [1.0, 10.0, 500.0],
    )
    .names(["area", "width", "center"])
    .fit()?;
    show(&data, &fit)
}

/// A curve by name, from the start given or else guessed.
fn fit_file(path: &str, model: &str, start: &[&str]) -> Result<(), Box<dyn Error>> {
    let model = Named::of_name(model).ok_or_else(|| format!("there is no model {model:?}; see --help"))?;
    let data = data::read(path)?;
    let start = if start.is_empty() { model.start(&data) } else { parse_start(model, start)? };
    let fit = CurveFit::model(model, &data.x, &data.y, &start).fit()?;
    show(&data, &fit)
}

fn parse_start(model: Named, start: &[&str]) -> Result<Vec<f64>, String> {
    let names = model.parameters();
    if start.len() != names.len() {
        return Err(format!("{} starts from {}: {}", model.name(), names.len(), names.join(", ")));
    }
    let number = |(name, text): (&&str, &&str)| {
        text.parse::<f64>().map_err(|_| format!("the start of {name} must be a number, not {text:?}"))
    };
    names.iter().zip(start).map(number).collect()
}

fn show<C: Curve<f64>>(data: &Data, fit: &FittedCurve<'_, f64, C>) -> Result<(), Box<dyn Error>> {
    println!("{fit}");
    plot::draw(data, fit, DRAWING).map_err(|error| format!("{DRAWING}: {error}"))?;
    println!("\ndrawn to {DRAWING}");
    Ok(())
}

fn print_help() {
    println!("usage: fit_curve [DATA.csv MODEL [START...]]");
    println!();
    println!("Fits MODEL to the first two columns of DATA.csv, x and y; a heading is optional.");
    println!(
        "START are the parameters to start from, in the order listed; without them they are guessed from the data."
    );
    println!("Without arguments a peak is fitted to measurements by NIST.");
    println!();
    println!("{:<18}  {:<51}  parameters", "model", "y =");
    for model in Named::ALL {
        println!("{:<18}  {:<51}  {}", model.name(), model.formula(), model.parameters().join(" "));
    }
}
