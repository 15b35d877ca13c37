//! Separators of a graph, by the multilevel method.

use std::collections::BinaryHeap;

use chacha20::ChaCha8Rng as Random;
use chacha20::rand_core::SeedableRng;

use crate::lists::Lists;
use crate::shuffle::shuffle;

/// No node.
const NONE: u32 = u32::MAX;

/// Most nodes of a graph that is separated directly, and the number of separators that are grown in it.
const COARSEST: usize = 100;
const SEEDS: usize = 4;

/// Least number of nodes of a large graph, the number of times that it is made coarser before several separators are tried, and
/// their number.
const LARGE: usize = 5000;
const LEVELS: usize = 5;
const TRIES: usize = 8;

/// Largest share of the nodes, by weight, on one side of a separator.
const MOST_ON_A_SIDE: f64 = 0.6;

/// Most passes of refinement, and most moves of a pass after its best separator.
const PASSES: usize = 20;
const PATIENCE: usize = 4000;

/// The side of the nodes that separate the sides 0 and 1.
pub(super) const BETWEEN: u8 = 2;

/// A graph whose nodes and edges have weights.
pub(super) struct WeightedGraph {
    pub(super) weights: Vec<u32>,
    /// Neighbours of each node, and the weight of the edge.
    pub(super) edges: Lists<(u32, u32)>,
}

/// A side for each node: 0 or 1, between which there is no edge, or that of the separator.
#[derive(Debug, Clone)]
pub(super) struct Separation {
    pub(super) sides: Vec<u8>,
    /// Weight of each side, and of the separator.
    pub(super) weights: [u64; 3],
}

impl WeightedGraph {
    /// Number of nodes.
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    fn weight(&self, node: u32) -> u64 {
        u64::from(self.weights[node as usize])
    }

    fn neighbours(&self, node: u32) -> impl Iterator<Item = u32> {
        self.edges.of(node as usize).iter().map(|&(neighbour, _)| neighbour)
    }

    /// Largest weight of a side.
    fn most(&self) -> u64 {
        let total: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        (MOST_ON_A_SIDE * total as f64).ceil() as u64
    }

    /// The nodes of a side, and the graph of them.
    pub(super) fn side(&self, sides: &[u8], side: u8) -> (Vec<u32>, WeightedGraph) {
        let nodes: Vec<u32> = (0..self.len() as u32).filter(|&i| sides[i as usize] == side).collect();
        let mut place = vec![NONE; self.len()];
        nodes.iter().enumerate().for_each(|(k, &node)| place[node as usize] = k as u32);
        let mut edges = Lists::new();
        for &node in &nodes {
            let own =
                self.edges.of(node as usize).iter().map(|&(neighbour, weight)| (place[neighbour as usize], weight));
            edges.items.extend(own.filter(|edge| edge.0 != NONE));
            edges.end();
        }
        let weights = nodes.iter().map(|&node| self.weights[node as usize]).collect();
        (nodes, WeightedGraph { weights, edges })
    }

    /// A small separator between sides of similar weight (Karypis & Kumar 1998): one of a coarser graph, refined. Deterministic.
    pub(super) fn separate(&self) -> Separation {
        let levels = if self.len() > LARGE { LEVELS } else { usize::MAX };
        self.separate_at(levels, &mut Random::seed_from_u64(0))
    }

    /// A small separator: the best of several where as many levels are above.
    fn separate_at(&self, levels: usize, random: &mut Random) -> Separation {
        if levels == 0 {
            let tries = (0..TRIES).map(|_| self.separate_at(usize::MAX, random));
            let most = self.most();
            return tries.min_by_key(|separation| separation.rank(most)).unwrap_or_else(|| self.whole());
        }
        let coarser = if self.len() > COARSEST { self.coarser(random) } else { None };
        let Some((coarse, coarse_of)) = coarser else {
            let seeds = SEEDS.min(self.len());
            let separations = (0..seeds).map(|k| self.separate_from((k * self.len() / seeds) as u32));
            let most = self.most();
            return separations.min_by_key(|separation| separation.rank(most)).unwrap_or_else(|| self.whole());
        };
        let Separation { sides, weights } = coarse.separate_at(levels - 1, random);
        drop(coarse);
        let sides = coarse_of.iter().map(|&node| sides[node as usize]).collect();
        self.refined(Separation { sides, weights })
    }

