//! The data of a curve fit: rows of predictors, responses to them, and their noise.

use std::borrow::Cow;
use std::iter::zip;

use super::noise::{Noise, Whitening};
use super::rows::Rows;
use super::{CurveError, NanPolicy};
use crate::distributed::{Communicator, CommunicatorError, RankError};
use crate::real::Real;

/// Number of rows that the look at the data samples at most.
const SAMPLE: usize = 100_000;

/// Rows of predictors, and one response or several to each: all there are, or this rank's share of them.
#[derive(Debug, Clone)]
pub(super) struct Data<'a, T: Clone> {
    x: Cow<'a, [T]>,
    x_rows: usize,
    /// Predictors in a row.
    width: usize,
    y: Cow<'a, [T]>,
    y_rows: usize,
    /// Responses in a row.
    outputs: usize,
    /// Names of the responses of a row; empty unless they were given.
    pub(super) response_names: Vec<String>,
    pub(super) noise: Noise<'a, T>,
    /// Rows that were left out, of those that came in.
    omitted: Vec<usize>,
    /// The ranks that share the rows.
    ranks: Communicator,
    /// Rows of all ranks.
    all_rows: usize,
    /// Rows that were left out, of all ranks.
    all_omitted: usize,
}

impl<'a, T: Real> Data<'a, T> {
    pub(super) fn new(x: Rows<'a, T>, y: Rows<'a, T>) -> Self {
        let (x_rows, width, y_rows, outputs) = (x.count(), x.width(), y.count(), y.width());
        let (x, y, response_names, omitted) = (x.into_flat(), y.into_flat(), Vec::new(), Vec::new());
        let (noise, ranks, all_rows, all_omitted) = (Noise::Uniform, Communicator::single(), y_rows, 0);
        Data { x, x_rows, width, y, y_rows, outputs, response_names, noise, omitted, ranks, all_rows, all_omitted }
    }

    /// Creates `count` observations of zero, each with its index as the predictor; with a sigma of one if the noise is known.
    pub(super) fn zeros(count: usize, is_known: bool) -> Self {
        let x: Vec<T> = (0..count).map(|number| T::from_f64(number as f64)).collect();
        let noise = if is_known { Noise::Sigma(vec![T::ONE; count].into()) } else { Noise::Uniform };
        let data = Data::new(Rows::from(&[]), Rows::from(&[]));
        Data {
            x: x.into(),
            x_rows: count,
            y: vec![T::ZERO; count].into(),
            y_rows: count,
            noise,
            all_rows: count,
            ..data
        }
    }

