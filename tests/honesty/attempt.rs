//! A sample fitted in one way, and what no fit may end with.

use marquardt::Real;

use crate::first_order::Claim;
use crate::sample::Sample;
use crate::way::Way;

/// A claim with the name of a number of the report that is NaN, if there is one; or the reason why there was no fit.
pub type Outcome = Result<(Claim, Option<&'static str>), String>;

/// A sample fitted in one way: what is claimed, or why there was no fit.
pub struct Attempt {
    pub way: Way,
    pub sample: Sample,
    pub claim: Result<Claim, String>,
    /// Fault of the outcome, whatever its status: a number of it is NaN, or a fit that could begin was refused.
    pub defect: Option<String>,
}

impl Attempt {
    /// An attempt in this float.
    pub fn new<T: Real>(way: Way, sample: Sample, outcome: Outcome) -> Self {
        let defect = match &outcome {
            Ok((claim, nan)) => nan.map(|nan| format!("{nan} is NaN, {}", claim.status)),
            Err(refusal) => sample.may_start::<T>().then(|| format!("refused: {refusal}")),
        };
        Attempt { way, sample, claim: outcome.map(|(claim, _)| claim), defect }
    }
}

/// The name of the first of these that has an entry which is NaN.
pub fn nan_among<T: Real, const N: usize>(named: [(&'static str, &[T]); N]) -> Option<&'static str> {
    named.into_iter().find(|(_, numbers)| numbers.iter().any(|number| number.to_f64().is_nan())).map(|(name, _)| name)
}