    /// A graph whose nodes are pairs of neighbours, by edges of large weight, and the node that each node became part of. `None` where few
    /// pairs are found.
    fn coarser(&self, random: &mut Random) -> Option<(WeightedGraph, Vec<u32>)> {
        let n = self.len();
        let total: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let heaviest = 3 * total / (2 * COARSEST as u64);
        // Nodes of few neighbours first: others find a partner in any case.
        let degree = |i: usize| self.edges.of(i).len().min(n - 1);
        let mut nodes: Vec<u32> = (0..n as u32).collect();
        shuffle(&mut nodes, random);
        let by_degree = Lists::sorted(n, nodes.iter().map(|&i| (degree(i as usize), i)));
        let mut partners = vec![NONE; n];
        for &i in &by_degree.items {
            if partners[i as usize] != NONE {
                continue;
            }
            let free = self
                .edges
                .of(i as usize)
                .iter()
                .filter(|&&(j, _)| partners[j as usize] == NONE && self.weight(i) + self.weight(j) <= heaviest);
            let partner = free.max_by_key(|&&(j, weight)| (weight, std::cmp::Reverse(self.weights[j as usize])));
            let j = partner.map_or(i, |&(j, _)| j);
            (partners[i as usize], partners[j as usize]) = (j, i);
        }
        // In the order of the nodes, whose neighbours are near.
        let pairs = (0..n as u32).zip(&partners).filter(|&(i, &j)| i <= j);
        let members: Vec<[u32; 2]> = pairs.map(|(i, &j)| [i, j]).collect();
        let mut coarse_of = partners;
        for (k, pair) in members.iter().enumerate() {
            pair.iter().for_each(|&node| coarse_of[node as usize] = k as u32);
        }
        if members.len() * 20 > n * 19 {
            return None;
        }
        let mut edges: Lists<(u32, u32)> = Lists::new();
        edges.items.reserve(self.edges.items.len() / 2);
        // Place of the edge to each node, from the start of the current list.
        let mut places = vec![0_usize; members.len()];
        let mut weights = Vec::with_capacity(members.len());
        for (k, &[i, j]) in members.iter().enumerate() {
            let start = edges.items.len();
            let own = if i == j { &[i][..] } else { &[i, j] };
            weights.push(own.iter().map(|&node| self.weights[node as usize]).sum());
            for &(neighbour, weight) in own.iter().flat_map(|&node| self.edges.of(node as usize)) {
                let other = coarse_of[neighbour as usize];
                if other as usize == k {
                    continue;
                }
                match edges.items.get_mut(places[other as usize]).filter(|edge| edge.0 == other) {
                    Some(edge) if places[other as usize] >= start => edge.1 += weight,
                    _ => {
                        places[other as usize] = edges.items.len();
                        edges.items.push((other, weight));
                    }
                }
            }
            edges.end();
        }
        Some((WeightedGraph { weights, edges }, coarse_of))
    }

    /// All nodes on one side.
    fn whole(&self) -> Separation {
        let total = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        Separation { sides: vec![1; self.len()], weights: [0, total, 0] }
    }

    /// A separator that is grown from a node until both sides have the same weight, and refined.
    fn separate_from(&self, seed: u32) -> Separation {
        let mut refinement = Refinement::new(self, self.whole());
        let mut next = seed;
        loop {
            let [grown, rest, _] = refinement.separation.weights;
            if grown >= rest {
                break;
            }
            match refinement.queues[0].pop() {
                Some(entry) if refinement.is_current(entry, 0) => {
                    refinement.advance(entry.1, 0);
                }
                Some(_) => {}
                // Of another connected piece, or the first.
                None => {
                    while refinement.separation.sides[next as usize] != 1 {
                        next = (next + 1) % self.len() as u32;
                    }
                    refinement.pull(next);
                }
            }
        }
        self.refined(refinement.separation)
    }

    /// The separation after passes that move single nodes (Fiduccia & Mattheyses 1982).
    fn refined(&self, mut separation: Separation) -> Separation {
        let most = self.most();
        let mut side = usize::from(separation.weights[0] > separation.weights[1]);
        let mut in_vain = 0;
        for _ in 0..PASSES {
            let before = separation.rank(most);
            separation = Refinement::new(self, separation).pass(side, most);
            in_vain = if separation.rank(most) < before { 0 } else { in_vain + 1 };
            if in_vain == 2 {
                break;
            }
            side = 1 - side;
        }
        separation
    }
}

impl Separation {
    /// Smaller for better separations: sides that are not too heavy, a light separator, similar sides.
    fn rank(&self, most: u64) -> [u64; 3] {
        let [a, b, between] = self.weights;
        [a.max(b).saturating_sub(most), between, a.abs_diff(b)]
    }

