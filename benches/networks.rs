//! What a network costs on one minibatch: residuals, residuals with Jacobian, loss with gradient, and whole steps of
//! optimizers.
//!
//! ```text
//! cargo bench --bench networks
//! ```

use divan::{Bencher, black_box};
use marquardt::nn::{MeanSquaredError, Network, Sequential};
use marquardt::optim::{Adam, Optimizer};
use marquardt::problem::{JacobianProducts, Objective};
use marquardt::solver::{Acceleration, Scaling};
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, LevenbergMarquardt, Real, Variables};
use ndarray::Array2;

fn main() {
    divan::main();
}

/// Layers of `tanh`, bound to a minibatch.
struct Workload<T: Real> {
    network: Network<T>,
    variables: Variables<T>,
}

impl<T: Real> Workload<T> {
    fn new(widths: &[usize], rows: usize) -> Self {
        let (input, output) = (widths[0], widths[widths.len() - 1]);
        let hidden = &widths[1..widths.len() - 1];
        let layers = Sequential::new(input);
        let layers = hidden.iter().fold(layers, |layers, &width| layers.dense(width).tanh());
        Self::of(&layers.dense(output), [input, output], rows)
    }

    fn of(layers: &Sequential<T>, [input, output]: [usize; 2], rows: usize) -> Self {
        let mut variables = Variables::new();
        let mut network = layers.compile(&mut variables, 0, MeanSquaredError).expect("layers fit");
        let wave = |(i, k)| T::from_f64(((3 * i + 7 * k) as f64 * 0.1).sin());
        let inputs = Array2::from_shape_fn((rows, input), wave);
        let targets = Array2::from_shape_fn((rows, output), wave);
        network.batch(&[inputs.view()], &[targets.view()]).expect("arrays fit");
        Workload { network, variables }
    }

    fn linearize(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize) {
        Self::new(widths, rows).linearize_all(bencher);
    }

    /// All rows in blocks as large as the solver's.
    fn linearize_all(self, bencher: Bencher<'_, '_>) {
        let Workload { mut network, variables } = self;
        let (m, n) = (network.residual_count(), network.parameter_count());
        let block = (128 * 1024 / size_of::<T>() / n).clamp(32, 1024);
        let (mut r, mut jacobian) = (vec![T::ZERO; block], vec![T::ZERO; block * n]);
        bencher.bench_local(|| {
            for first in (0..m).step_by(block) {
                let count = block.min(m - first);
                let (r, jacobian) = (&mut r[..count], &mut jacobian[..count * n]);
                network.linearize(variables.values(), first, r, jacobian).expect("a batch is bound");
                black_box(jacobian);
            }
        });
    }

    fn residuals(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize) {
        let Workload { mut network, variables } = Self::new(widths, rows);
        let mut r = vec![T::ZERO; network.residual_count()];
        bencher.bench_local(|| {
            network.residuals(variables.values(), 0, &mut r).expect("a batch is bound");
            black_box(&r);
        });
    }

    fn loss_and_gradient(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize) {
        Self::new(widths, rows).gradient(bencher);
    }

    fn gradient(self, bencher: Bencher<'_, '_>) {
        let Workload { mut network, variables } = self;
        let mut gradients = Gradients::new(&variables);
        bencher.bench_local(|| {
            let loss = network.loss_and_gradient(variables.values(), &mut gradients).expect("a batch is bound");
            black_box(loss)
        });
    }

    /// What products with the Jacobian take, which is not formed.
    fn linearize_products(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize) {
        let Workload { mut network, variables } = Self::new(widths, rows);
        let (all, mut r) = (0..network.parameter_count(), vec![T::ZERO; network.residual_count()]);
        bencher.bench_local(|| {
            let linearized = network.linearize_products(variables.values(), std::slice::from_ref(&all), &mut r);
            linearized.expect("a batch is bound")
        });
    }

    /// The Gram matrix of the Jacobian's rows, from its factors.
    fn row_gram(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize) {
        let Workload { mut network, variables } = Self::new(widths, rows);
        let (all, m) = (0..network.parameter_count(), network.residual_count());
        let (mut r, mut gram) = (vec![T::ZERO; m], vec![T::ZERO; m * m]);
        network.linearize_products(variables.values(), std::slice::from_ref(&all), &mut r).expect("a batch is bound");
        bencher.bench_local(|| {
            network.row_gram(&mut gram).expect("it is known");
            black_box(&gram);
        });
    }

