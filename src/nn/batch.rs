//! The data that a network is evaluated on, checked and copied.

use std::ops::Range;

use ndarray::ArrayView2;

use super::error::{BatchArray, BatchError};
use super::losses::Targets;
use crate::real::Real;

/// Shapes that the arrays of a batch must have.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schema {
    pub(crate) inputs: Vec<InputRule>,
    pub(crate) targets: Vec<TargetRule>,
    /// True if a rank may have no rows, as other ranks have some.
    pub(crate) may_be_empty: bool,
}

/// Shape of an input.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputRule {
    pub(crate) width: usize,
    /// Row numbers of a table with this number of rows.
    pub(crate) table_rows: Option<usize>,
    /// Index of a sample's set, among this number of sets.
    pub(crate) sets: Option<usize>,
}

/// Shape of a target.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TargetRule {
    pub(crate) width: usize,
    pub(crate) values: TargetValues,
}

impl TargetRule {
    /// The rule for targets of outputs of this width; `None` where there are none.
    pub(crate) fn of(targets: Targets, width: usize) -> Option<Self> {
        let (width, values) = match targets {
            Targets::None => return None,
            Targets::Values => (width, TargetValues::Any),
            Targets::Probabilities => (width, TargetValues::Probabilities),
            Targets::NonNegative => (width, TargetValues::NonNegative),
            Targets::Labels => (1, TargetValues::Classes(width)),
        };
        Some(TargetRule { width, values })
    }
}

/// Values that a target may have.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TargetValues {
    /// Any finite values.
    Any,
    /// Values from 0 to 1.
    Probabilities,
    /// Values that are not negative.
    NonNegative,
    /// Class numbers, of this number of classes.
    Classes(usize),
}

/// Some rows of a data set.
#[derive(Debug, Clone)]
pub(crate) enum Selection<'a> {
    Range(Range<usize>),
    Rows(&'a [usize]),
}

impl Selection<'_> {
    pub(crate) fn len(&self) -> usize {
        match self {
            Selection::Range(range) => range.len(),
            Selection::Rows(rows) => rows.len(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges().flatten()
    }

    /// The rows, in ranges.
    fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let (range, rows): (Option<&Range<usize>>, &[usize]) = match self {
            Selection::Range(range) => (Some(range), &[]),
            Selection::Rows(rows) => (None, rows),
        };
        range.cloned().into_iter().chain(rows.iter().map(|&row| row..row + 1))
    }

    /// The rows of an array, in slices; `None` where it is not contiguous.
    fn slices<'a, T>(&'a self, array: &'a ArrayView2<'_, T>) -> Option<impl Iterator<Item = &'a [T]>> {
        let (entries, width) = (array.as_slice()?, array.ncols());
        Some(self.ranges().map(move |range| &entries[range.start * width..range.end * width]))
    }
}

