//! Times of whole fits, and of one linearisation.
//!
//! ```text
//! cargo bench --bench fits
//! cargo bench --bench fits -- misra1a
//! cargo bench --bench fits -- formula
//! cargo bench --bench fits -- closures
//! cargo bench --bench fits -- long_data
//! ```

#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use divan::{Bencher, black_box};
use marquardt::problem::FixedAutoDiff;
use marquardt::{AutoDiff, CurveFit, EvaluationError, LeastSquares, LevenbergMarquardt, Model, Report, model};
use nalgebra::SVector;
use problems::{Analytic, Misra1aResiduals, Peaks};
use rand_distr::{Distribution, StandardNormal};
use workloads::{Difficulty, ExponentialAndTwoPeaks, Misra1a, OverlappingGaussians};

const SEED: u64 = 1;

fn main() {
    divan::main();
}

fn fit(problem: &mut impl LeastSquares<f64>, start: &[f64]) -> Report<f64> {
    LevenbergMarquardt::new().with_log(false).minimize(problem, black_box(start)).expect("the start is valid")
}

mod misra1a {
    use super::*;

    const START: [f64; 2] = Misra1a::STARTS[0];

    #[divan::bench]
    fn fixed_size_dual_numbers(bencher: Bencher) {
        let workload = Misra1a::new();
        let mut problem = FixedAutoDiff::<_, 2>(Misra1aResiduals(&workload));
        let solver = LevenbergMarquardt::new();
        bencher.bench_local(|| solver.minimize_fixed(&mut problem, black_box(SVector::from(START))));
    }

    #[divan::bench]
    fn dual_numbers(bencher: Bencher) {
        let workload = Misra1a::new();
        let mut problem = AutoDiff(Misra1aResiduals(&workload));
        bencher.bench_local(|| fit(&mut problem, &START));
    }

    #[divan::bench]
    fn by_hand(bencher: Bencher) {
        let workload = Misra1a::new();
        bencher.bench_local(|| fit(&mut Analytic(&workload), &START));
    }
}

/// 8 parameters, from short to long data.
#[divan::bench(args = [250, 2_000, 20_000])]
fn exponential_and_two_peaks(bencher: Bencher, points: usize) {
    let workload = ExponentialAndTwoPeaks::new(points, SEED);
    bencher.bench_local(|| fit(&mut Analytic(&workload), &ExponentialAndTwoPeaks::START));
}

/// Peaks of three parameters each, 20,000 points.
#[divan::bench(args = [3, 10, 20, 40], sample_count = 10)]
fn overlapping_gaussians(bencher: Bencher, peaks: usize) {
    let workload = OverlappingGaussians::new(peaks, 20_000, SEED);
    let start = workload.start(SEED, Difficulty::Easy);
    bencher.bench_local(|| fit(&mut Analytic(&workload), &start));
}

/// The same as a model that is differentiated automatically, with standard errors.
#[divan::bench(args = [3, 10, 20, 40], sample_count = 10)]
fn overlapping_gaussians_model(bencher: Bencher, peaks: usize) {
    let workload = OverlappingGaussians::new(peaks, 20_000, SEED);
    let start = workload.start(SEED, Difficulty::Easy);
    let samples = workload.samples();
    bencher.bench_local(|| CurveFit::model(Peaks(peaks), &samples.x, &samples.y, black_box(&start)).fit());
}

/// Many points of one curve, whose formula is known to the compiler or at run time only.
mod formula {
    use marquardt::Formula;

    use super::*;

    const POINTS: usize = 100_000;

    fn bench(bencher: Bencher, model: impl Model<f64> + Clone) {
        let x: Vec<f64> = (0..POINTS).map(|i| 10.0 * i as f64 / POINTS as f64).collect();
        let noise = |i: usize| 0.01 * (i as f64 * 0.7).sin();
        let y: Vec<f64> = x.iter().enumerate().map(|(i, x)| 3.0 * (-0.7 * x).exp() + 0.5 + noise(i)).collect();
        let start = [1.0, 1.0, 0.0];
        bencher.bench_local(|| CurveFit::model(model.clone(), &x, &y, black_box(&start)).fit());
    }

    #[divan::bench(sample_count = 20)]
    fn of_macro(bencher: Bencher) {
        bench(bencher, model!(|x; a, k, c| a * exp(-k * x) + c));
    }

    #[divan::bench(sample_count = 20)]
    fn of_text(bencher: Bencher) {
        bench(bencher, Formula::parse("a*exp(-k*x) + c").expect("a formula"));
    }
}

/// A sum of peaks as a closure, and as a model.
mod closures {
    use marquardt::Dual;

