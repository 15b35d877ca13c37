//! Steps on minibatches that are spread over ranks.

use marquardt::distributed::{Communicator, CommunicatorError, on_threads};
use marquardt::linear::{LinearForm, LinearSolver};
use marquardt::nn::{BatchError, HalfSumOfSquares, MeanSquaredError, Network, SparseCategoricalCrossentropy, Tape};
use marquardt::optim::{
    Adam, Groups, KroneckerLevenbergMarquardt, KroneckerStep, MovingAverage, NonFinite, Optimizer, Sgd,
};
use marquardt::problem::Objective;
use marquardt::solver::Acceleration;
use marquardt::solver::damping::TrustRegion;
use marquardt::variables::Gradients;
use marquardt::{LeastSquares, LevenbergMarquardt, Variables};
use ndarray::{Array2, array, s};

use super::problems::{CUTS, Data, assert_close, network, shard, the_same_on_all};

type Make = fn() -> Box<dyn Optimizer<f64>>;
type MakeSingle = fn() -> Box<dyn Optimizer<f32>>;

const FIRST_ORDER: [Make; 7] = [
    || Box::new(Sgd::new(0.05).with_momentum(0.9)),
    || Box::new(Adam::new(0.01)),
    || Box::new(Adam::new(0.01).with_weight_decay(0.1).with_gradient_accumulation_steps(2)),
    || Box::new(Adam::new(0.01).with_global_clipnorm(0.05)),
    || Box::new(Sgd::new(0.1).with_clipvalue(0.01)),
    || Box::new(MovingAverage::new(Sgd::new(0.1).with_clipnorm(0.05))),
    || {
        let groups = Groups::new().with_group(["table"], Adam::new(0.05));
        Box::new(groups.with_rest(Sgd::new(0.1).with_non_finite(NonFinite::Skip)))
    },
];

const DAMPED: [Make; 5] = [
    || Box::new(forced(LinearForm::Cholesky)),
    || Box::new(forced(LinearForm::FactoredDual)),
    || Box::new(forced(LinearForm::Qr)),
    || Box::new(forced(LinearForm::FactoredDual).with_acceleration(Acceleration::Always)),
    || Box::new(LevenbergMarquardt::new().with_damping(TrustRegion::default()).with_momentum(0.2)),
];

fn forced(form: LinearForm) -> LevenbergMarquardt<f64> {
    LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(form))
}

/// Losses and variables after some steps on minibatches, this rank's rows of each.
fn steps(make: Make, cuts: &[f64], ranks: &Communicator) -> Vec<f64> {
    let (network, mut variables) = network(0.2);
    let mut network = network.with_communicator(ranks);
    let mut optimizer = make();
    let mut numbers = Vec::new();
    for step in 0..3 {
        let data = Data::new(60).rows(20 * step..20 * step + 20);
        let own = data.rows(shard(cuts, ranks, 20));
        let minibatch = network.batch(&own.inputs(), &own.targets()).unwrap();
        numbers.push(optimizer.step(minibatch, &mut variables).unwrap().loss);
        numbers.push(minibatch.loss(variables.values()).unwrap());
    }
    numbers.extend(variables.values());
    numbers
}

fn compare(make: Make, all_cuts: &[&[f64]], tolerance: f64) {
    let alone = steps(make, &[1.0], &Communicator::single());
    for &cuts in all_cuts {
        let found = on_threads(cuts.len(), |ranks| steps(make, cuts, &ranks));
        assert_close(the_same_on_all(&found), &alone, tolerance);
    }
}

#[test]
fn first_order_steps_are_those_of_one_rank() {
    FIRST_ORDER.into_iter().for_each(|make| compare(make, &CUTS, 1e-12));
}

#[test]
fn damped_steps_are_those_of_one_rank() {
    DAMPED.into_iter().for_each(|make| compare(make, &CUTS[2..4], 1e-12));
    // They end at half of the digits, and rounding decides in which round.
    compare(|| Box::new(forced(LinearForm::ConjugateGradients)), &CUTS[2..4], 1e-8);
}

/// From all rows, as the parts that factors are estimated from are each rank's own.
#[test]
fn steps_with_kronecker_factors_are_those_of_one_rank() {
    fn whole(step: KroneckerStep) -> KroneckerLevenbergMarquardt<f64> {
        KroneckerLevenbergMarquardt::new().with_factor_share(1.0).with_step(step)
    }
    let makes: [Make; 3] = [
        || Box::new(whole(KroneckerStep::Averaged)),
        || Box::new(whole(KroneckerStep::Quadratic)),
        || Box::new(whole(KroneckerStep::Averaged).with_factor_rank(1).with_weight_decay(0.01)),
    ];
    makes.into_iter().for_each(|make| compare(make, &CUTS, 1e-10));
}

