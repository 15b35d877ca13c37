//! Gradients that were computed elsewhere.

use marquardt::LevenbergMarquardt;
use marquardt::optim::{Adam, Groups, Optimizer, OptimizerError};
use marquardt::problem::Objective;
use marquardt::variables::Gradients;

use super::problems::{Data, Snapshot, assert_same_bits, curved};

/// They say nothing of the curvature: neither a new solver nor one in the midst of its steps makes a step along them.
#[test]
fn gradients_alone_are_refused() {
    let data = Data::new(40, 2, 50);
    let (mut network, mut variables) = curved(2, 4);
    let mut gradients = Gradients::new(&variables);
    data.bind(&mut network);
    network.loss_and_gradient(variables.values(), &mut gradients).unwrap();
    let mut optimizer = LevenbergMarquardt::new().with_momentum(0.5);
    for step in 0..3 {
        let before = Snapshot::of(&optimizer, &variables);
        let error = optimizer.apply_gradients(&gradients, &mut variables).unwrap_err();
        assert!(matches!(error, OptimizerError::NeedsObjective { optimizer: "levenberg_marquardt" }), "{error}");
        assert!(error.to_string().contains("call step with the minibatch"), "{error}");
        assert_eq!((Snapshot::of(&optimizer, &variables), optimizer.iterations()), (before, step));
        optimizer.step(data.bind(&mut network), &mut variables).unwrap();
    }
}

/// Neither group moves where one of them cannot.
#[test]
fn groups_with_levenberg_marquardt_refuse_gradients() {
    let (_, mut variables) = curved(2, 4);
    let before = variables.values().to_vec();
    let mut groups = Groups::new().with_group(["0.*"], Adam::new(0.1)).with_rest(LevenbergMarquardt::new());
    let mut gradients = Gradients::new(&variables);
    gradients.flat_mut().fill(0.5);
    let error = groups.apply_gradients(&gradients, &mut variables).unwrap_err();
    assert!(matches!(error, OptimizerError::NeedsObjective { .. }), "{error}");
    assert_same_bits(variables.values(), &before, "variables");
}
