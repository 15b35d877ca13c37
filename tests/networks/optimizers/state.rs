//! Saving and restoring: what is restored goes on bit for bit.

use marquardt::Variables;
use marquardt::optim::{
    Adagrad, Adam, AdamW, CosineDecay, CosineDecayRestarts, ExponentialDecay, Groups, InverseTimeDecay, LinearWarmup,
    MovingAverage, Optimizer, OptimizerState, PiecewiseConstantDecay, PolynomialDecay, RmsProp, Sgd,
};
use ndarray::array;

use super::problems::{dense_steps, dense_variables, sparse_steps, table};

/// The state after it was written to a file and read again, where that is possible.
fn through_a_file(state: &OptimizerState<f64>) -> OptimizerState<f64> {
    #[cfg(feature = "serde")]
    let state = &serde_json::from_str::<OptimizerState<f64>>(&serde_json::to_string(state).unwrap()).unwrap();
    state.clone()
}

type Make = fn() -> Box<dyn Optimizer<f64>>;

const OPTIMIZERS: [Make; 12] = [
    || Box::new(Sgd::new(0.1)),
    || Box::new(Sgd::pytorch(InverseTimeDecay::new(0.1, 7, 0.3)).with_momentum(0.9).with_dampening(0.1)),
    || Box::new(Adam::new(ExponentialDecay::new(0.1, 10, 0.7)).with_amsgrad(true).with_global_clipnorm(1.0)),
    || Box::new(AdamW::new(CosineDecay::new(0.0, 20).with_warmup(0.1, 5)).exclude_from_weight_decay(["b"])),
    || Box::new(RmsProp::new(CosineDecayRestarts::new(0.1, 3)).with_centered(true).with_momentum(0.9)),
    || Box::new(Adagrad::pytorch(PolynomialDecay::new(0.1, 20)).with_ema(0.9)),
    || Box::new(Adam::new(0.1).with_lazy_rows(true).with_gradient_accumulation_steps(4)),
    || Box::new(Adam::new(0.1).with_ema(LinearWarmup::new(9, 0.9)).with_ema_overwrite_frequency(4)),
    || Box::new(Sgd::new(PiecewiseConstantDecay::new([3, 9], [0.1, 0.2, 0.3])).with_gradient_accumulation_steps(3)),
    || Box::new(MovingAverage::new(Adam::new(0.1)).with_dynamic_decay(true).with_average_decay(0.9)),
    || Box::new(Groups::new().with_group(["*a*"], Adam::new(0.1)).with_rest(Sgd::new(0.1).with_momentum(0.5))),
    || Box::new(MovingAverage::new(Groups::new().with_rest(AdamW::new(0.1).with_ema(0.5)))),
];

#[test]
fn a_restored_optimizer_goes_on_bit_for_bit() {
    for (index, make) in OPTIMIZERS.iter().enumerate() {
        for sparse in [false, true] {
            let steps = if sparse { sparse_steps } else { dense_steps };
            for before in [0, 1, 6, 7, 8] {
                let mut variables = if sparse { table().0 } else { dense_variables() };
                let mut original = make();
                steps(&mut *original, &mut variables, 1..=before).unwrap();
                original.set_hyperparameter("weight_decay", 0.01.into()).unwrap();
                let saved = through_a_file(&original.state());
                assert_eq!(saved, original.state());

                let mut copy = variables.clone();
                let mut restored = make();
                restored.restore(&saved, &copy).unwrap();
                assert_eq!(restored.state(), saved);
                steps(&mut *original, &mut variables, before + 1..=before + 9).unwrap();
                steps(&mut *restored, &mut copy, before + 1..=before + 9).unwrap();
                assert_eq!(copy, variables, "optimizer {index}, sparse {sparse}, after {before}");
                assert_eq!(restored.state(), original.state());

                // An optimizer can also go back to a state of its own.
                original.restore(&saved, &variables).unwrap();
                assert_eq!(original.state(), saved);
            }
        }
    }
}

/// The memory of an earlier state is used again, whatever it held.
#[test]
fn states_are_saved_over_others() {
    let mut used = OptimizerState::default();
    for make in OPTIMIZERS {
        let (mut optimizer, mut variables) = (make(), dense_variables());
        optimizer.save_into(&mut used);
        assert_eq!(used, optimizer.state());
        dense_steps(&mut *optimizer, &mut variables, 1..=5).unwrap();
        optimizer.save_into(&mut used);
        assert_eq!(used, optimizer.state());
    }
}

