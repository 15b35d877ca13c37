//! Fits from many starts.

use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicUsize, Ordering};

use thiserror::Error;

use super::checked_fit::CheckedFit;
use super::failure::FitFailure;
use super::iteration_observer::FitCounter;
use super::likelihood::Likelihood;
use super::map::ParameterMap;
use super::minima::Minima;
use super::ranks::{agreed, check_equal};
use super::robust::Robustness;
use super::{Curve, CurveError, CurveFit};
use crate::distributed::RankError;
use crate::real::Real;
use crate::statistics::latin_hypercube;

/// Starts unless said otherwise.
const STARTS: usize = 32;

/// A [`CurveFit`] from many starts, ready to run; made by [`CurveFit::multi_start`].
///
/// Starts form a Latin hypercube within the [bounds](CurveFit::bounds) of the free parameters, or within their [ranges](Self::range). If
/// the start is [guessed](CurveFit::guessed), a parameter without finite bounds and without a range gets the range from `s / 10` to `10 s`
/// around its start `s`, uniform in the logarithm, or from −1 to 1 for `s = 0`; bounds limit this range.
pub struct MultiStart<'a, T: Real, C> {
    fit: CurveFit<'a, T, C>,
    starts: usize,
    seed: u64,
    ranges: Vec<(String, StartRange<T>)>,
    observer: Option<Box<FitCounter<'a>>>,
}

/// Range of the starts of a parameter.
#[derive(Debug, Clone, Copy)]
struct StartRange<T> {
    low: T,
    high: T,
    is_logarithmic: bool,
}

/// Reasons why there is no fit from many starts.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MultiStartError {
    /// An error of the data or the parameters.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// The number of starts is zero.
    #[error("at least one start is needed")]
    NoStarts,
    /// A parameter has neither finite bounds nor a range.
    #[error("{name:?} has neither finite bounds nor a range to start from")]
    Unlimited {
        /// The parameter.
        name: String,
    },
    /// A range for a parameter that is not fitted.
    #[error("{name:?} is fixed or tied to others, and has no start")]
    NotFree {
        /// The parameter.
        name: String,
    },
    /// A range is invalid.
    #[error("{name:?} cannot start from {low} to {high}: {reason}")]
    Range {
        /// The parameter.
        name: String,
        /// The lower end.
        low: f64,
        /// The upper end.
        high: f64,
        /// The reason.
        reason: &'static str,
    },
    /// All starts failed.
    #[error("none of {} starts could be solved from; of the first: {}", .failed.len(), .failed[0])]
    AllFailed {
        /// Reasons of the failures, in the order of the starts.
        failed: Vec<FitFailure>,
    },
}

impl From<RankError> for MultiStartError {
    fn from(error: RankError) -> Self {
        CurveError::from(error).into()
    }
}

impl<'a, T: Real, C: Curve<T>> CurveFit<'a, T, C> {
    /// Fits from many starts, on all cores with the feature `rayon`, to find the lowest minimum and the others.
    ///
    /// ```
    /// use marquardt::CurveFit;
    ///
    /// // A sine has a minimum near every frequency that beats with the true one.
    /// let x: Vec<f64> = (0..30).map(|i| 0.2 * i as f64).collect();
    /// let y: Vec<f64> = x.iter().map(|x| 2.0 * (3.0 * x + 0.5).sin()).collect();
    /// let wave = CurveFit::new(|x, [a, w, p]| a * (w * x + p).sin(), &x, &y, [1.0, 0.5, 0.0])
    ///     .names(["a", "w", "p"]);
    /// let wave = wave.bounds("a", 0.0..=10.0).bounds("w", 0.0..=8.0).bounds("p", -4.0..=4.0);
    /// let minima = wave.multi_start().starts(20).run().unwrap();
    /// assert!((minima.best.parameters()[1].value - 3.0).abs() < 1e-9);
    /// for minimum in &minima.minima {
    ///     println!(
    ///         "cost {} at {:?}, from {} starts",
    ///         minimum.cost, minimum.parameters, minimum.starts
    ///     );
    /// }
    /// ```
    pub fn multi_start(self) -> MultiStart<'a, T, C> {
        MultiStart { fit: self, starts: STARTS, seed: 0, ranges: Vec::new(), observer: None }
    }
}

impl<'a, T: Real, C: Curve<T>> MultiStart<'a, T, C> {
    /// Sets the number of starts, at least 1; default 32. The first is the start of the fit itself. These fits make no [further
    /// attempts](CurveFit::retry).
    pub fn starts(self, starts: usize) -> Self {
        MultiStart { starts, ..self }
    }