#[test]
fn full_solves_are_those_of_one_rank() {
    let solve = |ranks: &Communicator, cuts: &[f64], form: LinearForm| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(ranks);
        let table = variables.find("table").unwrap();
        variables.set_trainable(table, false);
        // What this very network says is learnt again.
        let mut data = Data::new(90).rows(shard(cuts, ranks, 90));
        data.y = network.predict(&variables, &data.inputs(), network.outputs()[0]).unwrap();
        variables.values_mut()[80..].iter_mut().enumerate().for_each(|(k, value)| *value += 0.1 * (k as f64).sin());
        network.batch(&data.inputs(), &data.targets()).unwrap();
        let report = forced(form).minimize_variables(&mut network, &mut variables).unwrap();
        assert!(report.is_converged(), "{report}");
        [&[report.initial_cost], variables.values()].concat()
    };
    for form in [LinearForm::Cholesky, LinearForm::FactoredDual] {
        let alone = solve(&Communicator::single(), &[1.0], form);
        for cuts in [CUTS[1], CUTS[3]] {
            let found = on_threads(cuts.len(), |ranks| solve(&ranks, cuts, form));
            assert_close(the_same_on_all(&found), &alone, 1e-12);
        }
    }
}

#[test]
fn sums_are_clipped_not_what_is_summed() {
    // Gradients of 3 and −2.9: their sum is below the limit, and each of them is not.
    let found = on_threads(2, |ranks| {
        let mut variables = Variables::new();
        let w = variables.add("w", array![0.0].view()).unwrap();
        let mut gradients = Gradients::new(&variables);
        gradients.dense_mut(w)[0] = [3.0, -2.9][ranks.rank()];
        gradients.all_sum(&ranks).unwrap();
        Sgd::new(1.0).with_clipvalue(1.0).apply_gradients(&gradients, &mut variables).unwrap();
        variables.values().to_vec()
    });
    assert_close(the_same_on_all(&found), &[-0.1], 1e-14);
}

#[test]
fn losses_of_other_data_are_those_of_all_rows() {
    let evaluate = |cuts: &[f64], ranks: &Communicator| {
        let (network, variables) = network(0.5);
        let mut network = network.with_communicator(ranks);
        let data = Data::new(50).rows(shard(cuts, ranks, 50));
        assert_eq!(network.predict(&variables, &data.inputs(), network.outputs()[0]).unwrap().nrows(), data.x.nrows());
        vec![network.evaluate(&variables, &data.inputs(), &data.targets()).unwrap()]
    };
    let alone = evaluate(&[1.0], &Communicator::single());
    for cuts in CUTS {
        let found = on_threads(cuts.len(), |ranks| evaluate(cuts, &ranks));
        assert_close(the_same_on_all(&found), &alone, 1e-14);
    }
}

#[test]
fn losses_that_are_no_sums_of_squares_are_minimised_too() {
    let x = Array2::from_shape_fn((30, 2), |(i, k)| ((2 * i + 5 * k) as f64).sin());
    let labels =
        Array2::from_shape_fn((30, 1), |(i, _)| f64::from(u8::from(x[[i, 0]] > 0.3)) + f64::from(u8::from(i % 7 == 0)));
    let weights: Vec<f64> = (0..30).map(|i| 0.5 + (i % 3) as f64).collect();
    let train = |cuts: &[f64], ranks: &Communicator, form: LinearForm| {
        let mut variables = Variables::new();
        let weight = variables.add("weight", Array2::from_elem((3, 2), 0.1).view()).unwrap();
        let mut tape = Tape::new();
        let input = tape.input(2);
        let logits = tape.dense(input, weight, None).unwrap();
        let network = Network::new(tape, &variables).unwrap().with_loss(logits, SparseCategoricalCrossentropy).unwrap();
        let mut network = network.with_communicator(ranks);
        let mut optimizer = forced(form);
        let own = shard(cuts, ranks, 30);
        let (x, labels) = (x.slice(s![own.clone(), ..]), labels.slice(s![own.clone(), ..]));
        let minibatch = network.weighted_batch(&[x], &[labels], &weights[own]).unwrap();
        let losses: Vec<f64> = (0..5).map(|_| optimizer.step(minibatch, &mut variables).unwrap().loss).collect();
        [&losses, variables.values()].concat()
    };
    for form in [LinearForm::Cholesky, LinearForm::FactoredDual] {
        let alone = train(&[1.0], &Communicator::single(), form);
        for cuts in CUTS {
            let found = on_threads(cuts.len(), |ranks| train(cuts, &ranks, form));
            assert_close(the_same_on_all(&found), &alone, 1e-12);
        }
    }
}

