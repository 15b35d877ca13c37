//! Values of the models in lanes, next to those for floats and dual numbers.

use crate::autodiff::Dual;
use crate::curve::Model;
use crate::curve::model_rows::{backwards, forwards, responses};
use crate::curve::models::{Constant, ExponentialDecay, Gaussian, Linear, Lorentzian, Named, Polynomial, Sine};
use crate::curve::reverse_tile::{InTiles, TileModel};
use crate::kernels::registers::tests::in_all;
use crate::model;
use crate::real::Real;

#[path = "../../../tests/curves/models/cases.rs"]
mod cases;

use cases::{Case, cases, even};

/// Tangents carried at once.
const WIDTH: usize = 8;

/// Rows of the Jacobian one after the other, by dual numbers.
fn exact_jacobian<T: Real>(model: &impl Model<T>, x: &[T], width: usize, b: &[T]) -> Vec<T> {
    let mut jacobian = Vec::new();
    for x in x.chunks_exact(width) {
        for column in (0..b.len()).step_by(WIDTH) {
            let dual = |(j, &b): (usize, &T)| Dual::<T, WIDTH>::variable(b, j.wrapping_sub(column));
            let b: Vec<_> = b.iter().enumerate().map(dual).collect();
            jacobian.extend(&model.response(x, &b).gradient[..WIDTH.min(b.len() - column)]);
        }
    }
    jacobian
}

/// Rounding errors next to the largest number of a column.
fn assert_close<T: Real>(found: &[T], expected: &[T], width: usize, what: &str) {
    assert_eq!(found.len(), expected.len());
    for column in 0..width {
        let rows = (column..expected.len()).step_by(width);
        let largest = rows.clone().fold(T::ZERO, |largest, row| largest.max(expected[row].abs()));
        for row in rows {
            let (found, expected) = (found[row], expected[row]);
            let error = (found - expected).abs();
            let bound = largest * T::EPSILON * T::from_f64(200.0);
            assert!(error <= bound, "{what}, row {}, {column}: {found:e} and not {expected:e}", row / width);
        }
    }
}

/// Compares all ways to derivatives, and the values with and without them.
fn same_in_lanes<T: Real>(model: &impl Model<T>, x: &[f64], width: usize, b: &[f64], what: &str) {
    let [x, b] = [x, b].map(|of| of.iter().map(|&value| T::from_f64(value)).collect::<Vec<T>>());
    let values: Vec<T> = x.chunks_exact(width).map(|x| model.response(x, &b)).collect();
    let derivatives = exact_jacobian(model, &x, width, &b);
    let mut y = vec![T::ZERO; values.len()];
    responses(model, &x, width, &b, &mut y);
    assert_close(&y, &values, 1, what);
    let nothing = || (vec![T::ZERO; y.len()], vec![T::ZERO; derivatives.len()]);
    let (mut y, mut jacobian) = nothing();
    if b.len() <= WIDTH {
        forwards::<T, _, WIDTH>(model, &x, width, &b, &mut y, &mut jacobian);
        assert_close(&y, &values, 1, what);
        assert_close(&jacobian, &derivatives, b.len(), what);
    }
    let in_tiles = InTiles(model);
    let program = model.as_program().map(|program| program as &dyn TileModel<T>);
    for model in [Some(&in_tiles as &dyn TileModel<T>), program].into_iter().flatten() {
        let (mut y, mut jacobian) = nothing();
        backwards(model, &x, width, &b, &mut y, &mut jacobian);
        assert_close(&y, &values, 1, what);
        assert_close(&jacobian, &derivatives, b.len(), what);
    }
}

fn library_is_the_same<T: Real>() {
    for model in Named::all() {
        for Case { x, truth } in cases(model.name()) {
            same_in_lanes::<T>(&model, &x, 1, &truth, model.name());
        }
    }
}

#[test]
fn the_library_in_doubles() {
    in_all(|| {
        library_is_the_same::<f64>();
    });
}

#[test]
fn the_library_in_singles() {
    in_all(|| {
        library_is_the_same::<f32>();
    });
}

#[test]
fn compositions() {
    in_all(|| {
        let x = even(0.1, 8.0, 45);
        let peaks = Gaussian + Lorentzian.prefixed("second_") + Linear;
        same_in_lanes::<f64>(&peaks, &x, 1, &[2.0, 3.0, 0.5, 1.0, 6.0, 0.7, -0.2, 4.0], "peaks on a line");
        let many = Gaussian + Gaussian + Gaussian + Polynomial::new(3);
        let b = [2.0, 3.0, 0.5, 1.0, 6.0, 0.7, 3.0, 1.0, 1.3, 1.0, -0.5, 0.2, 0.1];
        same_in_lanes::<f64>(&many, &x, 1, &b, "many peaks");
        let ringing = ExponentialDecay * Sine + Constant;
        same_in_lanes::<f32>(&ringing, &x, 1, &[2.0, 3.0, 1.5, 2.0, 0.3, 1.0], "ringing");
        let named: Named = "gaussian + exponential_decay + constant".parse().unwrap();
        same_in_lanes::<f64>(&named, &x, 1, &[2.0, 3.0, 0.5, 5.0, 2.0, 1.0], "by name");
    });
}

#[test]
fn formulas() {
    in_all(|| {
        let x: Vec<f64> = even(-2.0, 2.1, 23).into_iter().flat_map(|x| [x, 1.5 - 0.3 * x]).collect();
        let hinge = model!(|x, z; a, b, c| select_less(x, c, a * z, a * z + b * pow(x - c, 2)) + exp(-b * z));
        same_in_lanes::<f64>(&hinge, &x, 2, &[2.0, 0.7, 0.5], "hinge");
        let functions = model!(|x, z; a, b, c| atan2(a * x, z) + hypot(b, x) * max(x, c) - sqrt(abs(c * x)) / (1 + z.powi(3))
        + tanh(a * x) * ln(b + k * z); k = 2);
        same_in_lanes::<f64>(&functions, &x, 2, &[2.0, 0.7, 0.5], "functions");
    });
}

/// A formula in which a branch not taken has no derivative.
#[test]
fn branches_not_taken_count_for_nothing() {
    in_all(|| {
        let x = even(-2.0, 2.0, 21);
        let root = model!(|x; a, b| select_less(0, x, a * sqrt(x * b), b - b));
        same_in_lanes::<f64>(&root, &x, 1, &[2.0, 0.7], "root");
    });
}