/// Tries to restore what does not fit, and returns the error in words.
fn refused(optimizer: &mut dyn Optimizer<f64>, state: &OptimizerState<f64>, variables: &Variables<f64>) -> String {
    let before = optimizer.state();
    let error = optimizer.restore(state, variables).unwrap_err();
    assert_eq!(optimizer.state(), before);
    error.to_string()
}

#[test]
fn states_that_do_not_fit_are_refused() {
    let mut variables = dense_variables();
    let mut adam = Adam::new(0.1).with_ema(0.9);
    dense_steps(&mut adam, &mut variables, 1..=3).unwrap();
    let state = Optimizer::<f64>::state(&adam);
    let refusal = |mut optimizer: Box<dyn Optimizer<f64>>, state: &OptimizerState<f64>| {
        let message = refused(&mut *optimizer, state, &dense_variables());
        message.strip_prefix("the saved state does not fit: ").unwrap_or(&message).to_owned()
    };
    let ours = || Box::new(Adam::new(0.1).with_ema(0.9));
    assert_eq!(refusal(Box::new(Sgd::new(0.1)), &state), "it is of adam, not of sgd");
    assert_eq!(refusal(Box::new(AdamW::new(0.1)), &state), "it is of adam, not of adamw");
    assert_eq!(refusal(Box::new(Adam::new(0.1)), &state), "it has a slot average, which is not needed");
    let amsgrad = Adam::new(0.1).with_ema(0.9).with_amsgrad(true);
    assert_eq!(refusal(Box::new(amsgrad), &state), "amsgrad is [0.0] there and 1 here");
    let accumulating = Adam::new(0.1).with_ema(0.9).with_gradient_accumulation_steps(2);
    assert_eq!(refusal(Box::new(accumulating), &state), "gradient_accumulation_steps is [1.0] there and 2 here");
    assert_eq!(refusal(Box::new(Adam::pytorch(0.1)), &state), "pytorch is [0.0] there and 1 here");
    assert_eq!(refusal(Box::new(MovingAverage::new(Adam::new(0.1))), &state), "it is of adam, not of moving_average");
    assert_eq!(refusal(Box::new(Groups::new().with_rest(Adam::new(0.1))), &state), "it is of adam, not of groups");

    let changed = |change: fn(&mut OptimizerState<f64>)| {
        let mut changed = state.clone();
        change(&mut changed);
        refusal(ours(), &changed)
    };
    assert_eq!(changed(|state| state.variables[1].0 = "c".to_owned()), "it has c in place of b");
    assert_eq!(changed(|state| state.variables[0].1 = vec![2, 3]), "a has the shape [2, 3] there and [3, 2] here");
    assert_eq!(changed(|state| state.variables.truncate(1)), "it is of 1 variables, not 2");
    assert_eq!(changed(|state| state.slots[1].1.truncate(9)), "the slot velocity has 9 numbers, not 10");
    assert_eq!(changed(|state| state.slots.swap(0, 1)), "it has the slot velocity in place of momentum");
    assert_eq!(changed(|state| state.slots.truncate(2)), "it has no slot average");
    assert_eq!(changed(|state| state.numbers.clear()), "it has no pytorch");
    assert_eq!(changed(|state| state.hyperparameters.truncate(3)), "it has 3 hyperparameters, not 10");
    assert_eq!(
        changed(|state| state.hyperparameters[1].0 = "beta".to_owned()),
        "it has the hyperparameter beta in place of beta_1"
    );
    assert_eq!(
        changed(|state| state.hyperparameters[1].1 = 1.5.into()),
        "beta_1 must be at least 0 and below 1, not 1.5"
    );

    let mut others = Variables::new();
    others.add("a", array![1.0].view()).unwrap();
    assert!(refused(&mut adam, &state, &others).ends_with("it is of 2 variables, not 1"));
}