    /// Seed of the random numbers.
    pub fn seed(self, seed: u64) -> Self {
        MultiStart { seed, ..self }
    }

    /// Sets the range of the starts of a parameter, which are uniform in it; default: its bounds.
    pub fn range(self, name: &str, range: RangeInclusive<T>) -> Self {
        self.with_range(name, range, false)
    }

    /// Sets the range of the starts of a positive parameter, which are uniform in its logarithm.
    pub fn log_range(self, name: &str, range: RangeInclusive<T>) -> Self {
        self.with_range(name, range, true)
    }

    fn with_range(mut self, name: &str, range: RangeInclusive<T>, is_logarithmic: bool) -> Self {
        let (low, high) = range.into_inner();
        self.ranges.push((name.to_owned(), StartRange { low, high, is_logarithmic }));
        self
    }

    /// Calls `observer` after each fit with the number of those done, and of all. The calls come from all threads, and not
    /// always in order. Where ranks [share the rows](CurveFit::communicator), only rank 0 is told.
    pub fn observe(self, observer: impl Fn(usize, usize) + Send + Sync + 'a) -> Self {
        MultiStart { observer: Some(Box::new(observer)), ..self }
    }

    /// Draws a bar on the terminal, feature `progress`.
    #[cfg(feature = "progress")]
    pub fn progress(self) -> Self {
        self.observe(super::progress::bar())
    }

    /// Fits from all starts. The result depends on the seed, and not on the number of threads. If the scale of a [robust](CurveFit::robust)
    /// loss is not given, it is estimated once, at the lowest minimum that least squares finds from the same starts. Where ranks [share the
    /// rows](CurveFit::communicator), it is collective, and takes one start after the other. A [cancel
    /// token](crate::LevenbergMarquardt::with_cancel_token) of the solver ends all solves.
    ///
    /// # Errors
    ///
    /// [`MultiStartError`] for an error in the data, the parameters or their ranges, or if all starts failed; it then contains the reason
    /// of each. If only some starts fail, the result lists them.
    pub fn run(self) -> Result<Minima<'a, T>, MultiStartError>
    where
        C: 'a,
    {
        let MultiStart { fit, starts: count, seed, ranges, observer } = self;
        let is_guessed = fit.is_guessed();
        let mut checked = fit.boxed()?.checked()?;
        let robust = checked.options.robust.clone();
        checked.method.observer = None;
        let ranks = checked.data.ranks();
        let starts = agreed(ranks, starts(&checked.map, &ranges, is_guessed, count, seed))?;
        check_equal(ranks, "the starts", &starts.concat())?;
        let observer = observer.filter(|_| ranks.is_root());
        let judges_scale = robust.as_ref().is_some_and(|robust| robust.scale.is_none());
        let (done, all) = (AtomicUsize::new(0), if judges_scale { 2 * count } else { count });
        let solve_all = |checked: &CheckedFit<'a, T>| {
            checked.for_each_solve(count, |index| {
                let report = checked.solve(&starts[index]);
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                observer.iter().for_each(|observe| observe(done, all));
                report
            })
        };
        match robust {
            Some(Robustness { loss, scale: Some(scale) }) => checked.likelihood = Likelihood::Robust(loss, scale),
            Some(robust) => {
                let reports = solve_all(&checked);
                let lowest = reports.iter().flatten().min_by(|a, b| a.cost.to_f64().total_cmp(&b.cost.to_f64()));
                checked
                    .solve_robust(robust, lowest.map_or(&starts[0], |report| &report.x))
                    .map_err(CurveError::from)?;
            }
            None => {}
        }
        let reports = solve_all(&checked);
        Minima::gather(checked, starts, reports)
    }
}

