//! What the elementwise functions cost on as many numbers as fit the first-level cache; the items are numbers.
//!
//! ```text
//! cargo bench --bench kernels
//! ```

use divan::Bencher;
use divan::counter::ItemsCount;
use marquardt::Real;
use marquardt::nn::Function;

fn main() {
    divan::main();
}

const COUNT: usize = 1024;

const NAMES: [&str; 9] = ["tanh", "sigmoid", "exp", "softplus", "elu", "silu", "gelu", "gelu_tanh", "relu"];

/// The function of a name.
fn function<T: Real>(name: &str) -> Function<T> {
    match name {
        "tanh" => Function::Tanh,
        "sigmoid" => Function::Sigmoid,
        "exp" => Function::Exp,
        "softplus" => Function::Softplus,
        "elu" => Function::Elu { alpha: T::ONE },
        "silu" => Function::Silu,
        "gelu" => Function::Gelu,
        "gelu_tanh" => Function::GeluTanh,
        _ => Function::Relu,
    }
}

#[divan::bench(types = [f32, f64], args = NAMES)]
fn functions<T: Real>(bencher: Bencher<'_, '_>, name: &str) {
    let function = function::<T>(name);
    let x: Vec<T> = (0..COUNT).map(|k| T::from_f64((k as f64 * 0.37).sin() * 6.0)).collect();
    bencher.counter(ItemsCount::new(COUNT)).with_inputs(|| x.clone()).bench_local_refs(|x| function.apply(x));
}

/// The standard library's hyperbolic tangent, one number after the other.
#[divan::bench]
fn standard_tanh(bencher: Bencher<'_, '_>) {
    let x: Vec<f64> = (0..COUNT).map(|k| (k as f64 * 0.37).sin() * 6.0).collect();
    bencher
        .counter(ItemsCount::new(COUNT))
        .with_inputs(|| x.clone())
        .bench_local_refs(|x| x.iter_mut().for_each(|x| *x = x.tanh()));
}