#[test]
fn a_first_order_step_sends_what_is_said_of_it() {
    let sent = on_threads(2, |ranks| {
        let (network, mut variables) = network(0.0);
        let mut network = network.with_communicator(&ranks);
        let data = Data::new(10).rows(shard(&[0.3, 1.0], &ranks, 10));
        let mut optimizer = Sgd::new(0.1);
        let minibatch = network.batch(&data.inputs(), &data.targets()).unwrap();
        let bound = ranks.traffic();
        optimizer.step(minibatch, &mut variables).unwrap();
        let stepped = ranks.traffic();
        assert_eq!((bound.sums, bound.summed_numbers, bound.gathers), (1, 2, 0));
        assert_eq!((stepped.sums - bound.sums, stepped.gathers - bound.gathers), (1, 1));
        [stepped.summed_numbers - bound.summed_numbers, stepped.gathered_bytes - bound.gathered_bytes]
    });
    // The loss, three numbers for each variable, and of the table the count of rows, and two numbers for each and itself.
    let gathered = |rows: u64| 8 * (1 + 4 * 3 + 2 + rows * (2 + 2));
    assert_eq!(sent, [[30, gathered(3)], [30, gathered(7)]]);
}

#[test]
fn single_precision_is_spread_as_well() {
    let x = Array2::from_shape_fn((24, 1), |(i, _)| (i as f32 * 0.7).sin());
    let names = Array2::from_shape_fn((24, 2), |(i, k)| ((i * i + k) % 300) as f32);
    let train = |cuts: &[f64], ranks: &Communicator, optimizer: &mut dyn Optimizer<f32>| {
        let mut variables = Variables::<f32>::new();
        let table = variables.add("table", Array2::from_shape_fn((300, 2), |(i, k)| ((3 * i + k) as f32).sin()).view());
        let weight = variables.add("weight", Array2::from_elem((1, 5), 0.2).view()).unwrap();
        let mut tape = Tape::new();
        let inputs = [tape.input(1), tape.input(2)];
        let looked_up = tape.embedding(inputs[1], table.unwrap()).unwrap();
        let all = tape.concat(&[inputs[0], looked_up]).unwrap();
        let y = tape.dense(all, weight, None).unwrap();
        let network = Network::new(tape, &variables).unwrap().with_loss(y, MeanSquaredError).unwrap();
        let mut network = network.with_communicator(ranks);
        let own = shard(cuts, ranks, 24);
        let (x, names) = (x.slice(s![own.clone(), ..]), names.slice(s![own, ..]));
        network.batch(&[x, names], &[x]).unwrap();
        let mut numbers: Vec<f32> =
            (0..4).map(|_| optimizer.step(&mut network, &mut variables).unwrap().loss).collect();
        numbers.extend(variables.values());
        numbers.into_iter().map(f64::from).collect::<Vec<_>>()
    };
    let makes: [MakeSingle; 3] = [
        || Box::new(Sgd::new(0.1)),
        || Box::new(LevenbergMarquardt::new()),
        || Box::new(LevenbergMarquardt::new().with_linear_solver(LinearSolver::Always(LinearForm::FactoredDual))),
    ];
    for make in makes {
        let alone = train(&[1.0], &Communicator::single(), &mut *make());
        for cuts in CUTS {
            let found = on_threads(cuts.len(), |ranks| train(cuts, &ranks, &mut *make()));
            assert_close(the_same_on_all(&found), &alone, 1e-4);
        }
    }
}

#[test]
fn a_network_without_data_has_its_row_on_the_first_rank() {
    let solve = |ranks: &Communicator| {
        let mut variables = Variables::new();
        let x = variables.add("x", array![3.0].view()).unwrap();
        let mut tape = Tape::new();
        let x = tape.variable(x);
        let distance = tape.shift(x, -1.0);
        let network = Network::new(tape, &variables).unwrap().with_loss(distance, HalfSumOfSquares).unwrap();
        let mut network = network.with_communicator(ranks);
        network.batch(&[], &[]).unwrap();
        let report = LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables).unwrap();
        vec![report.initial_cost, variables.values()[0]]
    };
    assert_eq!(solve(&Communicator::single()), [2.0, 1.0]);
    assert_eq!(the_same_on_all(&on_threads(3, |ranks| solve(&ranks))), [2.0, 1.0]);
}

#[test]
fn ranks_are_mirrored() {
    let found = on_threads(3, |ranks| {
        let (_, mut variables) = network(0.0);
        variables.values_mut().iter_mut().for_each(|value| *value += ranks.rank() as f64);
        variables.mirror(&ranks).unwrap();
        variables.values().to_vec()
    });
    assert_eq!(the_same_on_all(&found), network(0.0).1.values());
    let refused = on_threads(2, |ranks| {
        let mut variables = Variables::<f64>::new();
        variables.add("w", Array2::zeros((1, 1 + ranks.rank())).view()).unwrap();
        variables.mirror(&ranks)
    });
    assert_eq!(refused, vec![Err(CommunicatorError::CollectiveMismatch { rank: 0, other: 1 }); 2]);
}

#[test]
fn one_rank_alone_is_as_without_a_communicator() {
    let (network, _) = network(0.0);
    let mut network = network.with_communicator(&Communicator::single());
    let none = Data::new(0);
    assert_eq!(network.batch(&none.inputs(), &none.targets()).unwrap_err(), BatchError::Empty);
    assert!(LeastSquares::capabilities(&mut network).communicator().is_none());
}