    fn place(&mut self, node: u32, weight: u64, side: u8) {
        let before = std::mem::replace(&mut self.sides[node as usize], side);
        self.weights[usize::from(before)] -= weight;
        self.weights[usize::from(side)] += weight;
    }
}

/// A node of the separator that may move, by the weight that the separator then loses.
type Entry = (i64, u32);

/// A pass over the nodes of a separator.
struct Refinement<'g> {
    graph: &'g WeightedGraph,
    separation: Separation,
    /// Weight of the neighbours on each side, of nodes of the separator.
    beside: Vec<[u64; 2]>,
    /// True for nodes that have moved out of the separator.
    has_moved: Vec<bool>,
    /// Nodes that may move to each side; those whose gain has changed since are passed over.
    queues: [BinaryHeap<Entry>; 2],
    /// Nodes that came into the separator by a move; scratch.
    pulled: Vec<u32>,
}

impl<'g> Refinement<'g> {
    fn new(graph: &'g WeightedGraph, separation: Separation) -> Self {
        let n = graph.len();
        let mut refinement = Refinement {
            graph,
            separation,
            beside: vec![[0; 2]; n],
            has_moved: vec![false; n],
            queues: [const { BinaryHeap::new() }; 2],
            pulled: Vec::new(),
        };
        for node in 0..n as u32 {
            if refinement.separation.sides[node as usize] == BETWEEN {
                refinement.enter(node);
            }
        }
        refinement
    }

    /// Weight that the separator loses by the move of one of its nodes.
    fn gain(&self, node: u32, side: usize) -> i64 {
        self.graph.weight(node) as i64 - self.beside[node as usize][1 - side] as i64
    }

    fn is_current(&self, (gain, node): Entry, side: usize) -> bool {
        self.separation.sides[node as usize] == BETWEEN
            && !self.has_moved[node as usize]
            && gain == self.gain(node, side)
    }

    /// Weighs what is beside a node of the separator, and queues it.
    fn enter(&mut self, node: u32) {
        let mut beside = [0; 2];
        for neighbour in self.graph.neighbours(node) {
            if let Some(weight) = beside.get_mut(usize::from(self.separation.sides[neighbour as usize])) {
                *weight += self.graph.weight(neighbour);
            }
        }
        self.beside[node as usize] = beside;
        (0..2).for_each(|side| self.queue(node, side));
    }

    fn queue(&mut self, node: u32, side: usize) {
        if !self.has_moved[node as usize] {
            self.queues[side].push((self.gain(node, side), node));
        }
    }

    /// Moves a node of a side into the separator.
    fn pull(&mut self, node: u32) {
        let (weight, side) = (self.graph.weight(node), usize::from(self.separation.sides[node as usize]));
        self.separation.place(node, weight, BETWEEN);
        self.enter(node);
        for neighbour in self.graph.neighbours(node) {
            if self.separation.sides[neighbour as usize] == BETWEEN {
                self.beside[neighbour as usize][side] -= weight;
                self.queue(neighbour, 1 - side);
            }
        }
    }

    /// Moves a node of the separator to a side, and its neighbours on the other side into the separator, where they are listed.
    fn advance(&mut self, node: u32, side: usize) -> &[u32] {
        let weight = self.graph.weight(node);
        self.separation.place(node, weight, side as u8);
        self.has_moved[node as usize] = true;
        self.pulled.clear();
        for neighbour in self.graph.neighbours(node) {
            match self.separation.sides[neighbour as usize] {
                BETWEEN => {
                    self.beside[neighbour as usize][side] += weight;
                    self.queue(neighbour, 1 - side);
                }
                other if usize::from(other) != side => self.pulled.push(neighbour),
                _ => {}
            }
        }
        for k in 0..self.pulled.len() {
            self.pull(self.pulled[k]);
        }
        &self.pulled
    }

