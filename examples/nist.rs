//! All 27 NIST reference sets from both starts, at default settings.

#[path = "../tests/nist/mod.rs"]
mod nist;

use marquardt::{AutoDiff, LevenbergMarquardt};
use nist::{DataSet, Model};

fn main() {
    let mut solved = 0;
    let mut total = 0.0;
    let (mut ev, mut ej) = (0, 0);
    for &model in Model::ALL {
        let data = DataSet::load(model);
        for (k, start) in data.starts.iter().enumerate() {
            match LevenbergMarquardt::new().minimize(&mut AutoDiff(&data), start) {
                Ok(report) => {
                    let digits = data.parameter_digits(&report.x);
                    solved += usize::from(digits > 6.0);
                    total += digits;
                    ev += report.evaluations.residuals;
                    ej += report.evaluations.jacobians;
                    println!(
                        "{:10} {} {digits:6.2} {:5} {:5} {:5} {:?} {}",
                        model.name(),
                        k + 1,
                        report.iterations,
                        report.evaluations.residuals,
                        report.evaluations.jacobians,
                        report.status,
                        report.linear_form
                    );
                    if std::env::args().nth(1).as_deref() == Some(&format!("{}{}", model.name(), k + 1)) {
                        println!("{report}");
                    }
                }
                Err(error) => println!("{:10} {} {error}", model.name(), k + 1),
            }
        }
    }
    println!("nist: solved {solved}/54, mean parameter digits {:.3}; evaluations {ev} {ej}", total / 54.0);
}
