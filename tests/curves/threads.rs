//! Large fits on all cores: the number of threads changes neither a bit of the answer nor the error that ends it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use marquardt::curve::Curve;
use marquardt::linear::LinearForm;
use marquardt::problem::{Analytic, Capabilities, ConcurrentRows};
use marquardt::solver::Status;
use marquardt::{CurveError, CurveFit, EvaluationError, LeastSquares, LevenbergMarquardt, Loss, Real, model};

/// The results of `work` on one and three threads, which are the same.
#[track_caller]
fn on_threads<R: PartialEq + Send>(work: impl Fn() -> R + Send + Sync) -> R {
    let [one, three] = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&work)
    });
    assert!(one == three, "the number of threads changes the answer");
    one
}

/// Numbers that look random, between −1 and 1.
fn noise(seed: usize) -> f64 {
    (seed as f64 * 12.9898).sin() * 43758.5453 % 1.0
}

/// Enough for two parts, which different threads sum.
const ROWS: usize = 40_000;

fn data<T: Real>() -> (Vec<T>, Vec<T>) {
    let x = |i: usize| 4.0 * i as f64 / ROWS as f64;
    let y = |i: usize| 3.0 * (-0.7 * x(i)).exp() + 0.5 + if i % 1000 == 1 { 2.0 } else { 0.05 * noise(i) };
    (0..ROWS).map(|i| (T::from_f64(x(i)), T::from_f64(y(i)))).unzip()
}

/// Parameters, standard errors, cost and iterations, to the last bit.
fn bits<T: Real, C: Curve<T>>(fit: CurveFit<'_, T, C>) -> (Vec<u64>, usize) {
    let fit = fit.fit().unwrap();
    assert!(fit.report().is_converged(), "{fit}");
    let parameters = fit.parameters().iter().flat_map(|p| [p.value, p.standard_error]);
    let numbers = parameters.chain([fit.report().cost]).map(|number| number.to_f64().to_bits());
    (numbers.collect(), fit.report().iterations)
}

#[test]
fn curves_do_not_depend_on_the_number_of_threads() {
    let (x, y) = data::<f64>();
    let sigma: Vec<f64> = (0..ROWS).map(|i| 0.05 + 0.01 * noise(i + 7)).collect();
    let start = [2.9, 0.75, 0.45];
    let decay = || model!(|x; a, k, c| a * exp(-k * x) + c);
    let plain = on_threads(|| bits(CurveFit::model(decay(), &x, &y, &start)));
    let closure = on_threads(|| bits(CurveFit::new(|x, [a, k, c]| a * (-k * x).exp() + c, &x, &y, start)));
    for (one, other) in plain.0.iter().zip(&closure.0) {
        let [one, other] = [one, other].map(|&bits| f64::from_bits(bits));
        assert!((one - other).abs() <= 1e-9 * one.abs(), "{one}, {other}");
    }
    on_threads(|| bits(CurveFit::model(decay(), &x, &y, &start).sigma(&sigma).fix("c").bounds("k", 0.0..=2.0)));
    on_threads(|| {
        let fit = CurveFit::model(decay(), &x, &y, &start).sigma(&sigma).absolute_sigma(true);
        bits(fit.prior("c", 0.4, 0.01))
    });
    let robust = on_threads(|| bits(CurveFit::model(decay(), &x, &y, &start).robust(Loss::Huber).f_scale(0.2)));
    assert!((f64::from_bits(robust.0[0]) - 3.0).abs() < 0.01);
    let (x, y) = data::<f32>();
    on_threads(|| bits(CurveFit::model(decay(), &x, &y, &[2.9, 0.75, 0.45])));
}

/// A decay whose responses cannot be computed, or panic, at some rows once the parameters have moved.
struct Faulty {
    panics: bool,
}

impl Curve<f64> for Faulty {
    fn parameter_count(&self) -> usize {
        2
    }

    fn responses(&self, x: &[f64], _: usize, b: &[f64], y: &mut [f64]) -> Result<(), EvaluationError> {
        for (y, &x) in y.iter_mut().zip(x) {
            if b[0] != 1.0 && (x == 1.5 || x == 3.5) {
                assert!(!self.panics, "row at {x} panics");
                return Err(format!("row at {x} fails").into());
            }
            *y = b[0] * (-b[1] * x).exp();
        }
        Ok(())
    }

    fn linearize(
        &self,
        x: &[f64],
        width: usize,
        b: &[f64],
        y: &mut [f64],
        jacobian: &mut [f64],
    ) -> Result<(), EvaluationError> {
        for (row, &x) in jacobian.chunks_exact_mut(2).zip(x) {
            let decay = (-b[1] * x).exp();
            row.copy_from_slice(&[decay, -b[0] * x * decay]);
        }
        self.responses(x, width, b, y)
    }
}

#[test]
fn the_same_row_ends_the_fit_on_any_number_of_threads() {
    let (x, y) = data::<f64>();
    let message = on_threads(|| {
        let fit = CurveFit::curve(Faulty { panics: false }, &x, &y, &[1.0, 1.0]).fit();
        match fit {
            Ok(fit) => {
                assert_eq!(fit.report().status, Status::EvaluationFailed);
                fit.report().error.as_ref().map(ToString::to_string)
            }
            Err(CurveError::Solve(error)) => Some(error.to_string()),
            Err(error) => panic!("{error}"),
        }
    });
    assert!(message.is_some_and(|message| message.contains("row at 1.5 fails")));
    for threads in [1, 2] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            pool.install(|| CurveFit::curve(Faulty { panics: true }, &x, &y, &[1.0, 1.0]).fit().is_ok())
        }));
        let payload = outcome.expect_err("a panic comes through");
        assert!(payload.downcast_ref::<String>().is_some_and(|message| message.contains("panics")));
    }
}

