//! The stack that fits take: little enough for any thread, also where nothing is optimised.

use std::hint::black_box;
use std::mem::MaybeUninit;

use marquardt::models::{
    ExponentialDecay, ExponentialGaussian, Gaussian, Linear, Moffat, Named, Sine, SkewedGaussian, Voigt,
};
use marquardt::{
    AutoDiff, CurveFit, EvaluationError, FitMany, FittedCurve, LevenbergMarquardt, Loss, Model, Real, Residuals,
    Scalar, ScalarOf, model,
};
use ndarray::Array2;

use super::cases::{Case, cases, even};

/// The most that a fit may take, a quarter of what a thread has where it has least; and that derivatives alone may take. Where
/// debug assertions are on, only the environment asks for wide registers, which may take more.
fn limits() -> [usize; 2] {
    let is_wide = std::env::var("MARQUARDT_REGISTERS").is_ok_and(|registers| registers != "portable");
    if cfg!(not(debug_assertions)) || is_wide { [512 << 10; 2] } else { [256 << 10, 64 << 10] }
}

/// Stack that is looked at.
const PAINTED: usize = 1 << 20;
const BLOCK: usize = 1 << 10;
const PAINT: u8 = 0xa5;

/// Fills the stack with a pattern, block by block, and notes where they are.
#[inline(never)]
fn paint(blocks: &mut Vec<usize>) {
    let mut block = [PAINT; BLOCK];
    black_box(&mut block);
    blocks.push(block.as_ptr() as usize);
    if blocks[0] - blocks[blocks.len() - 1] < PAINTED {
        paint(blocks);
    }
    black_box(&mut block);
}

/// The lower half of a block has been written to since it was painted; its end is where functions called above it begin.
fn is_used(block: usize) -> bool {
    // SAFETY: the block is part of the stack of this thread, below all that is in use, and numbers of any bits are read.
    let word =
        |k: usize| unsafe { std::ptr::read_volatile((block as *const MaybeUninit<[u8; 8]>).add(k)).assume_init() };
    (0..BLOCK / 16).any(|k| word(k) != [PAINT; 8])
}

/// How many bytes of stack some work takes, which parallel parts of it share.
fn depth<P>(prepare: impl Fn() -> P + Sync, work: impl Fn(P) + Sync) -> usize {
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).stack_size(8 * PAINTED).build().unwrap();
    one.install(|| {
        let (prepared, mut blocks) = (prepare(), Vec::with_capacity(PAINTED / BLOCK));
        paint(&mut blocks);
        work(prepared);
        let deepest = blocks.iter().rev().find(|&&block| is_used(block)).expect("the first is used at once");
        blocks[0] - deepest
    })
}

#[track_caller]
fn assert_within(limit: usize, what: &str, depth: usize) {
    println!("{what}: {depth} bytes of stack");
    assert!(depth <= limit, "{what} takes {depth} bytes of stack, more than {limit}");
}

/// Some work needs little of the stack.
#[track_caller]
fn assert_small(what: &str, work: impl Fn() + Sync) {
    assert_within(limits()[0], what, depth(|| (), |()| work()));
}

/// A fit needs little, and derivatives alone less.
#[track_caller]
fn assert_small_fit<'a, T: Real>(what: &str, x: &[T], fit: impl Fn() -> FittedCurve<'a, T> + Sync) {
    assert_small(what, || drop(fit()));
    let derivatives = depth(&fit, |fit| drop(fit.confidence_band(x, 0.95)));
    assert_within(limits()[1], &format!("derivatives of {what}"), derivatives);
}

