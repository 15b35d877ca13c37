//! Problems 20 to 35, of any number of parameters. `x` counts from 0.

use marquardt::Scalar;

use super::fixed::{numbered, powell_singular, rosenbrock};

/// Weight of the penalised part of both penalty functions.
const PENALTY: f64 = 1e-5;

fn sum<S: Scalar<Real = f64>>(terms: impl Iterator<Item = S>) -> S {
    terms.fold(S::constant(0.0), |sum, term| sum + term)
}

/// `Σ j x_j` over `j` from 1, with the coefficients in a range set to zero outside.
fn ranked_sum<S: Scalar<Real = f64>>(x: &[S], ranks: std::ops::RangeInclusive<usize>) -> S {
    sum(ranks.map(|j| x[j - 1] * j as f64))
}

pub fn watson<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let rows = numbered(29).map(|i| i / 29.0);
    let polynomials = rows.map(|t| {
        let slope = sum(x.iter().enumerate().skip(1).map(|(j, &x)| x * (j as f64 * t.powi(j as i32 - 1))));
        let value = sum(x.iter().enumerate().map(|(j, &x)| x * t.powi(j as i32)));
        slope - value.powi(2) - 1.0
    });
    polynomials.chain([x[0], x[1] - x[0].powi(2) - 1.0]).collect()
}

pub fn extended_rosenbrock<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    x.chunks_exact(2).flat_map(rosenbrock).collect()
}

pub fn extended_powell_singular<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    x.chunks_exact(4).flat_map(powell_singular).collect()
}

pub fn penalty_1<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let squares = sum(x.iter().map(|x| x.powi(2)));
    x.iter().map(|&x| (x - 1.0) * PENALTY.sqrt()).chain([squares - 0.25]).collect()
}

pub fn penalty_2<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let n = x.len();
    let grown = |x: S| (x * 0.1).exp();
    let pairs = (1..n).map(|i| {
        let y = (0.1 * (i as f64 + 1.0)).exp() + (0.1 * i as f64).exp();
        (grown(x[i]) + grown(x[i - 1]) - y) * PENALTY.sqrt()
    });
    let singles = x[1..].iter().map(|&x| (grown(x) - (-0.1_f64).exp()) * PENALTY.sqrt());
    let squares = sum(x.iter().enumerate().map(|(j, x)| x.powi(2) * (n - j) as f64));
    [x[0] - 0.2].into_iter().chain(pairs).chain(singles).chain([squares - 1.0]).collect()
}

pub fn variably_dimensioned<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let weighted = sum(x.iter().zip(numbered(x.len())).map(|(&x, j)| (x - 1.0) * j));
    x.iter().map(|&x| x - 1.0).chain([weighted, weighted.powi(2)]).collect()
}

pub fn trigonometric<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let n = x.len() as f64;
    let cosines = sum(x.iter().map(|x| x.cos()));
    x.iter().zip(numbered(x.len())).map(|(x, i)| -cosines + n + (-x.cos() + 1.0) * i - x.sin()).collect()
}

pub fn brown_almost_linear<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let n = x.len();
    let total = sum(x.iter().copied());
    let product = x.iter().fold(S::constant(1.0), |product, &x| product * x);
    x[..n - 1].iter().map(|&x| x + total - (n as f64 + 1.0)).chain([product - 1.0]).collect()
}

pub fn discrete_boundary_value<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let n = x.len();
    let h = 1.0 / (n as f64 + 1.0);
    let at = |i: Option<usize>| i.and_then(|i| x.get(i)).copied().unwrap_or(S::constant(0.0));
    let row = |i: usize| {
        let t = (i as f64 + 1.0) * h;
        x[i] * 2.0 - at(i.checked_sub(1)) - at(Some(i + 1)) + (x[i] + (t + 1.0)).powi(3) * (0.5 * h * h)
    };
    (0..n).map(row).collect()
}

pub fn discrete_integral_equation<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let n = x.len();
    let h = 1.0 / (n as f64 + 1.0);
    let t = |j: usize| (j as f64 + 1.0) * h;
    let cube = |j: usize| (x[j] + (t(j) + 1.0)).powi(3);
    let row = |i: usize| {
        let below = sum((0..=i).map(|j| cube(j) * t(j)));
        let above = sum((i + 1..n).map(|j| cube(j) * (1.0 - t(j))));
        x[i] + (below * (1.0 - t(i)) + above * t(i)) * (0.5 * h)
    };
    (0..n).map(row).collect()
}

pub fn broyden_tridiagonal<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let at = |i: Option<usize>| i.and_then(|i| x.get(i)).copied().unwrap_or(S::constant(0.0));
    let row = |i: usize| (-x[i] * 2.0 + 3.0) * x[i] - at(i.checked_sub(1)) - at(Some(i + 1)) * 2.0 + 1.0;
    (0..x.len()).map(row).collect()
}

pub fn broyden_banded<S: Scalar<Real = f64>>(x: &[S]) -> Vec<S> {
    let row = |i: usize| {
        let band = i.saturating_sub(5)..=(i + 1).min(x.len() - 1);
        let others = sum(band.filter(|&j| j != i).map(|j| x[j] * (x[j] + 1.0)));
        x[i] * (x[i].powi(2) * 5.0 + 2.0) + 1.0 - others
    };
    (0..x.len()).map(row).collect()
}

pub fn linear_full_rank<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let shared = -sum(x.iter().copied()) * (2.0 / m as f64) - 1.0;
    (0..m).map(|i| x.get(i).map_or(shared, |&x| x + shared)).collect()
}

pub fn linear_rank_1<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let shared = ranked_sum(x, 1..=x.len());
    numbered(m).map(|i| shared * i - 1.0).collect()
}

/// [`linear_rank_1`] where the first and the last parameter, and the first and the last residual, stand by.
pub fn linear_rank_1_with_zeros<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let shared = ranked_sum(x, 2..=x.len() - 1);
    (0..m).map(|i| if i == m - 1 { S::constant(-1.0) } else { shared * i as f64 - 1.0 }).collect()
}

/// The mean of each shifted Chebyshev polynomial over the points, less its integral from 0 to 1.
pub fn chebyquad<S: Scalar<Real = f64>>(x: &[S], m: usize) -> Vec<S> {
    let mut rows = vec![S::constant(0.0); m];
    for &x in x {
        let twice = (x * 2.0 - 1.0) * 2.0;
        let (mut before, mut current) = (S::constant(1.0), x * 2.0 - 1.0);
        for row in &mut rows {
            *row += current;
            (before, current) = (current, twice * current - before);
        }
    }
    let integral = |i: f64| if i % 2.0 == 0.0 { -1.0 / (i * i - 1.0) } else { 0.0 };
    rows.into_iter().zip(numbered(m)).map(|(row, i)| row / x.len() as f64 - integral(i)).collect()
}
