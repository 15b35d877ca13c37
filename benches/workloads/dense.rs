//! A Jacobian without structure that costs next to nothing to evaluate: the linear algebra of a fit is all of its work.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Normal, StandardNormal};

use super::Workload;

/// `y = u + u²/10` plus normal noise, where `u = Aᵢp` for row `i` of a stored matrix of normal numbers.
#[derive(Clone, Debug)]
pub struct Dense {
    parameters: usize,
    /// Row after row.
    matrix: Vec<f64>,
    y: Vec<f64>,
}

impl Dense {
    /// Standard deviation of the noise; `u` has that of one.
    pub const NOISE: f64 = 0.01;

    /// So many rows and parameters; `seed` draws the matrix and the noise. All parameters behind the data are `1/√parameters`.
    pub fn new(rows: usize, parameters: usize, seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let matrix: Vec<f64> = (0..rows * parameters).map(|_| StandardNormal.sample(&mut random)).collect();
        let noise = Normal::new(0.0, Self::NOISE).expect("a positive standard deviation");
        let truth = vec![(parameters as f64).sqrt().recip(); parameters];
        let observe = |row: &[f64]| bent(dot(row, &truth)).0 + noise.sample(&mut random);
        let y = matrix.chunks_exact(parameters).map(observe).collect();
        Self { parameters, matrix, y }
    }

    /// A start at half of the truth.
    pub fn start(&self) -> Vec<f64> {
        vec![0.5 / (self.parameters as f64).sqrt(); self.parameters]
    }

    /// Rows of the matrix and their observations, from the one numbered `first`.
    fn rows(&self, first: usize) -> impl Iterator<Item = (&[f64], f64)> {
        self.matrix.chunks_exact(self.parameters).zip(self.y.iter().copied()).skip(first)
    }
}

impl Workload for Dense {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    fn residual_count(&self) -> usize {
        self.y.len()
    }

    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]) {
        for (r, (row, y)) in r.iter_mut().zip(self.rows(first)) {
            *r = bent(dot(row, p)).0 - y;
        }
    }

    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) {
        for ((r, to), (row, y)) in r.iter_mut().zip(j.chunks_exact_mut(self.parameters)).zip(self.rows(first)) {
            let (value, slope) = bent(dot(row, p));
            *r = value - y;
            to.iter_mut().zip(row).for_each(|(to, a)| *to = slope * a);
        }
    }

    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]) {
        for (i, (r, (row, y))) in r.iter_mut().zip(self.rows(0)).enumerate() {
            let (value, slope) = bent(dot(row, p));
            *r = value - y;
            columns.iter_mut().zip(row).for_each(|(column, a)| column[i] = slope * a);
        }
    }
}

/// `u + u²/10` and its derivative.
fn bent(u: f64) -> (f64, f64) {
    (u + 0.1 * u * u, 1.0 + 0.2 * u)
}

/// A sum of four parts, which the compiler keeps side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let (a_blocks, a_rest) = a.as_chunks::<4>();
    let (b_blocks, b_rest) = b.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (a, b) in a_blocks.iter().zip(b_blocks) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    a_rest.iter().zip(b_rest).fold(sums.iter().sum(), |sum, (a, b)| sum + a * b)
}