    use super::*;

    const POINTS: usize = 5_000;

    fn workload<const N: usize>() -> (OverlappingGaussians, [f64; N]) {
        let workload = OverlappingGaussians::new(N / 3, POINTS, SEED);
        let start = workload.start(SEED, Difficulty::Easy).try_into().expect("three parameters a peak");
        (workload, start)
    }

    #[divan::bench(consts = [3, 9, 60], sample_count = 10)]
    fn closure<const N: usize>(bencher: Bencher) {
        let (workload, start) = workload::<N>();
        let samples = workload.samples();
        let peaks = |x: f64, b: [Dual<f64, N>; N]| {
            let mut sum = Dual::constant(0.0);
            for peak in b.chunks_exact(3) {
                let away = (-peak[1] + x) / peak[2];
                sum += peak[0] * (away * away * -0.5).exp();
            }
            sum
        };
        bencher.bench_local(|| CurveFit::new(peaks, &samples.x, &samples.y, black_box(start)).fit());
    }

    #[divan::bench(consts = [3, 9, 60], sample_count = 10)]
    fn model<const N: usize>(bencher: Bencher) {
        let (workload, start) = workload::<N>();
        let samples = workload.samples();
        bencher.bench_local(|| CurveFit::model(Peaks(N / 3), &samples.x, &samples.y, black_box(&start)).fit());
    }
}

/// 20 peaks, 60 parameters, 100,000 points.
mod long_data {
    use marquardt::Covariance;

    use super::*;

    const POINTS: usize = 100_000;

    fn start_from(bencher: Bencher, difficulty: Difficulty) {
        let workload = OverlappingGaussians::new(20, POINTS, SEED);
        let start = workload.start(SEED, difficulty);
        bencher.bench_local(|| fit(&mut Analytic(&workload), &start));
    }

    #[divan::bench(sample_count = 3)]
    fn easy_start(bencher: Bencher) {
        start_from(bencher, Difficulty::Easy);
    }

    #[divan::bench(sample_count = 3)]
    fn hard_start(bencher: Bencher) {
        start_from(bencher, Difficulty::Hard);
    }

    #[divan::bench(sample_count = 5)]
    fn covariance(bencher: Bencher) {
        let workload = OverlappingGaussians::new(20, POINTS, SEED);
        bencher.bench_local(|| Covariance::at(&mut Analytic(&workload), black_box(workload.truth())));
    }

    /// A fit of a million points, which is not timed.
    #[divan::bench(sample_count = 10)]
    fn printing(bencher: Bencher) {
        let workload = OverlappingGaussians::new(1, 1_000_000, SEED);
        let start = workload.start(SEED, Difficulty::Easy);
        let samples = workload.samples();
        let fit = CurveFit::model(Peaks(1), &samples.x, &samples.y, &start).fit().expect("the start is valid");
        bencher.bench_local(|| black_box(&fit).to_string());
    }
}

/// What one linearisation takes where derivatives cost a copy, and what its `JᵀJ` alone takes as a full product.
mod linearisation {
    use super::*;

    const SHAPES: [(usize, usize); 6] =
        [(10_000, 8), (100_000, 8), (10_000, 32), (100_000, 32), (10_000, 101), (100_000, 101)];

    /// A Jacobian that is stored, and residuals likewise.
    struct Stored {
        n: usize,
        jacobian: Vec<f64>,
        residuals: Vec<f64>,
    }

    impl Stored {
        fn random(m: usize, n: usize) -> Self {
            let mut random = ChaCha8Rng::seed_from_u64(SEED);
            let mut draw = |count| (0..count).map(|_| StandardNormal.sample(&mut random)).collect();
            Self { n, jacobian: draw(m * n), residuals: draw(m) }
        }
    }

    impl LeastSquares<f64> for Stored {
        fn parameter_count(&self) -> usize {
            self.n
        }

        fn residual_count(&self) -> usize {
            self.residuals.len()
        }

        fn residuals(&mut self, _x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
            r.copy_from_slice(&self.residuals[first..first + r.len()]);
            Ok(())
        }

        fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
            j.copy_from_slice(&self.jacobian[first * self.n..][..j.len()]);
            self.residuals(x, first, r)
        }
    }

    #[divan::bench(args = SHAPES, sample_count = 20)]
    fn marquardt(bencher: Bencher, (m, n): (usize, usize)) {
        let mut problem = Stored::random(m, n);
        let start = vec![1.0; n];
        let solver = LevenbergMarquardt::new().with_max_iterations(0).with_polish(false).with_log(false);
        bencher.bench_local(|| solver.minimize(&mut problem, &start));
    }
}