    /// Moves nodes, the best first, and takes those after the best separation back.
    fn pass(mut self, side: usize, most: u64) -> Separation {
        let mut best = self.separation.rank(most);
        let nodes = self.separation.sides.iter().filter(|&&side| side == BETWEEN).count();
        let patience = (2 * nodes).clamp(10, PATIENCE);
        // The moves after the best separation: the node, the side that it was on, and the weight.
        let mut changes: Vec<(u32, u8)> = Vec::new();
        let mut moves = 0;
        while let Some(entry) = self.queues[side].pop() {
            let node = entry.1;
            if !self.is_current(entry, side) {
                continue;
            }
            if self.separation.weights[side] + self.graph.weight(node) > most {
                break;
            }
            changes.push((node, BETWEEN));
            let pulled = self.advance(node, side);
            changes.extend(pulled.iter().map(|&node| (node, 1 - side as u8)));
            moves += 1;
            let rank = self.separation.rank(most);
            if rank < best {
                best = rank;
                changes.clear();
                moves = 0;
            } else if moves > 3 * patience || moves > patience && 10 * rank[1] > 11 * best[1] {
                break;
            }
        }
        for &(node, side) in changes.iter().rev() {
            self.separation.place(node, self.graph.weight(node), side);
        }
        self.separation
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// A graph of weighted nodes, with these pairs of neighbours.
    fn weighted(weights: Vec<u32>, pairs: impl Iterator<Item = (usize, usize)> + Clone) -> WeightedGraph {
        let both = pairs.flat_map(|(i, j)| [(i, (j as u32, 1)), (j, (i as u32, 1))]);
        WeightedGraph { edges: Lists::sorted(weights.len(), both), weights }
    }

    fn check(graph: &WeightedGraph, separation: &Separation) {
        let mut weights = [0; 3];
        for node in 0..graph.len() as u32 {
            let side = separation.sides[node as usize];
            weights[usize::from(side)] += graph.weight(node);
            for other in graph.neighbours(node) {
                let other = separation.sides[other as usize];
                assert!(side == other || side == BETWEEN || other == BETWEEN, "an edge from side {side} to {other}");
            }
        }
        assert_eq!(weights, separation.weights);
    }

    proptest! {
        #[test]
        fn no_edge_crosses_a_separator(
            (weights, pairs) in (2..600_usize).prop_flat_map(|n| (vec(1..9_u32, n), vec((0..n, 0..n), 0..3 * n))),
        ) {
            let n = weights.len();
            let mut pairs: Vec<_> = pairs.into_iter().filter(|(i, j)| i != j).map(|(i, j)| (i.min(j), i.max(j))).collect();
            pairs.extend((1..n / 2).map(|i| (i - 1, i)));
            pairs.sort_unstable();
            pairs.dedup();
            let graph = weighted(weights, pairs.iter().copied());
            let separation = graph.separate();
            check(&graph, &separation);
            let sides: Vec<_> = [0, 1].into_iter().map(|side| graph.side(&separation.sides, side)).collect();
            for (nodes, part) in &sides {
                prop_assert_eq!(nodes.len(), part.len());
                let edges = nodes.iter().map(|&node| {
                    let own = separation.sides[node as usize];
                    graph.neighbours(node).filter(|&other| separation.sides[other as usize] == own).count()
                });
                prop_assert_eq!(edges.sum::<usize>(), part.edges.items.len());
            }
        }
    }

    /// The least separators of a long grid are its short rows.
    #[test]
    fn a_long_grid_is_cut_across() {
        let (across, along) = (12, 400);
        let pairs = (0..across * along).flat_map(|k| {
            let beside = (k % across > 0).then(|| (k - 1, k));
            beside.into_iter().chain((k >= across).then(|| (k - across, k)))
        });
        let graph = weighted(vec![3; across * along], pairs);
        let separation = graph.separate();
        check(&graph, &separation);
        assert_eq!(separation.weights[2], 3 * across as u64);
        assert!(separation.weights[0].abs_diff(separation.weights[1]) < graph.most() / 3, "{:?}", separation.weights);
    }

    #[test]
    fn pieces_need_no_separator() {
        // Of 50 rings, and of nodes without neighbours.
        let rings = (0..1500).map(|k| (k, if k % 30 == 29 { k - 29 } else { k + 1 }));
        for graph in [weighted(vec![1; 1500], rings), weighted(vec![2; 1500], std::iter::empty())] {
            let separation = graph.separate();
            check(&graph, &separation);
            assert!(separation.weights[2] <= 4, "{:?}", separation.weights);
            assert!(separation.rank(graph.most())[0] == 0, "{:?}", separation.weights);
        }
    }

    /// A star has one separator; a single node has none.
    #[test]
    fn small_and_lopsided_graphs_are_separated() {
        let star = weighted(vec![1; 1000], (1..1000).map(|k| (0, k)));
        let separation = star.separate();
        check(&star, &separation);
        assert_eq!((separation.sides[0], separation.weights[2]), (BETWEEN, 1));
        for n in 0..4 {
            let path = weighted(vec![1; n], (1..n).map(|k| (k - 1, k)));
            check(&path, &path.separate());
        }
        let heavy = weighted(vec![u32::MAX, 1, u32::MAX, 1], [(0, 1), (1, 2), (2, 3)].into_iter());
        check(&heavy, &heavy.separate());
    }
}