impl Schema {
    /// Checks inputs, and how many rows they have.
    pub(crate) fn check_inputs<T: Real>(
        &self,
        inputs: &[ArrayView2<'_, T>],
        selection: &Selection<'_>,
        rows: usize,
    ) -> Result<(), BatchError> {
        if inputs.len() != self.inputs.len() {
            return Err(BatchError::InputCount { expected: self.inputs.len(), found: inputs.len() });
        }
        if selection.len() == 0 && !self.may_be_empty {
            return Err(BatchError::Empty);
        }
        if let Some(row) = selection.iter().find(|&row| row >= rows) {
            return Err(BatchError::RowOutOfRange { row, rows });
        }
        for (index, (input, rule)) in inputs.iter().zip(&self.inputs).enumerate() {
            let array = BatchArray::Input(index);
            check(array, input, rule.width, rows, selection)?;
            if let Some(rows) = rule.table_rows
                && let Some((row, _, value)) = find(input, selection, |value| !is_row_number(value, rows))
            {
                return Err(BatchError::EmbeddingRow { array, row, value, rows });
            }
            if let Some(sets) = rule.sets
                && let Some((row, _, value)) = find(input, selection, |value| !is_row_number(value, sets))
            {
                return Err(BatchError::SampleSet { array, row, value, sets });
            }
        }
        Ok(())
    }

    /// Checks targets.
    pub(crate) fn check_targets<T: Real>(
        &self,
        targets: &[ArrayView2<'_, T>],
        selection: &Selection<'_>,
        rows: usize,
    ) -> Result<(), BatchError> {
        if targets.len() != self.targets.len() {
            return Err(BatchError::TargetCount { expected: self.targets.len(), found: targets.len() });
        }
        for (index, (target, rule)) in targets.iter().zip(&self.targets).enumerate() {
            let array = BatchArray::Target(index);
            check(array, target, rule.width, rows, selection)?;
            let fault = match rule.values {
                TargetValues::Any => None,
                TargetValues::Probabilities => find(target, selection, |value| !(value >= T::ZERO && value <= T::ONE))
                    .map(|(row, column, value)| BatchError::Probability { array, row, column, value }),
                TargetValues::NonNegative => find(target, selection, |value| !(value >= T::ZERO))
                    .map(|(row, column, value)| BatchError::Negative { array, row, column, value }),
                TargetValues::Classes(classes) => find(target, selection, |value| !is_row_number(value, classes))
                    .map(|(row, _, value)| BatchError::Label { array, row, value, classes }),
            };
            if let Some(fault) = fault {
                return Err(fault);
            }
        }
        Ok(())
    }
}

/// Checks the shape of an array, and that the selected rows are finite.
fn check<T: Real>(
    array: BatchArray,
    values: &ArrayView2<'_, T>,
    width: usize,
    rows: usize,
    selection: &Selection<'_>,
) -> Result<(), BatchError> {
    if values.ncols() != width {
        return Err(BatchError::Width { array, expected: width, found: values.ncols() });
    }
    if values.nrows() != rows {
        return Err(BatchError::Rows { array, expected: rows, found: values.nrows() });
    }
    match find(values, selection, |value| !value.is_finite()) {
        Some((row, column, value)) => Err(BatchError::NonFinite { array, row, column, value }),
        None => Ok(()),
    }
}

/// Checks that there is a weight for each row, and the selected ones.
pub(crate) fn check_weights<T: Real>(weights: &[T], selection: &Selection<'_>, rows: usize) -> Result<(), BatchError> {
    if weights.len() != rows {
        return Err(BatchError::SampleWeightCount { expected: rows, found: weights.len() });
    }
    let at_fault = |&row: &usize| !(weights[row] >= T::ZERO && weights[row].is_finite());
    match selection.iter().find(at_fault) {
        Some(row) => Err(BatchError::SampleWeight { row, value: weights[row].to_f64() }),
        None => Ok(()),
    }
}

/// Finds the first selected entry that is not allowed: its row, its column and its value.
fn find<T: Real>(
    values: &ArrayView2<'_, T>,
    selection: &Selection<'_>,
    at_fault: impl Fn(T) -> bool,
) -> Option<(usize, usize, f64)> {
    // Without an early exit, the loop runs in vector instructions.
    let any = |numbers: &[T]| numbers.iter().fold(false, |any, &number| any | at_fault(number));
    if selection.slices(values).is_some_and(|mut slices| !slices.any(any)) {
        return None;
    }
    let mut places = selection.iter().flat_map(|row| (0..values.ncols()).map(move |column| (row, column)));
    let (row, column) = places.find(|&place| at_fault(values[place]))?;
    Some((row, column, values[(row, column)].to_f64()))
}

/// Returns true if the value is one of `0`, `1`, …, `count − 1`.
fn is_row_number<T: Real>(value: T, count: usize) -> bool {
    let value = value.to_f64();
    value >= 0.0 && value < count as f64 && value.fract() == 0.0
}

/// Arrays of a data set, and a weight for each sample.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SampleArrays<'a, T> {
    pub(crate) inputs: &'a [ArrayView2<'a, T>],
    pub(crate) targets: &'a [ArrayView2<'a, T>],
    pub(crate) weights: Option<&'a [T]>,
}

impl<T> SampleArrays<'_, T> {
    /// Returns the number of rows of the arrays. Without arrays there is one row, since all samples have the same outputs.
    pub(crate) fn rows(&self) -> usize {
        self.inputs.first().or(self.targets.first()).map_or(1, |array| array.nrows())
    }
}

/// Place of this rank's rows among those of all ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Share {
    /// Rows of the ranks before this one.
    pub(crate) before: usize,
    /// Rows of all ranks.
    pub(crate) total: usize,
}

