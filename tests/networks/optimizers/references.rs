//! Weights and rates that Keras and PyTorch computed, see `tests/reference/generate.py`.

use std::collections::BTreeMap;

use marquardt::optim::{
    Adagrad, Adam, AdamW, CosineDecay, CosineDecayRestarts, ExponentialDecay, InverseTimeDecay, Optimizer,
    PiecewiseConstantDecay, PolynomialDecay, RmsProp, Schedule, Sgd,
};

use super::problems::{dense_steps, dense_variables, sparse_steps, table};

const RATE: f64 = 0.05;

type Weights = BTreeMap<u32, Vec<f64>>;

/// The weights of every case after some steps.
fn references() -> BTreeMap<(String, String), Weights> {
    let mut cases = BTreeMap::<_, Weights>::new();
    let mut file = csv::Reader::from_path("tests/reference/optimizers.csv").unwrap();
    for row in file.deserialize() {
        let (source, case, step, index, value): (String, String, u32, usize, f64) = row.unwrap();
        let weights = cases.entry((source, case)).or_default().entry(step).or_default();
        assert_eq!(weights.len(), index);
        weights.push(value);
    }
    cases
}

fn keras(case: &str) -> Option<Box<dyn Optimizer<f64>>> {
    let decay = ExponentialDecay::new(0.05, 10, 0.8);
    Some(match case {
        "sgd" | "sparse_sgd" => Box::new(Sgd::new(RATE)),
        "sgd_momentum" | "sparse_sgd_momentum" => Box::new(Sgd::new(RATE).with_momentum(0.9)),
        "sgd_nesterov" => Box::new(Sgd::new(RATE).with_momentum(0.9).with_nesterov(true)),
        "sgd_momentum_schedule" => Box::new(Sgd::new(decay).with_momentum(0.9)),
        "sgd_weight_decay" => Box::new(Sgd::new(RATE).with_weight_decay(0.1)),
        "sgd_clipvalue" => Box::new(Sgd::new(RATE).with_clipvalue(0.3)),
        "sgd_clipnorm" => Box::new(Sgd::new(RATE).with_clipnorm(0.5)),
        "sgd_global_clipnorm" => Box::new(Sgd::new(RATE).with_global_clipnorm(0.7)),
        "sgd_ema" => Box::new(Sgd::new(RATE).with_ema(0.9).with_ema_overwrite_frequency(7)),
        "adam" | "sparse_adam" => Box::new(Adam::new(RATE)),
        "adam_amsgrad" => Box::new(Adam::new(RATE).with_amsgrad(true)),
        "adam_exclude_decay" => Box::new(Adam::new(RATE).with_weight_decay(0.1).exclude_from_weight_decay(["b"])),
        "adam_clipvalue" => Box::new(Adam::new(RATE).with_clipvalue(0.3)),
        "adam_clipnorm" => Box::new(Adam::new(RATE).with_clipnorm(0.5)),
        "adam_global_clipnorm" => Box::new(Adam::new(RATE).with_global_clipnorm(0.7)),
        "adam_accumulate" => Box::new(Adam::new(RATE).with_gradient_accumulation_steps(4)),
        "adam_schedule" => Box::new(Adam::new(decay)),
        "adamw" => Box::new(AdamW::new(RATE).with_weight_decay(0.1)),
        "rmsprop" | "sparse_rmsprop" => Box::new(RmsProp::new(RATE)),
        "rmsprop_momentum" => Box::new(RmsProp::new(RATE).with_momentum(0.9)),
        "rmsprop_centered" => Box::new(RmsProp::new(RATE).with_momentum(0.9).with_centered(true)),
        "adagrad" | "sparse_adagrad" => Box::new(Adagrad::new(RATE)),
        _ => return None,
    })
}

fn pytorch(case: &str) -> Option<Box<dyn Optimizer<f64>>> {
    let decay = ExponentialDecay::new(0.05, 10, 0.8);
    Some(match case {
        "sgd" | "sparse_sgd" => Box::new(Sgd::pytorch(RATE)),
        "sgd_momentum" | "sparse_sgd_momentum" => Box::new(Sgd::pytorch(RATE).with_momentum(0.9)),
        "sgd_nesterov" => Box::new(Sgd::pytorch(RATE).with_momentum(0.9).with_nesterov(true)),
        "sgd_momentum_schedule" => Box::new(Sgd::pytorch(decay).with_momentum(0.9)),
        "sgd_dampening" => Box::new(Sgd::pytorch(RATE).with_momentum(0.9).with_dampening(0.5)),
        "sgd_l2" => Box::new(Sgd::pytorch(RATE).with_momentum(0.9).with_l2(0.1)),
        "adam" => Box::new(Adam::pytorch(RATE)),
        "adam_amsgrad" => Box::new(Adam::pytorch(RATE).with_amsgrad(true)),
        "adam_l2" => Box::new(Adam::pytorch(RATE).with_l2(0.1)),
        "adam_clip_grad_norm" => Box::new(Adam::pytorch(RATE).with_global_clipnorm(0.7)),
        "sparse_lazy_adam" => Box::new(Adam::new(RATE).with_epsilon(1e-8).with_lazy_rows(true)),
        "adamw" => Box::new(AdamW::pytorch(RATE).with_weight_decay(0.1)),
        "rmsprop" => Box::new(RmsProp::pytorch(RATE)),
        "rmsprop_momentum" => Box::new(RmsProp::pytorch(RATE).with_momentum(0.9)),
        "rmsprop_centered" => Box::new(RmsProp::pytorch(RATE).with_momentum(0.9).with_centered(true)),
        "adagrad" | "sparse_adagrad" => Box::new(Adagrad::pytorch(RATE)),
        _ => return None,
    })
}