/// Sixty operations on eight parameters.
#[inline(always)]
fn formula<T: Real, S: ScalarOf<T>>(x: S::Real, b: &[S]) -> S {
    let [a, c, s, d, e, f, g, h] = std::array::from_fn(|j| b[j]);
    let of = T::from_f64;
    let u = (-c + x) / s;
    let peak = a * (u * u * of(-0.5)).exp() + d / (u * u + of(1.0));
    let wave = (e * x + f).sin() * (g * x).cos() + (f * x).tanh() * e;
    let rise = (-(h * x)).exp() * g - (h * h + x).sqrt() + (g * x).atan();
    let more = a * c * x + d * e * (x * x) - f * g * h + (s * s + of(1.0)).ln() / (h * h + of(2.0));
    let powers =
        (s * s + of(1.0)).pow(e * of(0.1)) - (u * of(0.1)).cosh() * h * of(0.01) + (f * f + x).powf(x * of(0.2));
    peak * (wave + of(1.0)) + rise * of(0.1) + more * of(0.01) + powers * of(0.1)
}

/// Steps of fits whose models are what takes the stack: the ends of a fit are the same function for all models.
const STEPS: usize = 5;

fn short<T: Real>() -> LevenbergMarquardt<T> {
    LevenbergMarquardt::new().with_max_iterations(STEPS)
}

const START: [f64; 8] = [3.0, 4.0, 1.5, 0.5, 0.8, 0.3, 0.6, 0.4];

/// The formula, and a polynomial that takes up the parameters left over.
struct Long {
    parameters: usize,
}

impl<T: Real> Model<T> for Long {
    fn parameter_count(&self) -> usize {
        self.parameters
    }

    #[inline(always)]
    fn response<S: ScalarOf<T>>(&self, x: &[S::Real], b: &[S]) -> S {
        let mut sum = formula(x[0], b);
        for &b in &b[8..] {
            sum = sum * (x[0] * T::from_f64(0.1)) + b;
        }
        sum
    }
}

impl Long {
    fn start<T: Real>(&self) -> Vec<T> {
        let start = START.into_iter().chain([0.0; 8]).take(self.parameters);
        start.map(T::from_f64).collect()
    }
}

/// Residuals of two formulas.
struct Two<'a>(&'a [f64], &'a [f64]);

impl Residuals<f64> for Two<'_> {
    fn parameter_count(&self) -> usize {
        16
    }

    fn residual_count(&self) -> usize {
        self.0.len()
    }

    fn evaluate<S: Scalar<Real = f64>>(&self, b: &[S], first: usize, r: &mut [S]) -> Result<(), EvaluationError> {
        for (r, (&x, &y)) in r.iter_mut().zip(self.0[first..].iter().zip(&self.1[first..])) {
            *r = formula::<f64, S>(x, &b[..8]) + formula::<f64, S>(8.0 - x, &b[8..]) * 0.1 - y;
        }
        Ok(())
    }
}

/// Forty points, and the responses of a model there with a little noise, so that the fit is soon done.
fn data<T: Real>(model: &impl Model<T>, b: &[T]) -> (Vec<T>, Vec<T>) {
    let x: Vec<T> = even(0.1, 8.0, 40).into_iter().map(T::from_f64).collect();
    let noise = |x: T| T::from_f64(0.001 * (17.0 * x.to_f64()).sin());
    let y = x.iter().map(|&x| model.response(&[x], b) + noise(x)).collect();
    (x, y)
}

fn closure<S: ScalarOf<f64>>(x: S::Real, b: [S; 8]) -> S {
    formula(x, &b)
}

fn long_models_in<T: Real>() {
    for parameters in [8, 12] {
        let model = || Long { parameters };
        let start = model().start::<T>();
        let (x, y) = data(&model(), &start);
        assert_small_fit(&format!("a model of {parameters} parameters"), &x, || {
            CurveFit::model(model(), &x, &y, &start).solver(short()).retry(false).fit().unwrap()
        });
        let rows = Array2::from_shape_fn((5, y.len()), |(_, point)| y[point]);
        let fits = || FitMany::new(model(), &x[..], rows.view()).start(&start[..]).max_iterations(STEPS);
        assert_small(&format!("many fits of {parameters} parameters"), || drop(fits().fit().unwrap()));
        assert_small(&format!("many fits of {parameters} bounded parameters"), || {
            fits().bounds("b1", -T::INFINITY..).fit().unwrap();
        });
    }
}

