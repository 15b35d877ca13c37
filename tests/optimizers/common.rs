//! Problems that several suites share.

use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::{Gradients, Variable, Variables};
use ndarray::{Array1, Array2};

/// `cos 1, cos 2, …`
fn start(count: usize) -> Vec<f64> {
    (1..=count).map(|i| (i as f64).cos()).collect()
}

/// The variables of the dense reference problem: `a` with three rows and two columns, `b` with four numbers.
pub fn dense_variables() -> Variables<f64> {
    let mut start = start(10);
    let mut variables = Variables::new();
    let b = Array1::from(start.split_off(6));
    variables.add("a", Array2::from_shape_vec((3, 2), start).unwrap().view()).unwrap();
    variables.add("b", b.view()).unwrap();
    variables
}

/// Its gradient in step `t = 1, 2, …`
pub fn dense_gradient(t: u32, variables: &Variables<f64>, gradients: &mut Gradients<f64>) {
    gradients.clear();
    for ((i, g), w) in (1..).zip(gradients.flat_mut()).zip(variables.values()) {
        *g = (0.7 * f64::from(t) + 1.3 * f64::from(i)).sin() + 0.5 * w;
    }
}

/// The variable of the sparse reference problem: a table of six rows and two columns.
pub fn table() -> (Variables<f64>, Variable) {
    let mut variables = Variables::new();
    let values = Array2::from_shape_vec((6, 2), start(12)).unwrap();
    let table = variables.add("table", values.view()).unwrap();
    (variables, table)
}

/// Its gradient in step `t = 1, 2, …`, with a row that comes twice.
pub fn sparse_gradient(t: u32, table: Variable, gradients: &mut Gradients<f64>) {
    gradients.clear();
    for (k, row) in (0..).zip([t % 6, (2 * t + 1) % 6, t % 6]) {
        let values = [0, 1].map(|j| (0.7 * f64::from(t) + 1.3 * f64::from(2 * k + j + 1)).sin());
        gradients.add_row(table, row as usize, &values);
    }
}

/// Makes steps `steps` of the dense reference problem.
pub fn dense_steps(
    optimizer: &mut dyn Optimizer<f64>,
    variables: &mut Variables<f64>,
    steps: std::ops::RangeInclusive<u32>,
) -> Result<(), OptimizerError> {
    let mut gradients = Gradients::new(variables);
    for t in steps {
        dense_gradient(t, variables, &mut gradients);
        optimizer.apply_gradients(&gradients, variables)?;
    }
    Ok(())
}

/// Makes steps `steps` of the sparse reference problem.
pub fn sparse_steps(
    optimizer: &mut dyn Optimizer<f64>,
    variables: &mut Variables<f64>,
    steps: std::ops::RangeInclusive<u32>,
) -> Result<(), OptimizerError> {
    let table = variables.find("table").unwrap();
    let mut gradients = Gradients::new(variables);
    for t in steps {
        sparse_gradient(t, table, &mut gradients);
        optimizer.apply_gradients(&gradients, variables)?;
    }
    Ok(())
}