/// Returns the ranges of the free parameters' starts, in their order.
fn start_ranges<T: Real>(
    map: &ParameterMap<T>,
    given: &[(String, StartRange<T>)],
    is_guessed: bool,
) -> Result<Vec<StartRange<T>>, MultiStartError> {
    for (name, range) in given {
        let Some(index) = map.index(name) else {
            let known = map.parameters.iter().map(|parameter| parameter.name.clone()).collect();
            return Err(CurveError::NoSuchParameter { name: name.clone(), known }.into());
        };
        if !map.free().contains(&index) {
            return Err(MultiStartError::NotFree { name: name.clone() });
        }
        let bounds = (map.parameters[index].lower, map.parameters[index].upper);
        if let Some(reason) = range.objection(bounds) {
            let (low, high) = (range.low.to_f64(), range.high.to_f64());
            return Err(MultiStartError::Range { name: name.clone(), low, high, reason });
        }
    }
    let of = |&index: &usize| {
        let parameter = &map.parameters[index];
        let (low, high) = (parameter.lower, parameter.upper);
        match given.iter().rev().find(|(name, _)| *name == parameter.name) {
            Some((_, range)) => Ok(*range),
            None if low.is_finite() && high.is_finite() => Ok(StartRange { low, high, is_logarithmic: false }),
            None if is_guessed => Ok(StartRange::around(parameter.start, low, high)),
            None => Err(MultiStartError::Unlimited { name: parameter.name.clone() }),
        }
    };
    map.free().iter().map(of).collect()
}

impl<T: Real> StartRange<T> {
    /// The reason why these bounds give no range to draw from.
    fn objection(&self, (lower, upper): (T, T)) -> Option<&'static str> {
        let StartRange { low, high, is_logarithmic } = *self;
        if !(low.is_finite() && high.is_finite()) {
            Some("both ends must be finite")
        } else if low > high {
            Some("the lower end is above the upper one")
        } else if is_logarithmic && !(low > T::ZERO) {
            Some("a logarithmic range must be positive")
        } else if low < lower || high > upper {
            Some("it is not within the bounds")
        } else {
            None
        }
    }

    /// A decade on either side of a start, within bounds; a unit on either side of zero.
    fn around(start: T, lower: T, upper: T) -> Self {
        let ten = T::from_f64(10.0);
        let ends = if start == T::ZERO { [-T::ONE, T::ONE] } else { [start / ten, start * ten] };
        let within = |end: T| end.max(lower).min(upper);
        let [low, high] = if start < T::ZERO { [ends[1], ends[0]] } else { ends }.map(within);
        StartRange { low, high, is_logarithmic: low * high > T::ZERO }
    }

    /// The value at a share of the way.
    fn at(&self, share: f64) -> T {
        let (low, high) = (self.low.to_f64(), self.high.to_f64());
        // Neither the ratio nor the difference of the ends need be finite.
        let rest = 1.0 - share;
        let power = |low: f64, high: f64| low.powf(rest) * high.powf(share);
        let value = match self.is_logarithmic {
            true if high < 0.0 => -power(-low, -high),
            true => power(low, high),
            false => rest * low + share * high,
        };
        T::from_f64(value).max(self.low).min(self.high)
    }
}

/// All parameters at each start, that of the fit first.
fn starts<T: Real>(
    map: &ParameterMap<T>,
    ranges: &[(String, StartRange<T>)],
    is_guessed: bool,
    count: usize,
    seed: u64,
) -> Result<Vec<Vec<T>>, MultiStartError> {
    if count == 0 {
        return Err(MultiStartError::NoStarts);
    }
    let ranges = if count > 1 { start_ranges(map, ranges, is_guessed)? } else { Vec::new() };
    let given: Vec<T> = map.parameters.iter().map(|parameter| parameter.start).collect();
    let cube = latin_hypercube(count - 1, ranges.len(), seed);
    let drawn = cube.into_iter().map(|point| {
        let mut start = given.clone();
        let values = ranges.iter().zip(point).map(|(range, share)| range.at(share));
        map.free().iter().zip(values).for_each(|(&index, value)| start[index] = value);
        start
    });
    Ok(std::iter::once(given.clone()).chain(drawn).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_ranges_are_covered() {
        let [narrow, wide] = [[1e-300, 1e300], [-f64::MAX, f64::MAX]];
        let log = StartRange { low: narrow[0], high: narrow[1], is_logarithmic: true };
        let even = StartRange { low: wide[0], high: wide[1], is_logarithmic: false };
        assert_eq!([log.at(0.0), log.at(1.0), even.at(0.0), even.at(1.0)], [narrow[0], narrow[1], wide[0], wide[1]]);
        assert!((log.at(0.5) - 1.0).abs() < 1e-13 && (log.at(0.75) / 1e150 - 1.0).abs() < 1e-12);
        assert!(even.at(0.5) == 0.0 && (even.at(0.75) / (0.5 * f64::MAX) - 1.0).abs() < 1e-15);
        let point = StartRange { low: 3.0, high: 3.0, is_logarithmic: true };
        assert_eq!(point.at(0.3), 3.0);
    }
}