/// Counts that a step would overflow, and NaN, are refused wherever they are; the largest count is gone on from.
#[test]
fn counts_and_numbers_that_no_training_reaches_are_refused() {
    fn innermost(state: &mut OptimizerState<f64>) -> &mut OptimizerState<f64> {
        if state.parts.is_empty() { state } else { innermost(&mut state.parts[0]) }
    }
    for make in OPTIMIZERS {
        let (mut optimizer, mut variables) = (make(), dense_variables());
        dense_steps(&mut *optimizer, &mut variables, 1..=5).unwrap();
        let state = optimizer.state();
        for iterations in [u64::MAX, (1 << 53) + 1] {
            let mut changed = state.clone();
            innermost(&mut changed).iterations = iterations;
            let message = refused(&mut *optimizer, &changed, &variables);
            assert!(message.ends_with(&format!("{iterations} iterations are more than 9007199254740992")), "{message}");
        }
        let mut changed = state.clone();
        let slots = &mut innermost(&mut changed).slots;
        if let Some((name, slot)) = slots.last_mut() {
            let message = format!("{name} of ");
            slot[1] = f64::NAN;
            let found = refused(&mut *optimizer, &changed, &variables);
            assert!(found.contains(&message) && found.ends_with(" holds NaN"), "{found}");
        }
        let mut changed = state;
        innermost(&mut changed).iterations = 1 << 53;
        optimizer.restore(&changed, &variables).unwrap();
        dense_steps(&mut *optimizer, &mut variables, 6..=12).unwrap();
    }

    let mut accumulating = Adam::new(0.1).with_gradient_accumulation_steps(4);
    let mut variables = dense_variables();
    dense_steps(&mut accumulating, &mut variables, 1..=2).unwrap();
    let state: OptimizerState<f64> = accumulating.state();
    for count in [4.0, -1.0, 0.5, 1e300, f64::INFINITY] {
        let mut changed = state.clone();
        let (_, saved) = changed.numbers.iter_mut().find(|(name, _)| name == "accumulated_count").unwrap();
        *saved = vec![count];
        let message = refused(&mut accumulating, &changed, &variables);
        assert!(message.ends_with(&format!("accumulated_count is {count}, not a whole number up to 3")), "{message}");
    }

    let mut averaged = MovingAverage::new(Adam::new(0.1));
    dense_steps(&mut averaged, &mut variables, 1..=2).unwrap();
    averaged.swap_weights(&mut variables).unwrap();
    let state = averaged.state();
    for (swapped, message) in [
        (vec![0.0, 1e300], "swapped is 1e300, not a whole number up to 10"),
        (vec![-1.0, 4.0], "swapped is -1, not a whole number up to 10"),
        (vec![0.0, 4.0, 2.0, 8.0], "swapped does not hold ascending ranges"),
        (vec![4.0], "swapped does not hold ascending ranges"),
    ] {
        let mut changed = state.clone();
        changed.numbers.iter_mut().find(|(name, _)| name == "swapped").unwrap().1 = swapped;
        let found = refused(&mut averaged, &changed, &variables);
        assert!(found.ends_with(&message.replace("1e300", &1e300.to_string())), "{found}");
    }
}

#[test]
fn states_of_several_are_restored_as_a_whole() {
    let groups = || Groups::new().with_group(["a"], Adam::new(0.1)).with_rest(Sgd::new(0.1).with_momentum(0.9));
    let mut variables = dense_variables();
    let mut optimizer = groups();
    dense_steps(&mut optimizer, &mut variables, 1..=3).unwrap();
    let state = optimizer.state();
    dense_steps(&mut optimizer, &mut variables, 4..=5).unwrap();

    // The first group would take its part, the second would not.
    let mut broken = state.clone();
    broken.parts[1].slots.clear();
    assert!(refused(&mut optimizer, &broken, &variables).ends_with("it has no slot momentum"));
    broken.parts.pop();
    assert!(refused(&mut optimizer, &broken, &variables).ends_with("it is of 1 groups, not 2"));
    let mut other = Groups::new().with_group(["b"], Adam::new(0.1)).with_rest(Sgd::new(0.1).with_momentum(0.9));
    assert!(refused(&mut other, &state, &variables).ends_with("its groups have other variables"));

    let mut averaged = MovingAverage::new(groups());
    dense_steps(&mut averaged, &mut variables, 1..=3).unwrap();
    let mut broken = averaged.state();
    broken.parts[0].parts[1].slots.clear();
    assert!(refused(&mut averaged, &broken, &variables).ends_with("it has no slot momentum"));
    let mut broken = averaged.state();
    broken.slots[0].1.pop();
    assert!(refused(&mut averaged, &broken, &variables).ends_with("the slot average has 9 numbers, not 10"));
    let dynamic = &mut MovingAverage::new(groups()).with_dynamic_decay(true);
    assert!(refused(dynamic, &averaged.state(), &variables).ends_with("dynamic_decay is [0.0] there and 1 here"));
}
