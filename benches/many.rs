//! Times of 10,000 small fits: in lockstep, in either precision, on one and two threads, by a formula that is known at run time, and one after the other by the
//! scalar path of fixed size. Times of 1,000 fits of 6 to 20 parameters on one thread: up to 16 are fitted in lockstep.
//!
//! ```text
//! cargo bench --bench many
//! cargo bench --bench many -- peaks
//! cargo bench --bench many -- counts
//! cargo bench --bench many -- sizes
//! ```

#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use marquardt::curve::ManyFits;
use marquardt::number::Number;
use marquardt::problem::FixedAutoDiff;
use marquardt::{FitMany, LevenbergMarquardt, Model, Real, ScalarOf};
use nalgebra::SVector;
use ndarray::{Array1, Array2};
use problems::{CurveResiduals, Formula};
use rand_distr::{Distribution, Uniform};
use workloads::{Decays, GaussianPeaks, ManyCurves};

const FITS: usize = 10_000;
const POINTS: usize = 64;
const SEED: u64 = 1;

fn main() {
    divan::main();
}

/// The data of many fits, in one precision.
struct Data<T> {
    x: Array1<T>,
    y: Array2<T>,
    start: Array2<T>,
}

impl<T: Real> Data<T> {
    fn of<F: Formula>() -> Self {
        let curves = ManyCurves::<F>::new(FITS, POINTS, SEED);
        let rows = |values: &[f64]| {
            let values: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
            Array2::from_shape_vec((FITS, values.len() / FITS), values).expect("rows of one length")
        };
        let x = curves.x.iter().map(|&x| T::from_f64(x)).collect();
        Data { x, y: rows(&curves.y), start: rows(&curves.start) }
    }

    fn fit(&self, model: impl Model<T>) -> ManyFits<T> {
        FitMany::new(model, &self.x, black_box(&self.y)).start(&self.start).fit().expect("the shapes are right")
    }
}

/// Fits in lockstep, on so many threads.
fn in_lockstep<T: Real, F: Formula>(bencher: Bencher, model: impl Model<T> + Clone, threads: usize) {
    let data = Data::<T>::of::<F>();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("the system gives threads");
    bencher.bench_local(|| pool.install(|| data.fit(model.clone())));
}

/// Fits one after the other.
fn one_by_one<F: Formula>(bencher: Bencher) {
    let (curves, formula) = (ManyCurves::<F>::new(FITS, POINTS, SEED), F::formula());
    let solver = LevenbergMarquardt::new();
    bencher.bench_local(|| {
        for curve in curves.each() {
            let mut problem = FixedAutoDiff::<_, 4>(CurveResiduals(&formula, curve.samples));
            black_box(solver.minimize_fixed(&mut problem, black_box(SVector::from(*curve.start))))
                .expect("a good start");
        }
    });
}

