//! Fits a peak whose parameters have names, from a far start, to the transmittance of an interference filter that was measured
//! at NIST; prints the report, and draws data, curve, bands and residuals to `fit_curve.svg`.
//!
//! ```text
//! cargo run --release --example fit_curve
//! ```

#[path = "../tests/nist/mod.rs"]
#[allow(dead_code, reason = "one of the sets is enough here")]
mod nist;

use std::error::Error;

use marquardt::CurveFit;

fn main() -> Result<(), Box<dyn Error>> {
    let data = nist::DataSet::load(nist::Model::Eckerle4);
    let wavelength: Vec<f64> = data.x.iter().map(|row| row[0]).collect();
    let fit = CurveFit::new(
        |x, [area, width, center]| area / width * (-0.5 * ((x - center) / width).powi(2)).exp(),
        &wavelength,
        &data.y,
        [1.0, 10.0, 500.0],
    )
    .names(["area", "width", "center"])
    .fit()?;
    println!("{fit}");
    let plot = fit.plot()?.title("Transmittance of an interference filter (NIST, Eckerle4)");
    plot.x_label("wavelength (nm)").y_label("transmittance").save("fit_curve.svg")?;
    Ok(())
}
