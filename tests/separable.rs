//! Variable projection: the same answers, in fewer iterations.

mod common;
#[path = "nist/mod.rs"]
mod data;

use common::{close, config, cost, linearized, wavy};
use data::{DataSet, MAX_DIGITS, Model, digits};
use marquardt::*;
#[test]
fn show() {
    for &model in Model::ALL {
        let set = DataSet::load(model);
        for start in &set.starts {
            let found = Separable::detect(AutoDiff(&set), start).map(|s| s.linear_parameters().to_vec());
            let by_differences = Separable::detect(
                FiniteDifference::new(set.certified.len(), set.y.len(), |b: &[f64], r: &mut [f64]| {
                    (&set).evaluate(b, 0, r)
                }),
                start,
            )
            .map(|s| s.linear_parameters().to_vec());
            let full = LevenbergMarquardt::new().minimize(&mut AutoDiff(&set), start).unwrap();
            let sep = LevenbergMarquardt::new().minimize_separable(&mut AutoDiff(&set), start).unwrap();
            println!(
                "{:9} {found:?} {by_differences:?} full {} {:.1} {:?}, sep {} {:.1} {:?} agree {:.1}",
                model.name(),
                full.iterations,
                set.parameter_digits(&full.x),
                full.status,
                sep.iterations,
                set.parameter_digits(&sep.x),
                sep.status,
                digits(&sep.x, &full.x)
            );
        }
    }
}