/// A batch, bound to a network: copies of the arrays, in memory that is used again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Batch<T> {
    rows: usize,
    /// Divisor of means: the rows of the whole data set, or of the batch of all ranks.
    pub(crate) mean_over: usize,
    /// Rows of the ranks before this one.
    before: usize,
    /// Indices of the rows in the batch of all ranks; empty if the ranks' rows follow each other.
    places: Vec<usize>,
    inputs: Vec<Vec<T>>,
    targets: Vec<Vec<T>>,
    /// A weight for each sample, and its square root.
    weights: Vec<T>,
    root_weights: Vec<T>,
    /// End of the range of rows of each set of samples.
    set_ends: Vec<usize>,
}

impl<T: Real> Batch<T> {
    /// Copies the selected rows of checked arrays, with their weights.
    pub(crate) fn fill(&mut self, samples: SampleArrays<'_, T>, selection: &Selection<'_>) {
        self.rows = selection.len();
        self.mean_over = self.rows;
        self.before = 0;
        self.places.clear();
        self.divide(&[self.rows]);
        fill(&mut self.inputs, samples.inputs, selection);
        fill(&mut self.targets, samples.targets, selection);
        self.weights.clear();
        self.root_weights.clear();
        match samples.weights {
            Some(weights) => {
                self.weights.extend(selection.iter().map(|row| weights[row]));
                self.root_weights.extend(self.weights.iter().map(|weight| weight.sqrt()));
            }
            None => {
                self.weights.resize(self.rows, T::ONE);
                self.root_weights.resize(self.rows, T::ONE);
            }
        }
    }

    /// Makes the rows a part of the batch of all ranks.
    pub(crate) fn share(&mut self, share: Share, places: Option<&[usize]>) {
        (self.before, self.mean_over) = (share.before, share.total);
        self.places.clear();
        self.places.extend_from_slice(places.unwrap_or_default());
    }

    /// Divides the rows into sets of these sizes, one after the other.
    pub(crate) fn divide(&mut self, sizes: &[usize]) {
        self.set_ends.clear();
        let mut end = 0;
        self.set_ends.extend(sizes.iter().map(|size| {
            end += size;
            end
        }));
    }

    /// The rows of each set of samples.
    pub(crate) fn sets(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.set_ends.iter().copied());
        starts.zip(&self.set_ends).map(|(start, &end)| start..end)
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    /// Range of the rows among those of all ranks, in the order of the ranks.
    pub(crate) fn among_all(&self) -> Range<usize> {
        self.before..self.before + self.rows
    }

    /// The places of rows in the batch of all ranks.
    pub(crate) fn places(&self, rows: &Range<usize>) -> impl Iterator<Item = usize> {
        rows.clone().map(|row| self.places.get(row).copied().unwrap_or(self.before + row))
    }

    /// Rows of an input.
    pub(crate) fn input(&self, index: usize, rows: &Range<usize>, width: usize) -> &[T] {
        &self.inputs[index][rows.start * width..rows.end * width]
    }

    /// Rows of a target.
    pub(crate) fn target(&self, index: usize, rows: &Range<usize>, width: usize) -> &[T] {
        &self.targets[index][rows.start * width..rows.end * width]
    }

    /// Rows of the only target, whatever its width.
    pub(crate) fn only_target(&self, rows: &Range<usize>) -> &[T] {
        let width = self.targets[0].len() / self.rows;
        self.target(0, rows, width)
    }

    /// Sample weights.
    pub(crate) fn weights(&self, rows: &Range<usize>) -> &[T] {
        &self.weights[rows.clone()]
    }

    /// Square roots of sample weights.
    pub(crate) fn root_weights(&self, rows: &Range<usize>) -> &[T] {
        &self.root_weights[rows.clone()]
    }
}

/// Copies the selected rows of arrays.
fn fill<T: Real>(buffers: &mut Vec<Vec<T>>, arrays: &[ArrayView2<'_, T>], selection: &Selection<'_>) {
    buffers.resize_with(arrays.len().max(buffers.len()), Vec::new);
    for (buffer, array) in buffers.iter_mut().zip(arrays) {
        buffer.clear();
        buffer.reserve(selection.len() * array.ncols());
        match selection.slices(array) {
            Some(slices) => slices.for_each(|slice| buffer.extend_from_slice(slice)),
            None => selection.iter().for_each(|row| buffer.extend(array.row(row))),
        }
    }
}
