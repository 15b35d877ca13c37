//! Problems that several suites share.

use marquardt::optim::{Optimizer, OptimizerError};
use marquardt::problem::{NotLeastSquares, Objective};
use marquardt::variables::{Gradients, Variable};
use marquardt::{EvaluationError, LeastSquares, Variables};
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

/// `½‖w − target‖²`, which counts how often it is evaluated and can be made to fail.
pub struct Bowl {
    pub target: Vec<f64>,
    pub evaluations: usize,
    pub fails: bool,
}

impl Bowl {
    pub fn new(target: &[f64]) -> Self {
        Bowl { target: target.to_vec(), evaluations: 0, fails: false }
    }
}

impl Objective<f64> for Bowl {
    fn loss(&mut self, x: &[f64]) -> Result<f64, EvaluationError> {
        Ok(x.iter().zip(&self.target).map(|(x, target)| 0.5 * (x - target) * (x - target)).sum())
    }

    fn loss_and_gradient(&mut self, x: &[f64], gradients: &mut Gradients<f64>) -> Result<f64, EvaluationError> {
        self.evaluations += 1;
        if self.fails {
            return Err("the bowl is broken".into());
        }
        gradients.clear();
        for ((g, x), target) in gradients.flat_mut().iter_mut().zip(x).zip(&self.target) {
            *g = x - target;
        }
        self.loss(x)
    }

    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<f64>, NotLeastSquares> {
        Err(NotLeastSquares { loss: "the bowl".to_owned() })
    }
}