/// The largest difference of any weight after any recorded step.
fn difference(optimizer: &mut dyn Optimizer<f64>, weights: &Weights, sparse: bool) -> f64 {
    let mut variables = if sparse { table().0 } else { dense_variables() };
    let mut made = 0;
    let mut largest = 0.0_f64;
    for (&step, expected) in weights {
        let steps = made + 1..=step;
        match sparse {
            true => sparse_steps(optimizer, &mut variables, steps).unwrap(),
            false => dense_steps(optimizer, &mut variables, steps).unwrap(),
        }
        made = step;
        assert_eq!(variables.values().len(), expected.len());
        for (w, expected) in variables.values().iter().zip(expected) {
            largest = largest.max((w - expected).abs());
        }
    }
    largest
}

#[test]
fn updates_are_those_of_keras_and_pytorch() {
    let references = references();
    assert_eq!(references.len(), 46);
    for ((source, case), weights) in &references {
        assert_eq!(weights.keys().copied().collect::<Vec<_>>(), [1, 2, 10, 100]);
        let optimizer = if source == "keras" { keras(case) } else { pytorch(case) };
        let mut optimizer = optimizer.unwrap_or_else(|| panic!("no optimizer for {source} {case}"));
        let difference = difference(&mut *optimizer, weights, case.starts_with("sparse"));
        assert!(difference <= 1e-12, "{source} {case}: {difference:e}");
    }
}

/// The comparison can fail: the frameworks do differ from each other.
#[test]
fn conventions_differ() {
    let references = references();
    for (case, mut optimizer) in [
        ("adam", keras("adam").unwrap()),
        ("rmsprop", keras("rmsprop").unwrap()),
        ("adagrad", keras("adagrad").unwrap()),
        ("sgd_momentum_schedule", keras("sgd_momentum_schedule").unwrap()),
    ] {
        let weights = &references[&("torch".to_owned(), case.to_owned())];
        assert!(difference(&mut *optimizer, weights, false) > 1e-9, "{case}");
    }
}

#[test]
fn schedules_are_those_of_keras() {
    let schedule = |name: &str| -> Schedule {
        match name {
            "exponential" => ExponentialDecay::new(0.1, 10, 0.5).into(),
            "exponential_staircase" => ExponentialDecay::new(0.1, 10, 0.5).with_staircase(true).into(),
            "piecewise_constant" => PiecewiseConstantDecay::new([10, 50], [0.1, 0.05, 0.01]).into(),
            "polynomial" => PolynomialDecay::new(0.1, 100).with_end_learning_rate(0.01).with_power(2.0).into(),
            "polynomial_cycle" => {
                let polynomial = PolynomialDecay::new(0.1, 100).with_end_learning_rate(0.01);
                polynomial.with_power(2.0).with_cycle(true).into()
            }
            "inverse_time" => InverseTimeDecay::new(0.1, 10, 0.5).into(),
            "inverse_time_staircase" => InverseTimeDecay::new(0.1, 10, 0.5).with_staircase(true).into(),
            "cosine" => CosineDecay::new(0.1, 100).with_alpha(0.1).into(),
            "cosine_warmup" => CosineDecay::new(0.01, 100).with_alpha(0.1).with_warmup(0.1, 10).into(),
            "cosine_restarts" => {
                CosineDecayRestarts::new(0.1, 20).with_t_mul(2.0).with_m_mul(0.9).with_alpha(0.1).into()
            }
            _ => panic!("no schedule for {name}"),
        }
    };
    let mut compared = 0;
    let mut file = csv::Reader::from_path("tests/reference/schedules.csv").unwrap();
    for row in file.deserialize() {
        let (_, name, step, value): (String, String, u64, f64) = row.unwrap();
        let found = schedule(&name).at(step);
        assert!((found - value).abs() <= 1e-15, "{name} at {step}: {found}, not {value}");
        compared += 1;
    }
    assert_eq!(compared, 120);
}
