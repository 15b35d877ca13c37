//! The data of a curve fit: rows of predictors, responses to them, and their noise.

mod checks;
mod noise;

use std::borrow::Cow;
use std::iter::zip;

use super::CurveError;
use super::errors_in_x::{ObservedRow, PredictorSigma, observed_width, push_observed};
use super::noise::Noise;
use super::rows::Rows;
use crate::distributed::{Communicator, CommunicatorError, RankError};
use crate::real::Real;

/// Number of rows that the look at the data samples at most.
const SAMPLE: usize = 100_000;

/// The rows to fit, where some are left out.
pub(super) type Mask<'a> = Option<Cow<'a, [bool]>>;

/// Rows of predictors, and one response or several to each: all there are, or this rank's share of them.
#[derive(Debug, Clone)]
pub(super) struct Data<'a, T: Clone> {
    x: Cow<'a, [T]>,
    x_rows: usize,
    /// Entries in a row of `x`.
    width: usize,
    /// Predictors in a row, which are its first entries. Others carry its observation.
    predictors: usize,
    y: Cow<'a, [T]>,
    y_rows: usize,
    /// Responses in a row.
    outputs: usize,
    /// Names of the responses of a row; empty unless they were given.
    pub(super) response_names: Vec<String>,
    pub(super) noise: Noise<'a, T>,
    /// Rows that were left out, of those that came in.
    omitted: Vec<usize>,
    /// For each row, the row of means that it was taken from; empty where rows are single observations.
    of_means: Vec<usize>,
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
        Data {
            x,
            x_rows,
            width,
            predictors: width,
            y,
            y_rows,
            outputs,
            response_names,
            noise,
            omitted,
            of_means: Vec::new(),
            ranks,
            all_rows,
            all_omitted,
        }
    }

    /// No observations, to be filled in.
    fn empty() -> Self {
        Data::new(Rows::from(&[]), Rows::from(&[]))
    }

    /// The same predictors, to which the responses are zero.
    pub(super) fn with_zero_responses(self) -> Self {
        let rows = self.x_rows;
        Data { y: vec![T::ZERO; rows].into(), y_rows: rows, all_rows: rows, outputs: 1, ..self }
    }

    /// Makes each row carry its observation, with the standard deviations of its predictors; those of its responses are zero if the
    /// curve is a condition.
    pub(super) fn carrying_observations(
        self,
        sigma_x: &PredictorSigma<'_, T>,
        is_implicit: bool,
    ) -> Result<Self, CurveError> {
        self.check_shapes(None)?;
        let (predictors, outputs) = (self.width, self.outputs);
        let width = observed_width(predictors, outputs);
        let mut x = Vec::with_capacity(self.y_rows * width);
        for row in 0..self.y_rows {
            let sigma_y = |index| if is_implicit { T::ZERO } else { self.noise.sigma(index) };
            let responses = row * outputs..(row + 1) * outputs;
            let own_x = &self.x[row * predictors..(row + 1) * predictors];
            let parts = [own_x, sigma_x.of_row(row), &self.y[responses.clone()]];
            push_observed(&mut x, parts, responses.map(sigma_y));
        }
        Ok(Data { x: x.into(), width, ..self })
    }

    /// The same rows without the errors of their predictors.
    pub(super) fn with_exact_predictors(&self) -> Data<'_, T> {
        let rows = self.x.chunks_exact(self.width);
        let x: Vec<T> = rows.flat_map(|row| &row[..self.predictors]).copied().collect();
        let data = self.with_responses(self.y.to_vec());
        Data { x: x.into(), width: self.predictors, omitted: self.omitted.clone(), ..data }
    }

    /// The same rows with other observations.
    pub(super) fn observing(&self, x: &[T], y: Vec<T>) -> Data<'_, T> {
        let (predictors, outputs) = (self.predictors, self.outputs);
        let mut rows = Vec::with_capacity(self.x.len());
        for (row, old) in self.x.chunks_exact(self.width).enumerate() {
            let ObservedRow { sigma_x, sigma_y, .. } = ObservedRow::of(old, predictors);
            let [x, y] = [(x, predictors), (&y[..], outputs)].map(|(of, width)| &of[row * width..(row + 1) * width]);
            push_observed(&mut rows, [x, sigma_x, y], sigma_y.iter().copied());
        }
        Data { x: rows.into(), ..self.with_responses(y) }
    }

    /// Creates `count` observations of zero, each with its index as the predictor; with a sigma of one if the noise is known.
    pub(super) fn zeros(count: usize, is_known: bool) -> Self {
        let x: Vec<T> = (0..count).map(|number| T::from_f64(number as f64)).collect();
        let noise = if is_known { Noise::Sigma(vec![T::ONE; count].into()) } else { Noise::Uniform };
        Data {
            x: x.into(),
            x_rows: count,
            y: vec![T::ZERO; count].into(),
            y_rows: count,
            noise,
            all_rows: count,
            ..Data::empty()
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

    /// Removes rows, given by their indices in the data as given.
    pub(super) fn leaving_out(self, all: &Data<'_, T>, removed: Vec<usize>) -> Self {
        let mut omitted = [all.omitted.clone(), removed].concat();
        omitted.sort_unstable();
        Data { all_omitted: omitted.len(), omitted, ..self }
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

    /// Entries in a row of [`x`](Self::x).
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Predictors in a row; the number of the data set counts as one.
    pub(super) fn predictors_in_row(&self) -> usize {
        self.predictors
    }

    /// Differences of the largest and the least finite value of each predictor; its size where these are the same.
    pub(super) fn ranges(&self) -> Vec<T> {
        let range = |column: usize| {
            let finite = self.x.iter().skip(column).step_by(self.width).copied().filter(|x| x.is_finite());
            let (low, high) = finite.fold((T::INFINITY, -T::INFINITY), |(low, high), x| (low.min(x), high.max(x)));
            if low < high { high - low } else { high.abs() }
        };
        (0..self.predictors).map(range).collect()
    }

    /// Standard deviations of the predictors of a row, where there are errors in x. The data sets of a global fit have their own.
    pub(super) fn sigma_x(&self, row: usize) -> Option<&[T]> {
        let is_own = self.width == observed_width(self.predictors, self.outputs);
        is_own.then(|| ObservedRow::of(&self.x[row * self.width..][..self.width], self.predictors).sigma_x)
    }

    /// Rows carry their observations, as there are errors in the predictors.
    pub(super) fn has_errors_in_x(&self) -> bool {
        self.width > self.predictors
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
        let row = self.of_means.get(row).copied().unwrap_or(row);
        self.omitted.iter().fold(row, |row, &omitted| row + usize::from(omitted <= row))
    }

    /// Rows are replicates of which only means and standard deviations are known.
    pub(super) fn has_means(&self) -> bool {
        !self.of_means.is_empty()
    }

    /// Runs of rows that were taken from the same means.
    #[cfg(any(feature = "plot", feature = "serde"))]
    pub(super) fn runs_of_means(&self) -> impl Iterator<Item = usize> {
        self.of_means.chunk_by(|one, other| one == other).map(<[usize]>::len)
    }

    /// Replicates in place of means: for each row the row of its means, and its responses.
    pub(super) fn taken_apart(&self, rows: Vec<usize>, y: Vec<T>) -> Result<Data<'static, T>, CurveError> {
        let (omitted, all_omitted) = (self.omitted.clone(), self.all_omitted);
        Ok(Data { y: y.into(), omitted, all_omitted, of_means: rows.clone(), ..self.select(&rows)? })
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
        let (omitted, of_means) = (Vec::new(), self.of_means.clone());
        Data { x: Cow::Borrowed(&self.x), y: y.into(), response_names, noise, omitted, of_means, ranks, ..*self }
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
        let of_means = kept.iter().filter_map(|&row| self.of_means.get(row).copied()).collect();
        Ok(Data {
            x,
            x_rows,
            y,
            y_rows,
            response_names,
            noise,
            omitted,
            of_means,
            ranks,
            all_rows,
            all_omitted,
            ..*self
        })
    }

    /// Rows of several data sets after each other, with the number of its set at the head of each row.
    pub(super) fn joined<'p>(
        sets: impl Iterator<Item = &'p Data<'p, T>> + Clone,
    ) -> Result<Data<'static, T>, CurveError> {
        let longest = |of: fn(&Data<'p, T>) -> usize| 1 + sets.clone().map(of).max().unwrap_or(0);
        let (predictors, mut width) = (longest(|set| set.predictors), longest(|set| set.width));
        // Rows of data are told from rows of predictors by their length.
        width += usize::from(width == predictors && sets.clone().any(Data::has_errors_in_x));
        let (mut x, mut y, mut omitted, mut before) = (Vec::new(), Vec::new(), Vec::new(), 0);
        let (mut of_means, mut means_before) = (Vec::new(), 0);
        let has_means = sets.clone().any(Data::has_means);
        for (number, set) in sets.clone().enumerate() {
            for row in 0..set.y_rows {
                x.push(T::from_f64(number as f64));
                x.extend_from_slice(&set.x[row * set.width..(row + 1) * set.width]);
                x.resize(x.len().next_multiple_of(width), T::ZERO);
            }
            y.extend_from_slice(&set.y);
            omitted.extend(set.omitted.iter().map(|row| before + row));
            let own = |row| set.of_means.get(row).copied().unwrap_or(row);
            of_means.extend((0..set.y_rows).filter(|_| has_means).map(|row| means_before + own(row)));
            let rows = set.y_rows.checked_sub(1).map_or(0, |last| own(last) + 1);
            (means_before, before) = (means_before + rows, before + rows + set.omitted.len());
        }
        let first = sets.clone().next();
        let (rows, outputs) = (x.len() / width, first.map_or(1, |set| set.outputs));
        let ranks = first.map_or_else(Communicator::single, |set| set.ranks.clone());
        let response_names = first.map_or_else(Vec::new, |set| set.response_names.clone());
        let noise = Noise::joined(sets.map(|set| (&set.noise, set.y.len())))?;
        let (x, y, all_omitted) = (x.into(), y.into(), omitted.len());
        let (x_rows, y_rows, all_rows) = (rows, rows, rows);
        let data = Data { x, x_rows, width, predictors, y, y_rows, outputs, all_rows, ..Data::empty() };
        Ok(Data { response_names, noise, omitted, of_means, ranks, all_omitted, ..data })
    }

    /// Counts the rows of all ranks. One that has none learns from the others what rows are like. Collective.
    pub(super) fn counted(self) -> Result<Self, CurveError> {
        if !self.is_shared() {
            return Ok(self);
        }
        let own = [self.width, self.outputs, self.y_rows, self.omitted.len(), self.predictors];
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
        Ok(Data {
            width: like[0],
            outputs: like[1],
            all_rows: sum(2),
            all_omitted: sum(3),
            predictors: like[4],
            ..self
        })
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
        Ok([gather(&self.x, self.width)?, gather(&self.y, self.outputs)?])
    }

    /// Names the responses of a row.
    pub(super) fn with_response_names(self, response_names: Vec<String>) -> Self {
        Data { response_names, ..self }
    }
}
