//! Directions that were computed elsewhere, in place of gradients.

use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::variables::{Gradient, Gradients, Variable};
use marquardt::{LevenbergMarquardt, Real, Variables};
use ndarray::{Array1, Array2};

use super::problems::{Data, Snapshot, curved, slot};

fn variables<T: Real>() -> (Variables<T>, [Variable; 3]) {
    let mut variables = Variables::new();
    let number = |k: usize| T::from_f64((k as f64).sin());
    let table = Array2::from_shape_fn((4, 3), |(i, j)| number(3 * i + j));
    let bias = Array1::from_shape_fn(2, |i| number(20 + i));
    let table = variables.add("table", table.view()).unwrap();
    let handles = [table, variables.add("bias", bias.view()).unwrap(), variables.add("frozen", bias.view()).unwrap()];
    variables.set_trainable(handles[2], false);
    (variables, handles)
}

/// `x ← x − lr · d + momentum · last`, a row at a time where the direction is sparse.
fn follows<T: Real>(tolerance: f64) {
    let (mut variables, [table, bias, frozen]) = variables::<T>();
    let mut optimizer = LevenbergMarquardt::<T>::new().with_learning_rate(0.25).with_momentum(0.5);
    let mut x: Vec<f64> = variables.values().iter().map(|x| x.to_f64()).collect();
    let mut last = [0.0; 16];
    let mut gradients = Gradients::new(&variables);
    for t in 0..6 {
        let value = |k: usize| T::from_f64((0.3 * k as f64 + t as f64).cos());
        gradients.clear();
        gradients.dense_mut(frozen).fill(T::ONE);
        let mut direction = [0.0; 16];
        match t % 3 {
            // A row that comes twice counts twice.
            0 => {
                for (k, row) in [1, 3, 1].into_iter().enumerate() {
                    let values: Vec<_> = (0..3).map(|j| value(3 * k + j)).collect();
                    gradients.add_row(table, row, &values);
                    for (j, value) in values.iter().enumerate() {
                        direction[3 * row + j] += value.to_f64();
                    }
                }
            }
            1 => {
                for (k, number) in gradients.dense_mut(table).iter_mut().enumerate() {
                    *number = value(k);
                    direction[k] = value(k).to_f64();
                }
            }
            _ => {}
        }
        for (k, number) in gradients.dense_mut(bias).iter_mut().enumerate() {
            *number = value(k + 12);
            direction[12 + k] = value(k + 12).to_f64();
        }
        optimizer.apply_gradients(&gradients, &mut variables).unwrap();
        for k in 0..14 {
            last[k] = 0.5 * last[k] - 0.25 * direction[k];
            x[k] += last[k];
        }
        for (found, expected) in variables.values().iter().zip(&x) {
            assert!((found.to_f64() - expected).abs() < tolerance, "{t}: {found} instead of {expected}");
        }
        let momentum = optimizer.slot(table, "momentum").unwrap();
        assert!(momentum.iter().zip(&last).all(|(found, last)| (found.to_f64() - last).abs() < tolerance));
        assert_eq!(optimizer.iterations(), t + 1);
    }
}

#[test]
fn a_direction_is_followed_with_learning_rate_and_momentum() {
    follows::<f64>(1e-14);
    follows::<f32>(1e-5);
}

/// Momentum is that of all steps, wherever their directions come from.
#[test]
fn directions_and_minibatches_share_the_momentum() {
    let data = Data::new(40, 2, 50);
    let (mut network, mut variables) = curved(2, 4);
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5);
    optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    let (before, last) = (variables.clone(), slot(&optimizer, &variables, "momentum"));
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().fill(0.125);
    optimizer.apply_gradients(&gradients, &mut variables).unwrap();
    for (k, (now, before)) in variables.values().iter().zip(before.values()).enumerate() {
        assert!((now - (before - 0.125 + 0.5 * last[k])).abs() < 1e-15);
    }
    assert_eq!(optimizer.iterations(), 2);
}

#[track_caller]
fn refuses(
    optimizer: &mut LevenbergMarquardt<f64>,
    gradients: &Gradients<f64>,
    variables: &mut Variables<f64>,
) -> String {
    let before = Snapshot::of(optimizer, variables);
    let error = optimizer.apply_gradients(gradients, variables).expect_err("it is refused");
    assert_eq!(Snapshot::of(optimizer, variables), before, "{error}");
    error.to_string()
}

#[test]
fn bad_directions_are_refused() {
    let (mut variables, [table, bias, _]) = variables::<f64>();
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5).with_learning_rate(10.0);
    let mut good = Gradients::new(&variables);
    good.flat_mut().fill(0.1);
    optimizer.apply_gradients(&good, &mut variables).unwrap();

    let mut gradients = good.clone();
    gradients.dense_mut(bias)[1] = f64::NAN;
    assert_eq!(refuses(&mut optimizer, &gradients, &mut variables), "the gradient of bias[1] is NaN");
    let mut gradients = good.clone();
    gradients.set(table, Gradient::Rows { rows: &[4], values: &[0.0; 3] });
    let says = "the gradient of table has a row 4, but the variable has 4";
    assert_eq!(refuses(&mut optimizer, &gradients, &mut variables), says);
    let mut gradients = good.clone();
    gradients.set(table, Gradient::Rows { rows: &[2, 0], values: &[0.0, 0.0, 0.0, 0.0, f64::INFINITY, 0.0] });
    let says = "the gradient of table[1] is inf";
    assert_eq!(refuses(&mut optimizer, &gradients, &mut variables), says, "counted in the variable");
    let mut gradients = good.clone();
    gradients.dense_mut(bias)[1] = f64::MAX;
    assert_eq!(refuses(&mut optimizer, &gradients, &mut variables), "the step would make bias[1] -inf");

    gradients.clear();
    let before = Snapshot::of(&optimizer, &variables);
    let error = optimizer.apply_gradients(&gradients, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NoGradients), "{error}");
    for variable in [table, bias] {
        variables.set_trainable(variable, false);
    }
    let error = optimizer.apply_gradients(&good, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NothingToTrain), "{error}");
    assert_eq!(Snapshot::of(&optimizer, &variables), before);
}

#[test]
fn directions_for_other_variables_are_refused() {
    let (mut variables, _) = variables::<f64>();
    let mut optimizer = LevenbergMarquardt::new();
    let mut good = Gradients::new(&variables);
    good.flat_mut().fill(0.1);
    optimizer.apply_gradients(&good, &mut variables).unwrap();
    let (_, mut others) = curved(2, 4);
    // Fewer variables, more of them, and the same number in other shapes.
    let mut fewer = Variables::new();
    fewer.add("table", Array2::zeros((4, 3)).view()).unwrap();
    for strangers in [&fewer, &others] {
        let mut gradients = Gradients::new(strangers);
        gradients.flat_mut().fill(0.1);
        let says = refuses(&mut optimizer, &gradients, &mut variables);
        assert!(says.contains("other variables"), "{says}");
    }
    let error = optimizer.apply_gradients(&good, &mut others).unwrap_err();
    assert!(matches!(error, OptimizerError::OtherVariables { .. }), "{error}");
}