#[test]
fn long_models() {
    long_models_in::<f64>();
    long_models_in::<f32>();
}

#[test]
fn long_closures() {
    let (x, y) = data(&Long { parameters: 8 }, &START);
    let fit = || CurveFit::new(closure, &x, &y, START);
    assert_small_fit("a closure", &x, || fit().fit().unwrap());
    assert_small("a robust fit", || drop(fit().robust(Loss::Cauchy).fit().unwrap()));
    assert_small("variable projection", || drop(fit().variable_projection(true).fit().unwrap()));
    assert_small("a profile", || {
        fit().fit().unwrap().profile_interval("b1", 0.95).unwrap();
    });
    assert_small("many starts", || {
        let ranges = START.iter().enumerate();
        let starts = fit().multi_start().starts(3);
        let starts = ranges.fold(starts, |starts, (j, &b)| starts.range(&format!("b{}", j + 1), 0.9 * b..=1.1 * b));
        starts.run().unwrap();
    });
    assert_small("residuals", || {
        let start = [START, START].concat();
        let solver = LevenbergMarquardt::new().with_max_iterations(3);
        solver.minimize(&mut AutoDiff(Two(&x, &y)), &start).unwrap();
    });
}

#[test]
fn formulas() {
    let waves = model!(|x; a, b, c| a * exp(-b * x) * sin(c * x) + a / (1 + b * x) + tanh(c * x) * ln(2 + b)
        - sqrt(x + c) * cos(a + x) + pow(1 + b, c / 10) + atan(a * x) / (1 + x.powi(2)) + hypot(a, x) * b
        - select_less(x, 3, cosh(b * x), log10(1 + x)) + cbrt(x + a) * exp_m1(-b * x));
    let start = [3.0, 0.5, 1.0];
    let (x, y) = data(&waves, &start);
    assert_small_fit("a formula", &x, || CurveFit::model(waves, &x, &y, &start).fit().unwrap());
}

#[test]
fn the_library() {
    for model in Named::all() {
        let Case { x, truth } = cases(model.name()).swap_remove(0);
        let y: Vec<f64> = x.iter().map(|&x| model.response(&[x], &truth)).collect();
        assert_small_fit(model.name(), &x, || CurveFit::model(model.clone(), &x, &y, &truth).fit().unwrap());
    }
}

#[test]
fn compositions() {
    let peaks = || Voigt + SkewedGaussian.prefixed("second_");
    let start = [3.0, 4.0, 1.5, 0.5, 1.0, 2.0, 0.7, 1.5];
    let (x, y) = data(&peaks(), &start);
    assert_small_fit("two peaks", &x, || {
        CurveFit::model(peaks(), &x, &y, &start).solver(short()).retry(false).fit().unwrap()
    });
    assert_small("many times two peaks", || {
        let rows = Array2::from_shape_fn((5, y.len()), |(_, point)| y[point]);
        FitMany::new(peaks(), &x[..], rows.view()).start(&start[..]).max_iterations(STEPS).fit().unwrap();
    });
    let six = || {
        let peaks = Voigt + Moffat.prefixed("m_") + ExponentialGaussian.prefixed("e_") + Gaussian.prefixed("g_");
        peaks + Sine.prefixed("s_") * ExponentialDecay.prefixed("d_") + Linear
    };
    let start = [3.0, 4.0, 1.5, 0.5, 1.0, 2.0, 0.7, 1.5, 0.5, 6.0, 1.0, 0.5, 1.0, 3.0, 0.5];
    let start = [&start[..], &[1.0, 2.0, 0.3, 1.0, 2.0, 0.1, 0.2]].concat();
    let (x, y) = data(&six(), &start);
    assert_small_fit("six models", &x, || {
        CurveFit::model(six(), &x, &y, &start).solver(short()).retry(false).fit().unwrap()
    });
}