    /// The same data, which borrow nothing.
    pub(super) fn into_owned(self) -> Data<'static, T> {
        let noise = match self.noise {
            Noise::Uniform => Noise::Uniform,
            Noise::Sigma(sigma) => Noise::Sigma(Cow::Owned(sigma.into_owned())),
            Noise::Correlated(whitening) => Noise::Correlated(whitening),
        };
        Data { x: Cow::Owned(self.x.into_owned()), y: Cow::Owned(self.y.into_owned()), noise, ..self }
    }

    /// Marks the data as this rank's share of the rows; on one rank, they are all rows.
    pub(super) fn shared(self, ranks: &Communicator) -> Self {
        let ranks = if ranks.size() > 1 { ranks.clone() } else { Communicator::single() };
        Data { ranks, ..self }
    }

    /// The ranks that share the rows.
    pub(super) fn ranks(&self) -> &Communicator {
        &self.ranks
    }

    /// The rows are on several ranks.
    pub(super) fn is_shared(&self) -> bool {
        self.ranks.size() > 1
    }

    /// Number of observations of all ranks.
    pub(super) fn all_rows(&self) -> usize {
        self.all_rows
    }

    /// Number of rows left out, on all ranks.
    pub(super) fn all_omitted(&self) -> usize {
        self.all_omitted
    }

    /// Number of observations.
    pub(super) fn rows(&self) -> usize {
        self.y_rows
    }

    /// Predictors in a row.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Responses in a row.
    pub(super) fn outputs(&self) -> usize {
        self.outputs
    }

    /// All predictors, row after row.
    pub(super) fn x(&self) -> &[T] {
        &self.x
    }

    /// All responses, row after row.
    pub(super) fn y(&self) -> &[T] {
        &self.y
    }

    /// Rows that were left out, counted in the data as they came in.
    pub(super) fn omitted(&self) -> &[usize] {
        &self.omitted
    }

    /// The number of a row in the data as they came in.
    pub(super) fn original_row(&self, row: usize) -> usize {
        self.omitted.iter().fold(row, |row, &omitted| row + usize::from(omitted <= row))
    }

    /// The predictors of `count` responses from response `first` on, which begin and end with a row.
    #[inline]
    pub(super) fn predictors(&self, first: usize, count: usize) -> &[T] {
        if self.outputs == 1 {
            return &self.x[first * self.width..(first + count) * self.width];
        }
        let (first, end) = (first / self.outputs, (first + count) / self.outputs);
        &self.x[first * self.width..end * self.width]
    }

    /// Turns the responses of a curve into residuals: response minus datum.
    #[inline]
    pub(super) fn subtract(&self, first: usize, r: &mut [T]) {
        for (r, &y) in zip(r, &self.y[first..]) {
            *r -= y;
        }
    }

    /// Sum of the squared responses, each by its sigma.
    pub(super) fn squared_responses(&self) -> f64 {
        let whitened = self.y.iter().enumerate().map(|(index, &y)| y / self.noise.sigma(index));
        whitened.map(|y| y.to_f64().powi(2)).sum()
    }

    /// Replaces the responses and keeps the predictors.
    pub(super) fn with_responses(&self, y: Vec<T>) -> Data<'_, T> {
        let (noise, ranks, response_names) = (self.noise.clone(), self.ranks.clone(), self.response_names.clone());
        Data { x: Cow::Borrowed(&self.x), y: y.into(), response_names, noise, omitted: Vec::new(), ranks, ..*self }
    }

    /// The rows with these indices, in their order; a row may come twice.
    pub(super) fn select(&self, kept: &[usize]) -> Result<Data<'static, T>, CurveError> {
        let gather = |values: &[T], width: usize| {
            kept.iter().flat_map(|&row| &values[row * width..(row + 1) * width]).copied().collect()
        };
        let (width, outputs, rows) = (self.width, self.outputs, kept.len());
        let responses: Vec<usize> = kept.iter().flat_map(|&row| row * outputs..(row + 1) * outputs).collect();
        let (x, y, noise) = (gather(&self.x, width), gather(&self.y, outputs), self.noise.select(&responses)?);
        let (x_rows, y_rows, all_rows, omitted, all_omitted) = (rows, rows, rows, Vec::new(), 0);
        let (response_names, ranks) = (self.response_names.clone(), self.ranks.clone());
        Ok(Data { x, x_rows, width, y, y_rows, outputs, response_names, noise, omitted, ranks, all_rows, all_omitted })
    }

    /// Rows of several data sets after each other, with the number of its set at the head of each row.
    pub(super) fn joined<'p>(
        sets: impl Iterator<Item = &'p Data<'p, T>> + Clone,
    ) -> Result<Data<'static, T>, CurveError> {
        let width = 1 + sets.clone().map(|set| set.width).max().unwrap_or(0);
        let (mut x, mut y, mut omitted, mut before) = (Vec::new(), Vec::new(), Vec::new(), 0);
        for (number, set) in sets.clone().enumerate() {
            for row in 0..set.y_rows {
                x.push(T::from_f64(number as f64));
                x.extend_from_slice(&set.x[row * set.width..(row + 1) * set.width]);
                x.resize(x.len().next_multiple_of(width), T::ZERO);
            }
            y.extend_from_slice(&set.y);
            omitted.extend(set.omitted.iter().map(|row| before + row));
            before += set.y_rows + set.omitted.len();
        }
        let first = sets.clone().next();
        let (rows, outputs) = (x.len() / width, first.map_or(1, |set| set.outputs));
        let ranks = first.map_or_else(Communicator::single, |set| set.ranks.clone());
        let response_names = first.map_or_else(Vec::new, |set| set.response_names.clone());
        let noise = Noise::joined(sets.map(|set| (&set.noise, set.y.len())))?;
        let (x, y, all_omitted) = (x.into(), y.into(), omitted.len());
        let (x_rows, y_rows, all_rows) = (rows, rows, rows);
        Ok(Data { x, x_rows, width, y, y_rows, outputs, response_names, noise, omitted, ranks, all_rows, all_omitted })
    }

    /// Checks the data, and leaves out masked rows, and missing ones if the policy says so. A row counts as missing where any of
    /// its numbers is NaN or infinite.
    pub(super) fn check(self, mask: Option<&[bool]>, policy: NanPolicy) -> Result<Self, CurveError> {
        self.check_shapes(mask)?;
        if mask.is_none() && self.is_complete() {
            return Ok(self);
        }
        let mut omitted = Vec::new();
        for row in 0..self.y_rows {
            let masked = mask.is_some_and(|mask| !mask[row]);
            let missing = if masked { None } else { self.missing(row) };
            match missing {
                Some(error) if policy == NanPolicy::Raise => return Err(error),
                None if !masked => {}
                _ => omitted.push(row),
            }
        }
        if omitted.len() == self.y_rows && !self.is_shared() {
            return Err(CurveError::NoObservations);
        }
        let kept = || (0..self.y_rows).filter(|row| omitted.binary_search(row).is_err());
        if let Noise::Sigma(sigma) = &self.noise {
            for row in kept() {
                let range = row * self.outputs..(row + 1) * self.outputs;
                if let Some(&value) = sigma[range].iter().find(|&&sigma| !(sigma > T::ZERO)) {
                    return Err(CurveError::NonPositiveSigma { row, value: value.to_f64() });
                }
            }
        }
        if omitted.is_empty() {
            return Ok(self);
        }
        let kept: Vec<usize> = kept().collect();
        Ok(Data { all_omitted: omitted.len(), omitted, ..self.select(&kept)? })
    }

    /// Counts the rows of all ranks. One that has none learns from the others what rows are like. Collective.
    pub(super) fn counted(self) -> Result<Self, CurveError> {
        if !self.is_shared() {
            return Ok(self);
        }
        let own = [self.width, self.outputs, self.y_rows, self.omitted.len()];
        let all = self.ranks.all_gather(&own.map(|count| count as f64))?;
        let all: Vec<Vec<usize>> = all.iter().map(|own| own.iter().map(|&count| count as usize).collect()).collect();
        let mut with_rows = all.iter().enumerate().filter(|(_, counts)| counts[2] > 0);
        let Some((first, like)) = with_rows.next() else { return Err(CurveError::NoObservations) };
        if let Some((rank, counts)) = with_rows.find(|(_, counts)| counts[..2] != like[..2]) {
            let of = |counts: &[usize]| format!("{} predictors and {} responses", counts[0], counts[1]);
            let message = format!("rows have {}, but those of rank {first} have {}", of(counts), of(like));
            return Err(RankError { rank, message }.into());
        }
        let sum = |place: usize| all.iter().map(|counts| counts[place]).sum();
        Ok(Data { width: like[0], outputs: like[1], all_rows: sum(2), all_omitted: sum(3), ..self })
    }

    /// Predictors and responses of all ranks as they came in, rank after rank, for a look at them; evenly thinned out where
    /// they are many. Collective.
    pub(super) fn sample(&self) -> Result<[Cow<'_, [T]>; 2], CommunicatorError> {
        if !self.is_shared() {
            return Ok([Cow::Borrowed(&*self.x), Cow::Borrowed(&*self.y)]);
        }
        let own = (self.x.len() / self.width.max(1)).min(self.y.len());
        let counts = self.ranks.all_gather(&[own as f64])?.concat();
        let sum = |counts: &[f64]| counts.iter().sum::<f64>() as usize;
        let (before, stride) = (sum(&counts[..self.ranks.rank()]), sum(&counts).div_ceil(SAMPLE).max(1));
        let first = before.next_multiple_of(stride) - before;
        let gather = |values: &[T], width: usize| {
            let rows = values.chunks_exact(width.max(1)).take(own).skip(first).step_by(stride);
            let own: Vec<T> = rows.flatten().copied().collect();
            self.ranks.all_gather(&own).map(|all| Cow::Owned(all.concat()))
        };
        Ok([gather(&self.x, self.width)?, gather(&self.y, 1)?])
    }

    fn check_shapes(&self, mask: Option<&[bool]>) -> Result<(), CurveError> {
        let (x, y) = (self.x_rows, self.y_rows);
        if x != y {
            return Err(CurveError::UnequalLengths { x, y });
        }
        // Where rows are shared, there may be none here.
        if y == 0 && !self.is_shared() || y > 0 && self.outputs == 0 {
            return Err(CurveError::NoObservations);
        }
        let (responses, names) = (self.outputs, self.response_names.len());
        if names > 0 && names != responses {
            return Err(CurveError::ResponseNameCount { responses, names });
        }
        let expected = self.y.len();
        match &self.noise {
            Noise::Sigma(sigma) if sigma.len() != expected => {
                return Err(CurveError::SigmaLength { sigma: sigma.len(), responses: expected });
            }
            Noise::Correlated(whitening) if whitening.count() != expected => {
                let count = whitening.count();
                return Err(CurveError::CovarianceShape { rows: count, columns: count, responses: Some(expected) });
            }
            _ => {}
        }
        match mask {
            Some(mask) if mask.len() != y => Err(CurveError::MaskLength { mask: mask.len(), rows: y }),
            _ => Ok(()),
        }
    }

    /// All numbers are finite, and all standard deviations positive. There are rows.
    fn is_complete(&self) -> bool {
        // Without an end in between, several numbers are looked at at once.
        let all = |numbers: &[T], holds: fn(T) -> bool| numbers.iter().fold(true, |all, &number| all & holds(number));
        let are_positive = match &self.noise {
            Noise::Sigma(sigma) => all(sigma, |sigma| sigma.is_finite() & (sigma > T::ZERO)),
            _ => true,
        };
        self.y_rows > 0 && are_positive && all(&self.x, T::is_finite) && all(&self.y, T::is_finite)
    }

    /// The first number of a row that is not finite.
    fn missing(&self, row: usize) -> Option<CurveError> {
        let column = |name: &str, values: &[T], width: usize| {
            let values = &values[row * width..(row + 1) * width];
            let at = values.iter().position(|value| !value.is_finite())?;
            let variable = if width == 1 { name.into() } else { format!("{name}{}", at + 1) };
            Some(CurveError::NonFiniteDatum { variable, row, value: values[at].to_f64() })
        };
        let sigma = match &self.noise {
            Noise::Sigma(sigma) => column("sigma", sigma, self.outputs),
            _ => None,
        };
        column("x", &self.x, self.width).or_else(|| column("y", &self.y, self.outputs)).or(sigma)
    }

    /// Names the responses of a row.
    pub(super) fn with_response_names(self, response_names: Vec<String>) -> Self {
        Data { response_names, ..self }
    }

    /// Sets the noise.
    pub(super) fn with_sigma(self, sigma: Rows<'a, T>) -> Self {
        Data { noise: Noise::Sigma(sigma.into_flat()), ..self }
    }

    /// Sets the noise.
    pub(super) fn with_whitening(self, whitening: Whitening<T>) -> Self {
        Data { noise: Noise::Correlated(whitening), ..self }
    }
}