    fn step(bencher: Bencher<'_, '_>, widths: &[usize], rows: usize, optimizer: impl Optimizer<T>) {
        Self::new(widths, rows).steps(bencher, optimizer);
    }

    /// Steps from the same start, with all that the optimizer carries from step to step.
    fn steps(self, bencher: Bencher<'_, '_>, mut optimizer: impl Optimizer<T>) {
        let Workload { mut network, mut variables } = self;
        let start = variables.values().to_vec();
        bencher.bench_local(|| {
            variables.values_mut().copy_from_slice(&start);
            optimizer.step(&mut network, &mut variables).expect("a batch is bound")
        });
    }
}

/// Steps by the linear model alone.
fn plain<T: Real>() -> LevenbergMarquardt<T> {
    LevenbergMarquardt::new().with_acceleration(Acceleration::Never).with_scaling(Scaling::RunningMaximum)
}

/// The network of the sinc example, 61 parameters, on 1,000 rows.
mod sinc {
    use super::*;

    #[divan::bench(types = [f32, f64])]
    fn step<T: Real>(bencher: Bencher<'_, '_>) {
        Workload::<T>::step(bencher, &[1, 20, 1], 1000, LevenbergMarquardt::new());
    }

    #[divan::bench(types = [f32, f64])]
    fn accelerated_step<T: Real>(bencher: Bencher<'_, '_>) {
        let accelerated = LevenbergMarquardt::new().with_acceleration(Acceleration::Always);
        Workload::<T>::step(bencher, &[1, 20, 1], 1000, accelerated);
    }

    #[divan::bench]
    fn plain_step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[1, 20, 1], 1000, plain());
    }

    #[divan::bench(sample_count = 20, types = [f32, f64])]
    fn step_on_20_000_rows<T: Real>(bencher: Bencher<'_, '_>) {
        let accelerated = LevenbergMarquardt::new().with_acceleration(Acceleration::Always);
        Workload::<T>::step(bencher, &[1, 20, 1], 20_000, accelerated);
    }

    #[divan::bench(sample_count = 20, types = [f32, f64])]
    fn plain_step_on_20_000_rows<T: Real>(bencher: Bencher<'_, '_>) {
        Workload::<T>::step(bencher, &[1, 20, 1], 20_000, plain());
    }

    #[divan::bench]
    fn residuals(bencher: Bencher<'_, '_>) {
        Workload::<f64>::residuals(bencher, &[1, 20, 1], 1000);
    }

    #[divan::bench]
    fn linearize(bencher: Bencher<'_, '_>) {
        Workload::<f64>::linearize(bencher, &[1, 20, 1], 1000);
    }
}

/// 481 parameters on 1,000 rows.
mod two_hidden_layers {
    use super::*;

    #[divan::bench(sample_count = 10)]
    fn plain_step_on_20_000_rows(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[1, 20, 20, 1], 20_000, plain());
    }

    #[divan::bench]
    fn residuals(bencher: Bencher<'_, '_>) {
        Workload::<f64>::residuals(bencher, &[1, 20, 20, 1], 1000);
    }

    #[divan::bench]
    fn linearize(bencher: Bencher<'_, '_>) {
        Workload::<f64>::linearize(bencher, &[1, 20, 20, 1], 1000);
    }
}

/// Two convolutions on 64 images of 14 × 14, 393 parameters, and one output.
mod images {
    use super::*;

    fn workload() -> Workload<f64> {
        let layers = Sequential::image(1, 14, 14).conv2d(4, [3, 3]).tanh().max_pooling2d([2, 2]);
        let layers = layers.conv2d(6, [3, 3]).tanh().average_pooling2d([2, 2]).flatten().dense(5).tanh().dense(1);
        Workload::of(&layers, [196, 1], 64)
    }

    #[divan::bench]
    fn gradient(bencher: Bencher<'_, '_>) {
        workload().gradient(bencher);
    }