mod peaks {
    use super::*;

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn lockstep_f64(bencher: Bencher, threads: usize) {
        in_lockstep::<f64, GaussianPeaks>(bencher, GaussianPeaks::formula(), threads);
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn lockstep_f32(bencher: Bencher, threads: usize) {
        in_lockstep::<f32, GaussianPeaks>(bencher, GaussianPeaks::formula(), threads);
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn text_f64(bencher: Bencher, threads: usize) {
        let text = "amplitude*exp(-0.5*((x - center)/width)^2) + offset";
        in_lockstep::<f64, GaussianPeaks>(bencher, marquardt::Formula::parse(text).expect("a formula"), threads);
    }

    #[divan::bench(sample_count = 10)]
    fn scalar(bencher: Bencher) {
        one_by_one::<GaussianPeaks>(bencher);
    }
}

mod decays {
    use super::*;

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn lockstep_f64(bencher: Bencher, threads: usize) {
        in_lockstep::<f64, Decays>(bencher, Decays::formula(), threads);
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn lockstep_f32(bencher: Bencher, threads: usize) {
        in_lockstep::<f32, Decays>(bencher, Decays::formula(), threads);
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn text_f64(bencher: Bencher, threads: usize) {
        let text = "amplitude*exp(-x/lifetime) + background + slope*x";
        in_lockstep::<f64, Decays>(bencher, marquardt::Formula::parse(text).expect("a formula"), threads);
    }

    #[divan::bench(sample_count = 10)]
    fn scalar(bencher: Bencher) {
        one_by_one::<Decays>(bencher);
    }
}

/// Decays of counts on a background: by least squares, and by the Poisson likelihood.
mod counts {
    use marquardt::model;
    use rand_distr::Poisson;

    use super::*;

    fn data() -> Data<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let x = Array1::linspace(0.0, 9.6, POINTS);
        let (mut y, mut start) = (Array2::zeros((FITS, POINTS)), Array2::zeros((FITS, 3)));
        for (mut y, mut start) in y.rows_mut().into_iter().zip(start.rows_mut()) {
            let mut uniform = |low: f64, high: f64| Uniform::new(low, high).expect("a range").sample(&mut random);
            let truth = [uniform(30.0, 300.0), uniform(0.3, 1.5), uniform(0.5, 5.0)];
            start.assign(&Array1::from_iter(truth.map(|truth| truth * uniform(0.6, 1.5))));
            for (y, x) in y.iter_mut().zip(&x) {
                let mean = truth[0] * (-truth[1] * x).exp() + truth[2];
                *y = Poisson::new(mean).expect("a positive mean").sample(&mut random);
            }
        }
        Data { x, y, start }
    }

    fn fits(bencher: Bencher, of_counts: bool) {
        let data = data();
        let decay = model!(|x; height, rate, dark| height * exp(-rate * x) + dark);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("the system gives threads");
        bencher.bench_local(|| {
            pool.install(|| {
                let fits = FitMany::new(decay, &data.x, black_box(&data.y)).start(&data.start);
                let fits = if of_counts { fits.counts() } else { fits };
                fits.fit().expect("the shapes are right")
            })
        });
    }

    #[divan::bench(sample_count = 20)]
    fn least_squares(bencher: Bencher) {
        fits(bencher, false);
    }

    #[divan::bench(sample_count = 20)]
    fn likelihood(bencher: Bencher) {
        fits(bencher, true);
    }
}

/// Gaussian peaks side by side, of three parameters each, on a polynomial that takes up the parameters left over.
mod sizes {
    use super::*;

    const FITS: usize = 1_000;

    /// Distance of one peak from the next; widths are 0.5 to 1.
    const SPACING: f64 = 4.0;

    #[derive(Clone, Copy)]
    struct Peaks<const N: usize>;

    impl<const N: usize> Model<f64> for Peaks<N> {
        fn parameter_count(&self) -> usize {
            N
        }

        #[inline(always)]
        fn response<S: ScalarOf<f64>>(&self, x: &[S::Real], b: &[S]) -> S {
            let mut sum = S::constant(S::Real::from_f64(0.0));
            for &coefficient in &b[N - N % 3..N] {
                sum = sum * x[0] + coefficient;
            }
            for k in 0..N / 3 {
                let u = (-b[3 * k + 1] + x[0]) / b[3 * k + 2];
                sum += b[3 * k] * (u * u * -0.5).exp();
            }
            sum
        }
    }

    fn data<const N: usize>() -> Data<f64> {
        let mut random = ChaCha8Rng::seed_from_u64(SEED);
        let mut uniform = |low: f64, high: f64| Uniform::new(low, high).expect("a range").sample(&mut random);
        let points = POINTS.max(16 * N / 3);
        let width = SPACING * (N / 3) as f64;
        let x = Array1::linspace(-0.5 * SPACING, width - 0.5 * SPACING, points);
        let (mut y, mut start) = (Array2::zeros((FITS, points)), Array2::zeros((FITS, N)));
        for (mut y, mut start) in y.rows_mut().into_iter().zip(start.rows_mut()) {
            let mut truth = [0.0; N];
            for k in 0..N / 3 {
                let center = SPACING * k as f64 + uniform(-0.5, 0.5);
                truth[3 * k..3 * k + 3].copy_from_slice(&[uniform(0.5, 2.0), center, uniform(0.5, 1.0)]);
            }
            for (y, &x) in y.iter_mut().zip(&x) {
                *y = Peaks::<N>.response(&[x], &truth) + uniform(-0.05, 0.05);
            }
            for (start, truth) in start.iter_mut().zip(&truth[..N - N % 3]) {
                *start = truth + 0.15 * uniform(-1.0, 1.0);
            }
        }
        Data { x, y, start }
    }

    #[divan::bench(consts = [6, 9, 12, 16, 20], sample_count = 10)]
    fn fits<const N: usize>(bencher: Bencher) {
        let data = data::<N>();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("the system gives threads");
        bencher.counter(ItemsCount::new(FITS)).bench_local(|| pool.install(|| data.fit(Peaks::<N>)));
    }
}