/// Waves of many frequencies.
struct Waves {
    n: usize,
    m: usize,
    x: Vec<f64>,
}

impl Waves {
    fn row(&self, i: usize, jacobian: Option<&mut [f64]>) -> f64 {
        let t = i as f64 / self.m as f64;
        let mut sum = -(t - 0.3).abs();
        let mut jacobian = jacobian;
        for (k, &x) in self.x.iter().enumerate() {
            let wave = (6.0 * k as f64 * t + 0.1).cos();
            sum += wave * (x + 0.1 * x * x);
            if let Some(row) = jacobian.as_deref_mut() {
                row[k] = wave * (1.0 + 0.2 * x);
            }
        }
        sum
    }
}

impl ConcurrentRows<f64> for Waves {
    fn evaluate_rows(&self, first: usize, r: &mut [f64]) -> Result<f64, EvaluationError> {
        r.iter_mut().enumerate().for_each(|(i, r)| *r = self.row(first + i, None));
        Ok(0.5 * r.iter().map(|r| r * r).sum::<f64>())
    }

    fn linearize_rows(
        &self,
        first: usize,
        r: &mut [f64],
        jacobian: &mut [f64],
        _: &mut Vec<f64>,
    ) -> Result<f64, EvaluationError> {
        for ((i, r), row) in (first..).zip(&mut *r).zip(jacobian.chunks_exact_mut(self.n)) {
            *r = self.row(i, Some(row));
        }
        Ok(0.5 * r.iter().map(|r| r * r).sum::<f64>())
    }
}

impl LeastSquares<f64> for Waves {
    fn parameter_count(&self) -> usize {
        self.n
    }

    fn residual_count(&self) -> usize {
        self.m
    }

    fn residuals(&mut self, x: &[f64], first: usize, r: &mut [f64]) -> Result<(), EvaluationError> {
        self.x = x.to_vec();
        self.evaluate_rows(first, r).map(|_| ())
    }

    fn linearize(&mut self, x: &[f64], first: usize, r: &mut [f64], j: &mut [f64]) -> Result<(), EvaluationError> {
        self.x = x.to_vec();
        self.linearize_rows(first, r, j, &mut Vec::new()).map(|_| ())
    }

    fn capabilities(&mut self) -> &mut dyn Capabilities<f64> {
        self
    }
}

impl Capabilities<f64> for Waves {
    fn concurrent(&mut self, x: &[f64]) -> Option<&dyn ConcurrentRows<f64>> {
        self.x = x.to_vec();
        Some(self)
    }
}

#[test]
fn rows_of_ones_own_do_not_depend_on_the_number_of_threads() {
    let x = on_threads(|| {
        let report =
            LevenbergMarquardt::new().minimize(&mut Waves { n: 12, m: 40_000, x: Vec::new() }, &[0.1; 12]).unwrap();
        assert!(report.is_converged() && report.linear_form == LinearForm::Cholesky, "{report}");
        (report.x.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), report.cost.to_bits(), report.iterations)
    });
    // The same minimum, of rows that are summed one after the other.
    let mut plain = Analytic::new(12, 40_000, |x: &[f64], r: &mut [f64], jacobian: Option<&mut [f64]>| {
        let waves = Waves { n: 12, m: 40_000, x: x.to_vec() };
        match jacobian {
            Some(jacobian) => waves.linearize_rows(0, r, jacobian, &mut Vec::new()).map(|_| ()),
            None => waves.evaluate_rows(0, r).map(|_| ()),
        }
    });
    let report = LevenbergMarquardt::new().minimize(&mut plain, &[0.1; 12]).unwrap();
    assert!((report.cost - f64::from_bits(x.1)).abs() <= 1e-12 * report.cost, "{report}");
}

/// Sums in lanes give the fit that rows give, which parameters in units of their own ask for. The derivative at zero is undefined, and
/// leaves its part of the data to rows.
#[test]
fn sums_in_lanes_and_rows_give_the_same_fit() {
    let (mut x, y) = data::<f64>();
    x[0] = 0.0;
    let sigma: Vec<f64> = (0..ROWS).map(|i| 0.05 * (1.5 + noise(7 * i))).collect();
    for has_sigma in [false, true] {
        let fit = |scale: f64| {
            let stretched = model!(|x; a, k, c, p| a * exp(-pow(x / k, p)) + c);
            let fit = CurveFit::model(stretched, &x, &y, &[2.0, 1.0, 0.2, 0.9]).scale("a", scale);
            let fit = if has_sigma { fit.sigma(&sigma) } else { fit }.fit().unwrap();
            assert!(fit.report().is_converged(), "{fit}");
            fit.parameters().iter().map(|p| (p.value, p.standard_error)).collect::<Vec<_>>()
        };
        for (lanes, rows) in fit(1.0).iter().zip(&fit(2.0)) {
            assert!((lanes.0 - rows.0).abs() < 1e-7 * rows.1, "{lanes:?} is not {rows:?}");
            assert!((lanes.1 / rows.1 - 1.0).abs() < 1e-7, "{lanes:?} is not {rows:?}");
        }
    }
}
