//! Two peaks on a decaying baseline: the shape of NIST's Gauss1, with as many points as wanted.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use rand_distr::{Distribution, Normal};

use super::samples::evenly_spaced;
use super::{Samples, Workload};

/// `y = b₁·exp(−b₂·x) + b₃·exp(−((x − b₄)/b₅)²) + b₆·exp(−((x − b₇)/b₈)²)` plus normal noise, for `x` from 1 to 250.
#[derive(Clone, Debug)]
pub struct ExponentialAndTwoPeaks {
    samples: Samples,
}

impl ExponentialAndTwoPeaks {
    /// Number of parameters.
    pub const PARAMETERS: usize = 8;

    /// The parameters behind the data, close to Gauss1's certified ones.
    pub const TRUTH: [f64; 8] = [98.8, 0.0105, 100.5, 67.5, 23.1, 71.99, 178.99, 18.39];

    /// The first of Gauss1's starting points.
    pub const START: [f64; 8] = [97.0, 0.009, 100.0, 65.0, 20.0, 70.0, 178.0, 16.5];

    /// The certified least-squares parameters of Gauss1.
    pub const CERTIFIED: [f64; 8] = [
        9.877_821_087_1e1,
        1.049_727_651_7e-2,
        1.004_899_063_3e2,
        6.748_111_127_6e1,
        2.312_977_336_0e1,
        7.199_450_300_4e1,
        1.789_980_502_1e2,
        1.838_938_902_5e1,
    ];

    /// Standard deviation of the noise, Gauss1's.
    pub const NOISE: f64 = 2.5;

    /// `points` observations with the noise that `seed` gives.
    pub fn new(points: usize, seed: u64) -> Self {
        let noise = Normal::new(0.0, Self::NOISE).expect("a positive standard deviation");
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let observe = |&x: &f64| Self::model(&Self::TRUTH, x).0 + noise.sample(&mut random);
        Self { samples: Samples::of(evenly_spaced(1.0, 250.0, points), observe) }
    }

    /// NIST's Gauss1: 250 published observations.
    pub fn gauss1() -> Self {
        let file = include_str!("../../tests/nist/Gauss1.dat");
        let (mut x, mut y) = (Vec::new(), Vec::new());
        for line in file.lines().skip_while(|line| !line.starts_with("Data:   y")).skip(1) {
            let numbers: Vec<f64> = line.split_whitespace().map_while(|word| word.parse().ok()).collect();
            let &[observed, place] = &numbers[..] else { continue };
            y.push(observed);
            x.push(place);
        }
        assert_eq!(x.len(), 250, "the file has changed");
        Self { samples: Samples { x, y } }
    }

    /// The observations.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The model at `x` and its gradient, from three exponentials.
    #[inline]
    pub fn model(b: &[f64; 8], x: f64) -> (f64, [f64; 8]) {
        let decay = (-b[1] * x).exp();
        let (first, [d3, d4, d5]) = peak(b[2], b[3], b[4], x);
        let (second, [d6, d7, d8]) = peak(b[5], b[6], b[7], x);
        (b[0] * decay + first + second, [decay, -b[0] * x * decay, d3, d4, d5, d6, d7, d8])
    }
}

impl Workload for ExponentialAndTwoPeaks {
    fn parameter_count(&self) -> usize {
        Self::PARAMETERS
    }

    fn residual_count(&self) -> usize {
        self.samples.len()
    }

    fn residuals(&self, p: &[f64], first: usize, r: &mut [f64]) {
        let b = parameters(p);
        self.samples.residuals(first, r, |x| Self::model(b, x));
    }

    fn linearize(&self, p: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) {
        let b = parameters(p);
        self.samples.rows(first, r, j, |x| Self::model(b, x));
    }

    fn linearize_columns(&self, p: &[f64], r: &mut [f64], columns: &mut [&mut [f64]]) {
        let b = parameters(p);
        self.samples.columns(r, columns, |x| Self::model(b, x));
    }
}

/// `height·exp(−((x − centre)/width)²)` and its derivatives by height, centre and width.
#[inline]
fn peak(height: f64, centre: f64, width: f64, x: f64) -> (f64, [f64; 3]) {
    let inverse = 1.0 / width;
    let u = (x - centre) * inverse;
    let shape = (-u * u).exp();
    let slope = 2.0 * height * shape * u * inverse;
    (height * shape, [shape, slope, slope * u])
}

fn parameters(p: &[f64]) -> &[f64; ExponentialAndTwoPeaks::PARAMETERS] {
    p.try_into().expect("the model has eight parameters")
}
