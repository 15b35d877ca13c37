//! Products with the Jacobian of all ranks' rows.

use marquardt::LeastSquares;
use marquardt::distributed::{Communicator, on_threads};
use marquardt::problem::JacobianProducts;
use ndarray::{Axis, Slice};
use proptest::prelude::*;

use super::problems::{CUTS, assert_close, shard, the_same_on_all};
use crate::random::{Recipe, build, recipes};

/// Residuals, cost and all products, after a linearisation of this rank's rows.
fn products(recipe: &Recipe, cuts: &[f64], ranks: &Communicator) -> Vec<f64> {
    let built = build(recipe);
    let mut network = built.network.with_communicator(ranks);
    let own = shard(cuts, ranks, recipe.rows);
    let cut = Slice::from(own.clone());
    let inputs = built.inputs.each_ref().map(|input| input.slice_axis(Axis(0), cut));
    let target = built.target.slice_axis(Axis(0), cut);
    network.weighted_batch(&inputs, &[target], &built.weights[own]).unwrap();

    let columns = built.variables.trainable_ranges();
    let n: usize = columns.iter().map(|range| range.len()).sum();
    let group = network.row_group();
    let m = recipe.rows * group;
    let wave = |count: usize| (0..count).map(|k| (k as f64 * 0.7 + 0.3).sin()).collect::<Vec<_>>();
    let [mut r, mut product] = [vec![f64::NAN; m], vec![f64::NAN; m]];
    let (mut gram, mut blocks, mut transposed) = (vec![f64::NAN; m * m], vec![f64::NAN; m * group], vec![f64::NAN; n]);
    let work = network.work(&columns).unwrap();
    let cost = network.linearize_products(built.variables.values(), &columns, &mut r).unwrap();
    network.row_gram(&mut gram).unwrap();
    for (i, row) in gram.chunks_exact_mut(m).enumerate() {
        row[i + 1..].fill(0.0);
    }
    assert!(network.row_gram_blocks(&mut blocks).unwrap());
    network.multiply(&wave(n), &mut product).unwrap();
    network.multiply_transposed(&wave(m), &mut transposed).unwrap();
    [&[cost, work.row_gram.unwrap().flops(), work.numbers as f64][..], &r, &gram, &blocks, &product, &transposed]
        .concat()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, failure_persistence: None, ..ProptestConfig::default() })]

    /// Shared weights, embeddings, convolutions, dropout, several losses.
    #[test]
    fn every_rank_has_the_factors_of_all_rows(recipe in recipes(1..12)) {
        let alone = products(&recipe, &[1.0], &Communicator::single());
        for cuts in &CUTS[1..] {
            let found = on_threads(cuts.len(), |ranks| products(&recipe, cuts, &ranks));
            let found = the_same_on_all(&found);
            assert_close(&found[..1], &alone[..1], 1e-13);
            assert_close(&found[3..], &alone[3..], 1e-12);
            prop_assert_eq!(&found[1..3], &alone[1..3]);
        }
    }
}
