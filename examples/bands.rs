//! What is known after a fit: confidence and prediction bands, intervals of the parameters by three methods, and a
//! quantity computed from them. Draws bands.svg.
//!
//! ```text
//! cargo run --release --example bands
//! ```

use std::error::Error;

use marquardt::curve::Table;
use marquardt::models::MichaelisMenten;
use marquardt::{CurveFit, Tie};

const LEVEL: f64 = 0.95;
const REPLICATES: usize = 1000;

fn main() -> Result<(), Box<dyn Error>> {
    let table = Table::from_csv(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/enzyme.csv"))?;
    let (conc, rate) = (table.column("conc")?, table.column("rate")?);
    let fit = CurveFit::guessed(MichaelisMenten, conc, rate).fit()?;
    println!("{fit}\n");

    println!("95 % intervals        Student's t    profile likelihood     bootstrap ({REPLICATES})");
    let bootstrap = fit.bootstrap().replicates(REPLICATES).seed(1).run()?;
    for parameter in fit.parameters() {
        let name = &parameter.name;
        let t = fit.confidence_interval(name, LEVEL)?;
        let profile = fit.profile_interval(name, LEVEL)?;
        let percentile = bootstrap.percentile_interval(name, LEVEL)?;
        let ends = [(t.low, t.high), (profile.low, profile.high), (percentile.low, percentile.high)];
        let [t, profile, percentile] = ends.map(|(low, high)| format!("[{low:.4}, {high:.4}]"));
        println!("{name:<12}  {t:>19}  {profile:>20}  {percentile:>20}");
    }

    let efficiency = fit.derived(&Tie::new(["vmax", "km"], |[vmax, km]| vmax / km))?;
    let interval = efficiency.interval(LEVEL)?;
    println!("\nvmax / km = {:.4} ± {:.4}", efficiency.value, efficiency.standard_error);
    println!("            [{:.4}, {:.4}], though vmax and km are correlated", interval.low, interval.high);

    let at = [1.0, 5.0, 20.0];
    let (curve, responses) = (fit.confidence_band(&at, LEVEL)?, fit.prediction_band(&at, LEVEL)?);
    println!("\nconc     curve              95 % of curve     95 % of new rates");
    for (conc, (curve, new)) in at.iter().zip(curve.iter().zip(&responses)) {
        let [curve_ends, new_ends] = [curve, new].map(|point| format!("[{:.4}, {:.4}]", point.low, point.high));
        println!("{conc:<5}  {:.4} ± {:.4}  {curve_ends:>18}  {new_ends:>20}", curve.value, curve.standard_error);
    }

    let plot = fit.plot()?.title("An enzyme's rate, with bands at 95 %");
    plot.x_label("concentration (mmol/l)").y_label("rate (µmol/min)").save("bands.svg")?;
    println!("\ndrawn to bands.svg");
    Ok(())
}
