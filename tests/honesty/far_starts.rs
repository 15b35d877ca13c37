//! Two curves from 97 far starts, 53 of which ended in false claims of convergence once.

use marquardt::{AutoDiff, LevenbergMarquardt, curve_fit};

use crate::family::Family;
use crate::first_order::{Claim, Precision};
use crate::sample::Misfit;
use crate::way::minimize;

/// How many of the starts led to a false claim, and how many to the minimum.
#[derive(Debug, Clone, Copy, Default)]
pub struct FarStarts {
    pub starts: usize,
    pub false_claims: usize,
    pub at_the_minimum: usize,
}

/// A cost this close to the lowest one counts as the minimum's, relative to it.
const AT_THE_MINIMUM: f64 = 1e-6;

impl FarStarts {
    /// `a·exp(b ln x) + c` through the front door for curves, from 72 starts.
    pub fn of_a_power() -> Self {
        let x: Vec<f64> = (1..=12).map(f64::from).collect();
        let y: Vec<f64> = x.iter().map(|x| (100.0 * (2.0 * x.powf(1.4) + 1.0)).round() / 100.0).collect();
        let fit = |[a, b, c]: [f64; 3]| {
            let fit = curve_fit(|x, [a, b, c]| a * (b * x.ln()).exp() + c, &x, &y, [a, b, c]).unwrap();
            let report = fit.report();
            (report.x.clone(), format!("{:?}", report.status), report.is_converged())
        };
        let starts = [0.1, 0.5, 2.0].into_iter().flat_map(|a| {
            let of_b = [6.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0].into_iter();
            of_b.flat_map(move |b| [-3.0, 2.0, 20.0].map(|c| [a, b, c]))
        });
        Self::count(
            Misfit { family: Family::Power, sigma: vec![1.0; 12], x: x.clone(), y: y.clone() },
            &[2.0, 1.4, 1.0],
            starts,
            fit,
        )
    }

    /// `a (1 − e^(−bx))` as a least-squares problem, from 25 starts.
    pub fn of_a_saturation() -> Self {
        let x: Vec<f64> = (1..=10).map(f64::from).collect();
        let y = x.iter().map(|x| (100.0 * 8.0 * (1.0 - (-0.4 * x).exp())).round() / 100.0).collect();
        let misfit = Misfit { family: Family::Saturation, sigma: vec![1.0; 10], x, y };
        let fit = |start: [f64; 2]| {
            let report = minimize(&LevenbergMarquardt::new(), &mut AutoDiff(misfit.clone()), &start).unwrap();
            (report.x.clone(), format!("{:?}", report.status), report.is_converged())
        };
        let starts = [0.3, 1.0, 1.5, 4.0, 30.0].into_iter().flat_map(|a| [0.5, 2.0, 3.0, 5.0, 8.0].map(|b| [a, b]));
        Self::count(misfit.clone(), &[8.0, 0.4], starts, fit)
    }

    fn count<const N: usize>(
        misfit: Misfit<f64>,
        near: &[f64; N],
        starts: impl Iterator<Item = [f64; N]>,
        fit: impl Fn([f64; N]) -> (Vec<f64>, String, bool),
    ) -> Self {
        let cost = |b: &[f64]| -> f64 {
            let of_point = |(&x, y): (&f64, &f64)| (misfit.family.at(x, b) - y).powi(2);
            misfit.x.iter().zip(&misfit.y).map(of_point).sum()
        };
        let lowest = cost(&fit(*near).0);
        let mut counts = FarStarts::default();
        for start in starts {
            let (x, status, is_converged) = fit(start);
            let claim = Claim {
                misfit: misfit.clone(),
                x,
                bounds: None,
                loss: None,
                precision: Precision::Double,
                status,
                is_converged,
            };
            let finding = claim.examine();
            let is_false = claim.is_false(finding)[0];
            let is_at_the_minimum = cost(&claim.x) <= lowest * (1.0 + AT_THE_MINIMUM);
            counts.starts += 1;
            counts.false_claims += usize::from(is_false);
            counts.at_the_minimum += usize::from(is_at_the_minimum);
            if is_false || !is_at_the_minimum {
                println!("{start:?}: {} at {:?}, cost {:e}; {finding:?}", claim.status, claim.x, cost(&claim.x));
            }
        }
        counts
    }

    pub fn and(self, other: Self) -> Self {
        FarStarts {
            starts: self.starts + other.starts,
            false_claims: self.false_claims + other.false_claims,
            at_the_minimum: self.at_the_minimum + other.at_the_minimum,
        }
    }
}