    #[divan::bench]
    fn linearize(bencher: Bencher<'_, '_>) {
        workload().linearize_all(bencher);
    }

    #[divan::bench]
    fn plain_step(bencher: Bencher<'_, '_>) {
        workload().steps(bencher, plain());
    }
}

/// A minibatch of 128 in single precision, as a first-order optimizer sees it.
mod single_precision {
    use super::*;

    #[divan::bench]
    fn adam_step(bencher: Bencher<'_, '_>) {
        Workload::<f32>::step(bencher, &[10, 32, 32, 1], 128, Adam::new(1e-3));
    }

    #[divan::bench]
    fn loss_and_gradient(bencher: Bencher<'_, '_>) {
        Workload::<f32>::loss_and_gradient(bencher, &[10, 32, 32, 1], 128);
    }

    #[divan::bench]
    fn linearize_products(bencher: Bencher<'_, '_>) {
        Workload::<f32>::linearize_products(bencher, &[10, 32, 32, 1], 128);
    }

    #[divan::bench]
    fn row_gram(bencher: Bencher<'_, '_>) {
        Workload::<f32>::row_gram(bencher, &[10, 32, 32, 1], 128);
    }
}

/// A small classifier of images: 640 residuals of 50,890 variables.
mod ten_classes {
    use super::*;

    #[divan::bench(sample_count = 50, types = [f32, f64])]
    fn step<T: Real>(bencher: Bencher<'_, '_>) {
        Workload::<T>::step(bencher, &[784, 64, 10], 64, LevenbergMarquardt::new());
    }

    #[divan::bench(sample_count = 50)]
    fn adam_step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[784, 64, 10], 64, Adam::new(1e-3));
    }

    #[divan::bench(sample_count = 50)]
    fn linearize_products(bencher: Bencher<'_, '_>) {
        Workload::<f64>::linearize_products(bencher, &[784, 64, 10], 64);
    }

    #[divan::bench(sample_count = 50)]
    fn row_gram(bencher: Bencher<'_, '_>) {
        Workload::<f64>::row_gram(bencher, &[784, 64, 10], 64);
    }
}

/// 512 residuals of 68,353 variables.
mod wide_regression {
    use super::*;

    #[divan::bench(sample_count = 30)]
    fn step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[8, 256, 256, 1], 512, LevenbergMarquardt::new());
    }

    #[divan::bench(sample_count = 30)]
    fn adam_step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[8, 256, 256, 1], 512, Adam::new(1e-3));
    }

    #[divan::bench(sample_count = 20)]
    fn linearize_products(bencher: Bencher<'_, '_>) {
        Workload::<f64>::linearize_products(bencher, &[8, 256, 256, 1], 512);
    }

    #[divan::bench(sample_count = 20)]
    fn row_gram(bencher: Bencher<'_, '_>) {
        Workload::<f64>::row_gram(bencher, &[8, 256, 256, 1], 512);
    }
}

/// 640 residuals of 976,110 variables.
mod wide_classifier {
    use super::*;

    #[divan::bench(sample_count = 10)]
    fn step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[784, 700, 600, 10], 64, LevenbergMarquardt::new());
    }

    #[divan::bench(sample_count = 10)]
    fn adam_step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[784, 700, 600, 10], 64, Adam::new(1e-3));
    }

    #[divan::bench(sample_count = 20)]
    fn linearize_products(bencher: Bencher<'_, '_>) {
        Workload::<f64>::linearize_products(bencher, &[784, 700, 600, 10], 64);
    }

    #[divan::bench(sample_count = 20)]
    fn row_gram(bencher: Bencher<'_, '_>) {
        Workload::<f64>::row_gram(bencher, &[784, 700, 600, 10], 64);
    }
}

/// The same with one output.
mod wide_network_of_one_output {
    use super::*;

    #[divan::bench(sample_count = 10)]
    fn step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[784, 700, 600, 1], 64, LevenbergMarquardt::new());
    }

    #[divan::bench(sample_count = 10)]
    fn adam_step(bencher: Bencher<'_, '_>) {
        Workload::<f64>::step(bencher, &[784, 700, 600, 1], 64, Adam::new(1e-3));
    }
}
