//! Blocks of columns that can be eliminated one by one.

use super::block_rows::BlockStructure;
use crate::lists::Lists;

/// A maximal set of blocks of columns of which no two share a residual block, such as the points of bundle adjustment: in the order of
/// the columns of their residual blocks, the fewest first. `residual_blocks` has those that touch each block.
pub(super) fn independent_set(structure: &BlockStructure, residual_blocks: &Lists<u32>) -> Vec<usize> {
    let n = structure.blocks();
    let neighbours = |block: usize| {
        let own = residual_blocks.of(block).iter();
        own.flat_map(|&k| structure.touched(k as usize)).map(|&other| other as usize)
    };
    let mut connected = vec![0; n];
    for k in 0..structure.residual_blocks() {
        let width = structure.width(k);
        structure.touched(k).iter().for_each(|&block| connected[block as usize] += width);
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by_cached_key(|&block| connected[block]);
    let mut set = first_of_neighbours(n, order.into_iter(), neighbours);
    set.sort_unstable();
    set
}

/// An independent set of `n` blocks: each block of an order of which no earlier block of the set is a neighbour.
pub(super) fn first_of_neighbours<N: Iterator<Item = usize>>(
    n: usize,
    order: impl Iterator<Item = usize>,
    neighbours: impl Fn(usize) -> N,
) -> Vec<usize> {
    let mut is_excluded = vec![false; n];
    let mut set = Vec::new();
    for block in order {
        if !is_excluded[block] {
            set.push(block);
            neighbours(block).for_each(|other| is_excluded[other] = true);
        }
    }
    set
}

/// Least number of columns that any independent set leaves: of the blocks that a residual block touches, it has one at most.
pub(super) fn least_kept(structure: &BlockStructure) -> usize {
    let mut is_counted = vec![false; structure.blocks()];
    let mut least = 0;
    for k in 0..structure.residual_blocks() {
        let mut largest = 0;
        for &block in structure.touched(k) {
            if !std::mem::replace(&mut is_counted[block as usize], true) {
                let size = structure.size(block as usize);
                least += size.min(largest);
                largest = largest.max(size);
            }
        }
    }
    least
}

/// Most blocks of columns that [`connected_share`] looks at.
const SAMPLE: usize = 16;

/// Share of the pairs of other blocks that the elimination of an independent set connects, by a sample of them.
pub(super) fn connected_share(structure: &BlockStructure, residual_blocks: &Lists<u32>, set: &[usize]) -> f64 {
    let touched = |block: usize| residual_blocks.of(block).iter().flat_map(|&k| structure.touched(k as usize));
    let mut is_eliminated = vec![false; structure.blocks()];
    set.iter().for_each(|&block| is_eliminated[block] = true);
    let kept: Vec<usize> = (0..structure.blocks()).filter(|&block| !is_eliminated[block]).collect();
    let mut seen_by = vec![usize::MAX; structure.blocks()];
    let (mut connected, mut sampled) = (0, 0);
    for &block in kept.iter().step_by(kept.len().div_ceil(SAMPLE).max(1)) {
        sampled += 1;
        for &eliminated in touched(block).filter(|&&other| is_eliminated[other as usize]) {
            if std::mem::replace(&mut seen_by[eliminated as usize], block) == block {
                continue;
            }
            let others = touched(eliminated as usize).filter(|&&other| !is_eliminated[other as usize]);
            connected += others.filter(|&&o| std::mem::replace(&mut seen_by[o as usize], block) != block).count();
        }
    }
    connected as f64 / (sampled * kept.len()).max(1) as f64
}

#[cfg(test)]
pub(in crate::linear) mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::{BlockJacobian, Evaluated};

    /// A structure without numbers.
    struct Stated {
        sizes: Vec<usize>,
        touched: Vec<Vec<usize>>,
    }

    impl BlockJacobian<f64> for Stated {
        fn column_blocks(&self) -> Vec<usize> {
            self.sizes.clone()
        }

        fn visit_structure(&self, visit: &mut dyn FnMut(&[usize])) {
            self.touched.iter().for_each(|touched| visit(touched));
        }

        fn linearize_blocks(&mut self, _: &[f64], _: &mut dyn FnMut(&[f64], &[f64])) -> Evaluated<f64> {
            Err("there are no numbers".into())
        }
    }

    /// Structure of residual blocks that touch these blocks of columns.
    pub(in crate::linear) fn structure(sizes: Vec<usize>, touched: Vec<Vec<usize>>) -> BlockStructure {
        let n = sizes.iter().sum();
        BlockStructure::new(&Stated { sizes, touched }, n).unwrap()
    }

    proptest! {
        #[test]
        fn no_two_of_the_set_share_a_residual_block_and_no_other_could_join(
            pairs in prop::collection::vec((0..12_usize, 0..12_usize, 0..12_usize), 0..25),
        ) {
            let touched: Vec<Vec<usize>> = pairs
                .into_iter()
                .map(|(a, b, c)| {
                    let mut own = vec![a, b, c];
                    own.sort_unstable();
                    own.dedup();
                    own
                })
                .collect();
            let structure = structure((1..13).collect(), touched.clone());
            let set = independent_set(&structure, &structure.residual_blocks_of_all());
            let kept = structure.columns() - set.iter().map(|&block| structure.size(block)).sum::<usize>();
            prop_assert!(least_kept(&structure) <= kept);
            let of_set = |own: &[usize]| own.iter().filter(|&block| set.contains(block)).count();
            prop_assert!(touched.iter().all(|own| of_set(own) <= 1));
            for block in (0..12).filter(|block| !set.contains(block)) {
                prop_assert!(touched.iter().any(|own| own.contains(&block) && of_set(own) > 0), "{block} could join");
            }
        }
    }

    #[test]
    fn points_seen_by_neighbours_connect_few_cameras_and_those_seen_by_any_connect_all() {
        let (cameras, points) = (200, 4000);
        let sizes = [vec![9; cameras], vec![3; points]].concat();
        let share = |step: usize| {
            let seen = (0..points)
                .flat_map(|p| (0..4).map(move |k| vec![(p * 7 + k * k * (1 + p % step)) % cameras, cameras + p]));
            let structure = structure(sizes.clone(), seen.collect());
            let residual_blocks = structure.residual_blocks_of_all();
            connected_share(&structure, &residual_blocks, &independent_set(&structure, &residual_blocks))
        };
        assert!(share(1) < 0.1 && share(97) > 0.5, "{} {}", share(1), share(97));
        let empty = structure(vec![], vec![]);
        assert_eq!(connected_share(&empty, &empty.residual_blocks_of_all(), &[]), 0.0);
    }

    #[test]
    fn the_depth_is_that_of_the_deepest_piece() {
        let depth = |structure: BlockStructure| structure.depth(&structure.residual_blocks_of_all());
        let chain = |n: usize, first: usize| (1..n).map(move |k| vec![first + k - 1, first + k]);
        assert_eq!(depth(structure(vec![], vec![])), 0);
        assert_eq!(depth(structure(vec![2; 5], vec![vec![0], vec![3]])), 0);
        assert_eq!(depth(structure(vec![2; 10], chain(10, 0).collect())), 9);
        // A ring is half as deep as it is long, and residual blocks of many blocks make all of them neighbours.
        assert_eq!(depth(structure(vec![2; 10], chain(10, 0).chain([vec![9, 0]]).collect())), 5);
        assert_eq!(depth(structure(vec![2; 10], chain(10, 0).chain([(0..10).collect()]).collect())), 1);
        assert_eq!(depth(structure(vec![2; 12], chain(4, 0).chain(chain(8, 4)).collect())), 7);
    }

    #[test]
    fn the_points_of_bundle_adjustment_are_eliminated() {
        let (cameras, points) = (4, 30);
        let sizes = [vec![9; cameras], vec![3; points]].concat();
        let touched = (0..points).flat_map(|point| (0..3).map(move |k| vec![(point + k) % cameras, cameras + point]));
        let structure = structure(sizes, touched.collect());
        assert!(least_kept(&structure) <= 9 * cameras);
        let set = independent_set(&structure, &structure.residual_blocks_of_all());
        assert_eq!(set, (cameras..cameras + points).collect::<Vec<_>>());
    }
}
