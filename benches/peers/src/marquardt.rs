//! `marquardt`: this library, at its default settings.

use marquardt::problem::FixedAutoDiff;
use marquardt::{CurveFit, FitMany, LevenbergMarquardt, Model, Real};
use nalgebra_of_marquardt::SVector;
use ndarray::{Array1, Array2};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::contest::Fit;
use crate::problems::{Analytic, CurveResiduals, Formula, Misra1aResiduals, Peaks};
use crate::workloads::{Family, ManyCurves, Misra1a, OverlappingGaussians, Workload};

/// Any workload, with its derivatives by hand.
pub fn analytic<W: Workload>(workload: &W, start: &[f64]) -> Fit {
    let solver = LevenbergMarquardt::new().with_log(false);
    let report = solver.minimize(&mut Analytic(workload), start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x, evaluations: Some(evaluations) }
}

/// Peaks as a model that is differentiated automatically, with the standard errors that every curve fit works out.
pub fn peaks(workload: &OverlappingGaussians, start: &[f64]) -> Fit {
    let samples = workload.samples();
    let fit = CurveFit::model(Peaks(start.len() / 3), &samples.x, &samples.y, start).fit().expect("the start is valid");
    let report = fit.report();
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x.clone(), evaluations: Some(evaluations) }
}

/// Misra1a with its size known to the compiler and dual numbers: nothing is allocated.
pub fn misra1a(workload: &Misra1a, start: &[f64]) -> Fit {
    let mut problem = FixedAutoDiff::<_, 2>(Misra1aResiduals(workload));
    let start = SVector::from([start[0], start[1]]);
    let report = LevenbergMarquardt::new().minimize_fixed(&mut problem, start).expect("the start is valid");
    let evaluations = report.evaluations.residuals + report.evaluations.jacobians;
    Fit { parameters: report.x.as_slice().to_vec(), evaluations: Some(evaluations) }
}

/// Many curves in one precision, to be fitted in lockstep by so many threads.
pub struct Lockstep<T> {
    x: Array1<T>,
    y: Array2<T>,
    start: Array2<T>,
    threads: ThreadPool,
}

impl<T: Real> Lockstep<T> {
    /// Has the data and the threads ready.
    pub fn new<F: Family>(curves: &ManyCurves<F>, threads: usize) -> Self {
        let number = |&value: &f64| T::from_f64(value);
        let rows = |values: &[f64]| {
            let shape = (curves.count(), values.len() / curves.count());
            Array2::from_shape_vec(shape, values.iter().map(number).collect()).expect("rows of one length")
        };
        Self {
            x: curves.x.iter().map(number).collect(),
            y: rows(&curves.y),
            start: rows(&curves.start),
            threads: ThreadPoolBuilder::new().num_threads(threads).build().expect("the system gives threads"),
        }
    }

    /// Fits all.
    pub fn fit(&self, model: impl Model<T>) -> Vec<f64> {
        let fit = || FitMany::new(model, &self.x, &self.y).start(&self.start).fit().expect("the shapes are right");
        self.threads.install(fit).parameters.iter().map(|parameter| parameter.to_f64()).collect()
    }
}

/// Many curves one after the other, by the scalar path of fixed size and dual numbers.
pub fn one_by_one<F: Formula>(curves: &ManyCurves<F>) -> Vec<f64> {
    let (solver, formula) = (LevenbergMarquardt::new(), F::formula());
    let mut parameters = Vec::with_capacity(curves.start.len());
    for curve in curves.each() {
        let mut problem = FixedAutoDiff::<_, 4>(CurveResiduals(&formula, curve.samples));
        let report = solver.minimize_fixed(&mut problem, SVector::from(*curve.start)).expect("the start is valid");
        parameters.extend_from_slice(report.x.as_slice());
    }
    parameters
}
