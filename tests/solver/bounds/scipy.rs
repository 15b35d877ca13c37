//! NIST's sets with bounds that cut off their certified minima, against SciPy's numbers, which
//! `tests/reference/generate_bounds.py` wrote down.

use marquardt::{Bounds, LevenbergMarquardt};

use super::problems::{Fenced, kkt_residual, policies};
use crate::nist_data::DataSet;
use crate::nist_data::Model::{
    self, BoxBOD, Chwirut1, Chwirut2, DanWood, Eckerle4, Gauss1, Kirby2, MGH09, MGH17, Misra1a, Misra1b, Rat42, Rat43,
    Roszman1, Thurber,
};
use crate::reference::Reference;

const MODELS: [Model; 15] = [
    Misra1a, Misra1b, BoxBOD, Chwirut1, Chwirut2, DanWood, Eckerle4, Gauss1, Kirby2, MGH09, MGH17, Rat42, Rat43,
    Roszman1, Thurber,
];

#[test]
fn nist_sets_with_bounds_agree_with_scipy() {
    let reference = Reference::read("bounds.csv");
    let mut worst = 0.0_f64;
    for model in MODELS {
        let name = model.name();
        let set = DataSet::load(model);
        let bounds = Bounds::new(reference.of(name, "lower"), reference.of(name, "upper")).unwrap();
        let (expected, held) = (reference.of(name, "x"), reference.of(name, "held"));
        // A trust region from the far start finds another minimum of MGH17.
        let [gain_ratio, trust_region, _] = policies();
        for (policy, start) in [(gain_ratio, 0), (gain_ratio, 1), (trust_region, 1)] {
            let mut start = set.starts[start].clone();
            bounds.project(&mut start);
            let mut problem = Fenced::new(&set, &bounds);
            let report = LevenbergMarquardt::new().with_damping(policy).minimize(&mut problem, &start).unwrap();
            assert!(report.is_converged(), "{name}: {report}");
            for (j, (found, expected)) in report.x.iter().zip(expected).enumerate() {
                assert!((found / expected - 1.0).abs() < 1e-10, "{name}: x[{j}] is not {expected}\n{report}");
            }
            let sum = reference.of(name, "sum_of_squares")[0];
            assert!((report.sum_of_squares() / sum - 1.0).abs() < 1e-9, "{name}: {sum}\n{report}");
            let active: Vec<usize> = report.active.iter().map(|active| active.parameter).collect();
            let listed: Vec<usize> = (0..held.len()).filter(|&j| held[j] == 1.0).collect();
            assert_eq!(active, listed, "{name}");
            worst = worst.max(kkt_residual(&mut problem, &bounds, &report.x));
        }
    }
    assert!(worst < 1e-11, "{worst:e}");
}
