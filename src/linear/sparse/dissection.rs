//! Nested dissection.

use super::separator::{BETWEEN, WeightedGraph};
use crate::lists::Lists;
use crate::parallel;

/// Number of nodes up to which a part is not divided.
const FEW: usize = 200;

/// Largest share of a separator in the weight of its part, and of a side: beyond, the part is not divided.
const MOST_BETWEEN: f64 = 0.3;
const MOST_ON_A_SIDE: f64 = 0.8;

/// Sets of nodes that are eliminated one after the other (George 1973): parts of the graph, each behind those that it separates from each
/// other. Nodes that are not taken are in no set. Deterministic.
pub(super) fn nested_dissection(
    graph: &Lists<u32>,
    sizes: impl Fn(usize) -> usize,
    is_taken: impl Fn(usize) -> bool,
) -> Lists<u32> {
    let edges =
        Lists { starts: graph.starts.clone(), items: graph.items.iter().map(|&neighbour| (neighbour, 1)).collect() };
    let all = WeightedGraph { weights: (0..graph.len()).map(|i| sizes(i) as u32).collect(), edges };
    let sides: Vec<u8> = (0..graph.len()).map(|i| u8::from(!is_taken(i))).collect();
    let (nodes, taken) = all.side(&sides, 0);
    drop(all);
    dissected(nodes, taken)
}

/// The sets of nodes of a part, by their names.
fn dissected(names: Vec<u32>, graph: WeightedGraph) -> Lists<u32> {
    let mut sets = Lists::new();
    if graph.len() <= FEW {
        sets.push(&names);
        return sets;
    }
    let separation = graph.separate();
    let [a, b, between] = separation.weights.map(|weight| weight as f64);
    let total = a + b + between;
    if between > MOST_BETWEEN * total || a.max(b) > MOST_ON_A_SIDE * total {
        sets.push(&names);
        return sets;
    }
    let name = |node: &u32| names[*node as usize];
    let [first, second] = [0, 1].map(|side| {
        let (nodes, graph) = graph.side(&separation.sides, side);
        (nodes.iter().map(name).collect::<Vec<u32>>(), graph)
    });
    drop(graph);
    let between = names.iter().zip(&separation.sides).filter(|&(_, &side)| side == BETWEEN);
    let separator: Vec<u32> = between.map(|(&name, _)| name).collect();
    let mut of_sides = [Lists::new(), Lists::new()];
    let [of_first, of_second] = &mut of_sides;
    parallel::join(|| *of_first = dissected(first.0, first.1), || *of_second = dissected(second.0, second.1));
    for of_side in of_sides {
        (0..of_side.len()).for_each(|k| sets.push(of_side.of(k)));
    }
    sets.push(&separator);
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Neighbours in a square grid.
    fn grid(side: usize) -> Lists<u32> {
        let pairs = (0..side * side).flat_map(|k| {
            let across = (k % side > 0).then(|| [k, k - 1]);
            across.into_iter().chain((k >= side).then(|| [k, k - side]))
        });
        Lists::sorted(side * side, pairs.flat_map(|[i, j]| [(i, j as u32), (j, i as u32)]))
    }

    /// The set of each node.
    fn set_of(graph: &Lists<u32>, sets: &Lists<u32>) -> Vec<Option<usize>> {
        let mut set_of = vec![None; graph.len()];
        for k in 0..sets.len() {
            for &node in sets.of(k) {
                assert_eq!(set_of[node as usize].replace(k), None, "node {node} twice");
            }
        }
        set_of
    }

    /// A node of a set reaches a node of another by nodes of no later set only if the path is through the later of the two.
    #[test]
    fn sets_are_separated_by_later_ones() {
        let graph = grid(40);
        let sets = nested_dissection(&graph, |_| 3, |_| true);
        let set_of = set_of(&graph, &sets);
        assert!(sets.len() > 8 && set_of.iter().all(Option::is_some));
        for last in 0..sets.len() {
            // The sets that a connected piece of the earlier ones and this one has are its own, and those that it separates.
            let mut seen = vec![false; graph.len()];
            for start in (0..graph.len()).filter(|&node| set_of[node] < Some(last)) {
                let mut stack = vec![start];
                let mut of_piece = std::collections::BTreeSet::new();
                while let Some(node) = stack.pop() {
                    if set_of[node] < Some(last) && !std::mem::replace(&mut seen[node], true) {
                        of_piece.insert(set_of[node]);
                        stack.extend(graph.of(node).iter().map(|&other| other as usize));
                    }
                }
                let count = of_piece.len();
                let all_but_latest = of_piece.iter().rev().skip(1);
                assert!(count < 2 || all_but_latest.copied().all(|set| set < of_piece.last().copied().flatten()));
            }
        }
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn the_number_of_threads_changes_no_set() {
        let graph = grid(90);
        let of_threads = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let sets = pool.install(|| nested_dissection(&graph, |_| 3, |_| true));
            (sets.starts, sets.items)
        });
        assert!(of_threads[0].0.len() > 50 && of_threads.iter().all(|sets| *sets == of_threads[0]));
    }

    #[test]
    fn nodes_that_are_not_taken_are_in_no_set() {
        let graph = grid(20);
        let set_of = set_of(&graph, &nested_dissection(&graph, |_| 1, |node| !node.is_multiple_of(3)));
        assert!(set_of.iter().enumerate().all(|(node, set)| set.is_some() != node.is_multiple_of(3)));
        let none = nested_dissection(&Lists::new(), |_| 1, |_| true);
        assert!(none.items.is_empty());
    }

    /// All nodes are neighbours: nothing separates them.
    #[test]
    fn a_full_graph_is_one_set() {
        let full =
            Lists::sorted(300, (0..300).flat_map(|i| (0..300).filter(move |&j| j != i).map(move |j| (i, j as u32))));
        assert_eq!(nested_dissection(&full, |_| 6, |_| true).len(), 1);
    }
}
