//! Times of 10,000 small fits: in lockstep, in either precision, on one and two threads, and one after the other by the
//! scalar path of fixed size.
//!
//! ```text
//! cargo bench --bench many
//! cargo bench --bench many -- peaks
//! ```

#[path = "problems/mod.rs"]
mod problems;
#[path = "workloads/mod.rs"]
mod workloads;

use divan::{Bencher, black_box};
use marquardt::{FitMany, FixedAutoDiff, LevenbergMarquardt, ManyFits, Model, Real};
use nalgebra::SVector;
use ndarray::{Array1, Array2};
use problems::{CurveResiduals, Formula};
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

    fn fit(&self, model: impl Model<T> + Sync) -> ManyFits<T> {
        FitMany::new(model, &self.x, black_box(&self.y)).start(&self.start).fit().expect("the shapes are right")
    }
}

/// Fits in lockstep, on so many threads.
fn in_lockstep<T: Real, F: Formula>(bencher: Bencher, model: impl Model<T> + Copy + Send + Sync, threads: usize) {
    let data = Data::<T>::of::<F>();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("the system gives threads");
    bencher.bench_local(|| pool.install(|| data.fit(model)));
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

    #[divan::bench(sample_count = 10)]
    fn scalar(bencher: Bencher) {
        one_by_one::<Decays>(bencher);
    }
}
