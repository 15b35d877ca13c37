//! How far a solution is from the exact one.

use marquardt::Variables;
use ndarray::Array2;

use super::cases::Case;

/// Numbers of a solution and its gradient on a grid, to compare others with.
pub struct Judge {
    exact: Vec<f64>,
    gradient: Vec<Vec<f64>>,
    /// The grid, and for each coordinate the grid moved up and down.
    moved: Vec<[Array2<f64>; 2]>,
}

/// The distance of differences that stand for gradients.
const STEP: f64 = 1e-5;

impl Judge {
    pub fn new(case: &Case) -> Judge {
        let at = |points: &Array2<f64>| -> Vec<f64> {
            points.rows().into_iter().map(|p| (case.exact)(p.as_slice().expect("rows are contiguous"))).collect()
        };
        let shift = |axis: usize, by: f64| {
            let mut moved = case.grid.clone();
            moved.column_mut(axis).mapv_inplace(|x| x + by);
            moved
        };
        let moved: Vec<_> = (0..case.grid.ncols()).map(|axis| [shift(axis, STEP), shift(axis, -STEP)]).collect();
        let slope = |[up, down]: &[Array2<f64>; 2]| {
            at(up).iter().zip(at(down)).map(|(up, down)| (up - down) / (2.0 * STEP)).collect()
        };
        let gradient = moved.iter().map(slope).collect();
        Judge { exact: at(&case.grid), gradient, moved }
    }

    /// `‖e‖ / ‖u‖`.
    pub fn relative_l2(&self, case: &mut Case, variables: &Variables<f64>) -> f64 {
        let found = case.problem.predict(variables, case.field, case.grid.view()).expect("the grid fits");
        let error: f64 = found.iter().zip(&self.exact).map(|(a, b)| (a - b).powi(2)).sum();
        (error / norm(&self.exact)).sqrt()
    }

    /// `(‖e‖ + ‖∇e‖) / (‖u‖ + ‖∇u‖)`.
    pub fn relative_h1(&self, case: &mut Case, variables: &Variables<f64>) -> f64 {
        let l2 = self.relative_l2(case, variables) * norm(&self.exact).sqrt();
        let mut error = 0.0_f64;
        for ([up, down], exact) in self.moved.iter().zip(&self.gradient) {
            let [up, down] =
                [up, down].map(|grid| case.problem.predict(variables, case.field, grid.view()).expect("the grid fits"));
            let slopes = up.iter().zip(&down).map(|(up, down)| (up - down) / (2.0 * STEP));
            error += slopes.zip(exact).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
        }
        let whole: f64 = self.gradient.iter().map(|part| norm(part)).sum();
        (l2 + error.sqrt()) / (norm(&self.exact).sqrt() + whole.sqrt())
    }
}

fn norm(numbers: &[f64]) -> f64 {
    numbers.iter().map(|x| x * x).sum()
}
