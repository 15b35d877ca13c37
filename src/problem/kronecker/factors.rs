//! The factors of all blocks: second moments, summed over samples.

use std::ops::Range;

use super::KroneckerBlock;
use super::form::{FactorForm, forms};
use super::sketch::{Sample, Sketch};
use crate::kernels::simd::{self, Kernel};
use crate::real::Real;

/// Input and output factors of all blocks, first as sums over samples, then as means.
#[derive(Debug, Clone)]
pub struct KroneckerFactors<T> {
    blocks: Vec<KroneckerBlock>,
    /// Input and output factor of each block.
    places: Vec<[FactorRange; 2]>,
    /// All factors; then the sum of the samples' weights and their number.
    numbers: Vec<T>,
    /// Number of samples of the batch.
    batch: usize,
    /// The samples at hand, and how often rows of theirs were added to sketches.
    samples: Vec<Sample>,
    uses: usize,
    /// Scratch for weighted rows, for ones, and for sums that are not needed.
    rows: Vec<T>,
    ones: Vec<T>,
    spare: Vec<T>,
}

/// Position of a factor among the entries.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FactorRange {
    range: Range<usize>,
    size: usize,
    form: FactorForm,
}

/// One factor of a block.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum KroneckerFactor<'a, T> {
    /// A symmetric matrix, row after row.
    Full(&'a [T]),
    /// A diagonal matrix.
    Diagonal(&'a [T]),
    /// The matrix `SᵀS` of a sketch `S`, row after row; the column of a bias comes after all others.
    Sketch(&'a [T]),
    /// The number one.
    One,
}

impl<T: Real> KroneckerFactors<T> {
    /// Zero factors of these blocks. A factor that costs much less as a sketch of `rank` rows than as a matrix is one.
    pub fn new(blocks: &[KroneckerBlock], rank: usize) -> Self {
        let mut end = 0;
        let mut place = |(size, form): (usize, FactorForm)| {
            let start = end;
            end += form.len(size);
            FactorRange { range: start..end, size, form }
        };
        let places = blocks.iter().map(|block| forms(block, rank).map(&mut place)).collect();
        KroneckerFactors {
            blocks: blocks.to_vec(),
            places,
            numbers: vec![T::ZERO; end + 2],
            batch: 0,
            samples: Vec::new(),
            uses: 0,
            rows: Vec::new(),
            ones: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// Samples of the batch that the factors are of; zero until they are [finished](Self::finish).
    pub(crate) fn batch(&self) -> usize {
        self.batch
    }

    /// The blocks.
    pub fn blocks(&self) -> &[KroneckerBlock] {
        &self.blocks
    }

    /// Input and output factor of a block.
    pub fn of(&self, block: usize) -> [KroneckerFactor<'_, T>; 2] {
        self.places[block].each_ref().map(|place| match (&self.numbers[place.range.clone()], place.form) {
            ([], _) => KroneckerFactor::One,
            (numbers, FactorForm::Full) => KroneckerFactor::Full(numbers),
            (numbers, FactorForm::Diagonal) => KroneckerFactor::Diagonal(numbers),
            (numbers, FactorForm::Sketch(rank)) => KroneckerFactor::Sketch(&numbers[..rank * place.size]),
        })
    }

    /// Entries of all factors.
    pub(crate) fn numbers(&self) -> &[T] {
        &self.numbers[..self.numbers.len() - 2]
    }

    /// Entries of a block's factors among all.
    pub(crate) fn range(&self, block: usize) -> Range<usize> {
        let [inputs, outputs] = &self.places[block];
        inputs.range.start..outputs.range.end
    }

    /// Entries of a block's input and output factor among all, with the size and the form.
    pub(crate) fn places(&self, block: usize) -> [(Range<usize>, usize, FactorForm); 2] {
        self.places[block].each_ref().map(|place| (place.range.clone(), place.size, place.form))
    }

    /// All sums, and the samples' weight and number, which ranks add up before [`finish`](Self::finish).
    pub(crate) fn sums_mut(&mut self) -> &mut [T] {
        &mut self.numbers
    }

    /// Starts new sums.
    pub fn begin(&mut self) {
        self.numbers.fill(T::ZERO);
    }

    /// Counts samples with these roots of their weights, whose rows come next. Each is given by its place in the batch and by random bits,
    /// the same on all ranks, from which the signs in sketches are taken.
    pub fn add_samples(&mut self, samples: impl IntoIterator<Item = (usize, u64)>, root_weights: &[T]) {
        self.samples.clear();
        self.samples.extend(samples.into_iter().map(|(place, bits)| Sample { place, bits }));
        self.uses = 0;
        let end = self.numbers.len();
        self.numbers[end - 2] += root_weights.iter().map(|&root| root * root).sum::<T>();
        self.numbers[end - 1] += T::from_f64(root_weights.len() as f64);
    }

    /// Adds inputs of a [dense](KroneckerBlock::Dense) block: rows for each sample and position.
    ///
    /// # Panics
    ///
    /// For a block of another kind.
    pub fn add_inputs(&mut self, block: usize, x: &[T], root_weights: &[T]) {
        let KroneckerBlock::Dense { inputs, .. } = self.blocks[block] else {
            panic!("block {block} has no inputs of a dense layer");
        };
        let KroneckerFactors { places, numbers, rows, ones, spare, samples, uses, .. } = self;
        let place = &places[block][0];
        let sums = &mut numbers[place.range.clone()];
        if let FactorForm::Sketch(rank) = place.form {
            *uses += 1;
            return Sketch { numbers: sums, rank, columns: inputs }
                .add(x, (samples, *uses), |sample| root_weights[sample]);
        }
        let count = x.len() / inputs;
        let is_weighted = root_weights.iter().any(|&root| root != T::ONE);
        let ones = at_least(ones, count, T::ONE);
        let (x, roots) = if is_weighted {
            let positions = count / root_weights.len();
            rows.clear();
            for (x, &root) in x.chunks_exact(positions * inputs).zip(root_weights) {
                rows.extend(x.iter().map(|&x| x * root));
            }
            let end = rows.len();
            rows.extend(root_weights.iter().flat_map(|&root| std::iter::repeat_n(root, positions)));
            let (rows, roots) = rows.split_at(end);
            (rows, roots)
        } else {
            (x, &*ones)
        };
        if place.form == FactorForm::Full {
            // The sums of the inputs themselves, which the bias goes with, come after the matrix until the end.
            let (gram, rest) = sums.split_at_mut(inputs * inputs);
            if place.size > inputs {
                T::add_products(gram, &mut rest[..inputs], x, roots);
            } else {
                T::add_products(gram, at_least(spare, inputs, T::ZERO), x, roots);
            }
        } else {
            simd::run(SquareSums { sums: &mut sums[..inputs], rows: x });
        }
    }

    /// Adds the rows that samples have looked up, by their entries.
    pub fn add_look_ups(&mut self, block: usize, rows: impl Iterator<Item = usize>, root_weights: &[T]) {
        let positions = self.blocks[block].positions();
        let sums = &mut self.numbers[self.places[block][0].range.clone()];
        let weights = root_weights.iter().flat_map(|&root| std::iter::repeat_n(root * root, positions));
        rows.zip(weights).for_each(|(row, weight)| sums[row] += weight);
    }

    /// Adds output sensitivities, which contain the roots of the weights: rows for each sample and position.
    pub fn add_sensitivities(&mut self, block: usize, delta: &[T]) {
        let place = &self.places[block][1];
        let (size, sums) = (place.size, &mut self.numbers[place.range.clone()]);
        match place.form {
            FactorForm::Full => {
                let count = delta.len() / size;
                let ones = at_least(&mut self.ones, count, T::ONE);
                T::add_products(sums, at_least(&mut self.spare, size, T::ZERO), delta, ones);
            }
            FactorForm::Diagonal => simd::run(SquareSums { sums, rows: delta }),
            FactorForm::Sketch(rank) => {
                self.uses += 1;
                Sketch { numbers: sums, rank, columns: size }.add(delta, (&self.samples, self.uses), |_| T::ONE);
            }
        }
    }

    /// Adds gradients of each of `samples` by the parameters of a [diagonal](KroneckerBlock::Diagonal) block, which are sums
    /// over as many rows as there are positions.
    pub fn add_gradients(&mut self, block: usize, delta: &[T], samples: usize) {
        let size = self.blocks[block].output_size();
        if delta.len() == samples * size {
            return self.add_sensitivities(block, delta);
        }
        let positions = delta.len() / (samples * size).max(1);
        let mut rows = std::mem::take(&mut self.rows);
        for delta in delta.chunks_exact((positions * size).max(1)) {
            rows.clear();
            rows.resize(size, T::ZERO);
            for delta in delta.chunks_exact(size) {
                rows.iter_mut().zip(delta).for_each(|(sum, &delta)| *sum += delta);
            }
            self.add_sensitivities(block, &rows);
        }
        self.rows = rows;
    }

    /// Turns sums into factors: weighted means over the samples for inputs, and for sensitivities the sums extrapolated to a batch of
    /// `rows` samples. Both triangles are filled.
    pub fn finish(&mut self, rows: usize) {
        self.batch = rows;
        let KroneckerFactors { blocks, places, numbers, .. } = self;
        let end = numbers.len() - 2;
        let (numbers, counts) = numbers.split_at_mut(end);
        let (weight, samples) = (counts[0], counts[1]);
        let inverse = |number: T| if number > T::ZERO { number.recip() } else { T::ZERO };
        let rows = T::from_f64(rows as f64) * inverse(samples);
        for (block, [inputs, outputs]) in blocks.iter().zip(places) {
            let positions = T::from_f64(block.positions() as f64);
            let sums = &mut numbers[inputs.range.clone()];
            if let KroneckerBlock::Dense { bias: Some(_), inputs: n, .. } = *block
                && inputs.form == FactorForm::Full
            {
                append_column(sums, n);
            }
            inputs.scale(sums, inverse(weight));
            if let KroneckerBlock::Dense { bias: Some(_), .. } = block
                && !matches!(inputs.form, FactorForm::Sketch(_))
                && let Some(last) = sums.last_mut()
            {
                *last = positions;
            }
            fill_upper(sums, inputs);
            let sums = &mut numbers[outputs.range.clone()];
            outputs.scale(sums, rows / positions);
            fill_upper(sums, outputs);
        }
    }
}

impl FactorRange {
    /// Multiplies the factor.
    fn scale<T: Real>(&self, numbers: &mut [T], factor: T) {
        let factor = if let FactorForm::Sketch(_) = self.form { factor.sqrt() } else { factor };
        numbers.iter_mut().for_each(|number| *number *= factor);
    }
}

/// Copies the lower triangle of a full factor to the upper.
fn fill_upper<T: Real>(matrix: &mut [T], place: &FactorRange) {
    let n = place.size;
    for i in 1..if place.form == FactorForm::Full { n } else { 0 } {
        let (above, row) = matrix.split_at_mut(i * n);
        for (above, &entry) in above.chunks_exact_mut(n).zip(&row[..i]) {
            above[i] = entry;
        }
    }
}

/// Extends a matrix of `n` rows, followed by the new last row, to `n + 1` rows.
fn append_column<T: Real>(numbers: &mut [T], n: usize) {
    numbers.copy_within(n * n..n * n + n, n * n + n);
    for row in (0..n).rev() {
        numbers.copy_within(row * n..row * n + n, row * (n + 1));
    }
}

/// The first `count` entries of the memory, which is extended by `value` where it is shorter.
fn at_least<T: Real>(memory: &mut Vec<T>, count: usize, value: T) -> &mut [T] {
    if memory.len() < count {
        memory.resize(count, value);
    }
    &mut memory[..count]
}

/// `sums += Σ row²`.
struct SquareSums<'a, T> {
    sums: &'a mut [T],
    rows: &'a [T],
}

impl<T: Real> Kernel for SquareSums<'_, T> {
    #[inline(always)]
    fn run<const TALL: usize, const FUSED: bool>(self) {
        for row in self.rows.chunks_exact(self.sums.len()) {
            for (sum, &number) in self.sums.iter_mut().zip(row) {
                *sum += number * number;
            }
        }
    }
}
