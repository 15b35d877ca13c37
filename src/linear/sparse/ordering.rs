//! Fill-reducing order: approximate minimum degree.

use super::pattern::BlockPattern;
use crate::lists::Lists;

/// No node.
const NONE: usize = usize::MAX;

/// Neighbours of each block in the graph of a pattern, without the block itself.
pub(super) fn neighbours(pattern: &BlockPattern) -> Lists<u32> {
    let pairs = pattern.stored().filter(|block| block.i != block.j);
    Lists::sorted(pattern.blocks(), pairs.flat_map(|block| [(block.i, block.j as u32), (block.j, block.i as u32)]))
}

/// Returns true for a block with very many neighbours, which is best eliminated last.
pub(super) fn is_dense(graph: &Lists<u32>, block: usize) -> bool {
    graph.of(block).len() > (10.0 * (graph.len() as f64).sqrt()).max(16.0) as usize
}

/// The order in which blocks are eliminated, by approximate minimum degree (Amestoy, Davis & Duff 1996), each block counted
/// with its size. The blocks of each of the disjoint `sets` come before those of the next, and those in no set come last. Deterministic.
pub(super) fn minimum_degree(graph: &Lists<u32>, sizes: impl Fn(usize) -> usize, sets: &Lists<u32>) -> Vec<u32> {
    let n = graph.len();
    let mut quotient = Quotient::new(graph, sizes, sets);
    while let Some(pivot) = quotient.pop_minimum() {
        quotient.eliminate(pivot);
    }
    let mut order = Vec::with_capacity(n);
    for &pivot in &quotient.pivots {
        let mut node = pivot;
        while node != NONE {
            order.push(node as u32);
            node = quotient.chain[node];
        }
    }
    order.extend(quotient.last.iter().map(|&node| node as u32));
    order
}

/// The quotient graph: variables that are to be eliminated, and elements, cliques that eliminated variables left behind.
///
/// A variable lists first its elements, and then the variables that no element of its connects it to.
struct Quotient<'s> {
    /// Variables by the set that they are in, the set of each variable, the current set (none before the first), and the number of its
    /// variables under a degree.
    sets: &'s Lists<u32>,
    set: Vec<usize>,
    current: usize,
    filed: usize,
    /// Lists of variables.
    lists: Vec<u32>,
    start: Vec<usize>,
    len: Vec<usize>,
    /// Number of elements in the list of a variable.
    elements: Vec<usize>,
    /// Lists of elements, one behind the other.
    cliques: Vec<u32>,
    /// Columns of a variable and of those merged with it; negative in the element that is being made; zero for others.
    weight: Vec<i64>,
    /// Approximate external degree of a variable; size of an element.
    degree: Vec<i64>,
    /// Marks; zero for elements that are absorbed.
    mark: Vec<i64>,
    /// Largest mark in use.
    stamp: i64,
    /// First variable of each degree, of those in the current set.
    heads: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// No variable has a smaller degree.
    least: usize,
    /// Next of the nodes that are eliminated together, and the last of them.
    chain: Vec<usize>,
    chain_end: Vec<usize>,
    /// Total weight of variables not yet eliminated.
    left: i64,
    pivots: Vec<usize>,
    /// Nodes left to the end, by ascending number of neighbours.
    last: Vec<usize>,
    /// Variables of the element being made, by their hash.
    hashes: Vec<(u64, u32)>,
}

impl<'s> Quotient<'s> {
    fn new(graph: &Lists<u32>, sizes: impl Fn(usize) -> usize, sets: &'s Lists<u32>) -> Self {
        let n = graph.len();
        let mut set = vec![NONE; n];
        for k in 0..sets.len() {
            sets.of(k).iter().for_each(|&i| set[i as usize] = k);
        }
        let mut last: Vec<usize> = (0..n).filter(|&i| set[i] == NONE).collect();
        last.sort_by_cached_key(|&i| graph.of(i).len());
        let weight: Vec<i64> = (0..n).map(|i| if set[i] == NONE { 0 } else { sizes(i).max(1) as i64 }).collect();
        let left: i64 = weight.iter().sum();
        let degree = |i: usize| graph.of(i).iter().map(|&j| weight[j as usize]).sum();
        Quotient {
            sets,
            set,
            current: NONE,
            filed: 0,
            lists: graph.items.clone(),
            start: graph.starts[..n].to_vec(),
            len: (0..n).map(|i| graph.of(i).len()).collect(),
            elements: vec![0; n],
            cliques: Vec::with_capacity(graph.items.len()),
            degree: (0..n).map(degree).collect(),
            mark: vec![1; n],
            stamp: 2,
            heads: vec![NONE; left as usize + 1],
            next: vec![NONE; n],
            previous: vec![NONE; n],
            least: 0,
            chain: vec![NONE; n],
            chain_end: (0..n).collect(),
            left,
            pivots: Vec::with_capacity(n),
            last,
            hashes: Vec::new(),
            weight,
        }
    }

    /// Files a variable of the current set under its degree.
    fn push(&mut self, i: usize) {
        if self.set[i] != self.current {
            return;
        }
        self.filed += 1;
        let degree = self.degree[i] as usize;
        let head = self.heads[degree];
        if head != NONE {
            self.previous[head] = i;
        }
        self.next[i] = head;
        self.previous[i] = NONE;
        self.heads[degree] = i;
        self.least = self.least.min(degree);
    }

    /// Takes a variable from under its degree.
    fn remove(&mut self, i: usize) {
        if self.set[i] != self.current {
            return;
        }
        self.filed -= 1;
        let (previous, next) = (self.previous[i], self.next[i]);
        if next != NONE {
            self.previous[next] = previous;
        }
        if previous == NONE {
            self.heads[self.degree[i] as usize] = next;
        } else {
            self.next[previous] = next;
        }
    }

    /// A variable of least degree of the current set, or of the next one that is not empty.
    fn pop_minimum(&mut self) -> Option<usize> {
        if self.left == 0 {
            return None;
        }
        while self.filed == 0 {
            self.enter_set();
        }
        while self.heads[self.least] == NONE {
            self.least += 1;
        }
        let pivot = self.heads[self.least];
        self.remove(pivot);
        Some(pivot)
    }

    /// Files the variables of the next set.
    fn enter_set(&mut self) {
        let sets = self.sets;
        self.current = self.current.wrapping_add(1);
        for &i in sets.of(self.current).iter().rev() {
            if self.weight[i as usize] > 0 {
                self.push(i as usize);
            }
        }
    }

    /// Appends node `j`, with those behind it, to the nodes that are eliminated together with `i`.
    fn join(&mut self, i: usize, j: usize) {
        self.chain[self.chain_end[i]] = j;
        self.chain_end[i] = self.chain_end[j];
        self.weight[j] = 0;
    }

    /// Makes the pivot an element, and updates the degrees of its variables.
    fn eliminate(&mut self, pivot: usize) {
        self.pivots.push(pivot);
        let mut pivot_weight = self.weight[pivot];
        self.weight[pivot] = 0;
        let first = self.cliques.len();
        let mut size = self.gather(pivot);
        let end = self.cliques.len();
        self.count_outside(first..end);

        self.hashes.clear();
        for k in first..end {
            let i = self.cliques[k] as usize;
            match self.approximate_degree(i, pivot) {
                Some((degree, hash)) => {
                    self.degree[i] = self.degree[i].min(degree);
                    self.hashes.push((hash, i as u32));
                }
                None => {
                    let weight = -self.weight[i];
                    size -= weight;
                    pivot_weight += weight;
                    self.join(pivot, i);
                }
            }
        }
        self.merge_alike();

        self.left -= pivot_weight;
        let mut kept = first;
        for k in first..end {
            let i = self.cliques[k] as usize;
            let weight = -self.weight[i];
            if weight == 0 {
                continue;
            }
            self.weight[i] = weight;
            self.degree[i] = (self.degree[i] + size - weight).min(self.left - weight).max(0);
            self.push(i);
            self.cliques[kept] = i as u32;
            kept += 1;
        }
        self.cliques.truncate(kept);
        self.start[pivot] = first;
        self.len[pivot] = kept - first;
        self.degree[pivot] = size;
        self.mark[pivot] = if kept > first { self.stamp } else { 0 };
        self.stamp += self.left.max(size) + 1;
    }

    /// Lists the variables of the pivot's element, which absorbs the pivot's elements; returns their weight.
    fn gather(&mut self, pivot: usize) -> i64 {
        let mut size = 0;
        let list = self.start[pivot]..self.start[pivot] + self.len[pivot];
        let elements = self.elements[pivot];
        for (k, at) in list.enumerate() {
            let node = self.lists[at] as usize;
            if k >= elements {
                size += self.take(node);
            } else if self.mark[node] != 0 {
                for at in self.start[node]..self.start[node] + self.len[node] {
                    size += self.take(self.cliques[at] as usize);
                }
                self.mark[node] = 0;
            }
        }
        size
    }

    /// Takes a variable into the element being made, if it is one and not yet there; returns its weight.
    fn take(&mut self, i: usize) -> i64 {
        let weight = self.weight[i];
        if weight <= 0 {
            return 0;
        }
        self.weight[i] = -weight;
        self.cliques.push(i as u32);
        self.remove(i);
        weight
    }

    /// Sets `mark − stamp` of each element adjacent to the variables to the weight of its variables outside of them.
    fn count_outside(&mut self, variables: std::ops::Range<usize>) {
        for k in variables {
            let i = self.cliques[k] as usize;
            let weight = -self.weight[i];
            for at in self.start[i]..self.start[i] + self.elements[i] {
                let element = self.lists[at] as usize;
                let mark = self.mark[element];
                if mark >= self.stamp {
                    self.mark[element] = mark - weight;
                } else if mark != 0 {
                    self.mark[element] = self.degree[element] + self.stamp - weight;
                }
            }
        }
    }

    /// Removes the variables of the pivot's element from the list of variable `i`, and puts the element first. Returns an upper bound of
    /// the degree without the element, and a hash of the list; `None` if the list is then empty.
    fn approximate_degree(&mut self, i: usize, pivot: usize) -> Option<(i64, u64)> {
        let (start, len, elements) = (self.start[i], self.len[i], self.elements[i]);
        let (mut degree, mut hash, mut kept) = (0, pivot as u64, start);
        for at in start..start + elements {
            let element = self.lists[at] as usize;
            if self.mark[element] == 0 {
                continue;
            }
            let outside = self.mark[element] - self.stamp;
            if outside > 0 {
                degree += outside;
                hash += element as u64;
                self.lists[kept] = element as u32;
                kept += 1;
            } else {
                self.mark[element] = 0;
            }
        }
        let first_variable = kept;
        for at in start + elements..start + len {
            let variable = self.lists[at] as usize;
            let weight = self.weight[variable];
            if weight > 0 {
                degree += weight;
                hash += variable as u64;
                self.lists[kept] = variable as u32;
                kept += 1;
            }
        }
        if degree == 0 && self.set[i] == self.current {
            return None;
        }
        // The list does not grow: the pivot, or an element that it absorbed, has been removed.
        self.lists[kept] = self.lists[first_variable];
        self.lists[first_variable] = self.lists[start];
        self.lists[start] = pivot as u32;
        self.elements[i] = first_variable - start + 1;
        self.len[i] = kept - start + 1;
        Some((degree, hash))
    }

    /// Merges variables of the element being made that have the same lists.
    fn merge_alike(&mut self) {
        self.stamp += self.left + 1;
        self.hashes.sort_unstable();
        let hashes = std::mem::take(&mut self.hashes);
        for (k, &(hash, i)) in hashes.iter().enumerate() {
            let i = i as usize;
            if self.weight[i] == 0 || hashes.get(k + 1).is_none_or(|next| next.0 != hash) {
                continue;
            }
            self.stamp += 1;
            for at in self.start[i]..self.start[i] + self.len[i] {
                let node = self.lists[at] as usize;
                if self.mark[node] != 0 {
                    self.mark[node] = self.stamp;
                }
            }
            for &(_, j) in hashes[k + 1..].iter().take_while(|other| other.0 == hash) {
                let j = j as usize;
                let alike = self.weight[j] != 0
                    && self.set[i] == self.set[j]
                    && self.len[i] == self.len[j]
                    && self.elements[i] == self.elements[j]
                    && self.lists[self.start[j]..][..self.len[j]].iter().all(|&k| self.mark[k as usize] == self.stamp);
                if alike {
                    self.weight[i] += self.weight[j];
                    self.join(i, j);
                }
            }
        }
        self.hashes = hashes;
        self.stamp += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::structures;
    use super::*;

    proptest! {
        #[test]
        fn sets_come_one_after_the_other((sizes, pairs) in structures(), sets_of in proptest::collection::vec(0..4_usize, 20)) {
            let n = sizes.len();
            let graph = neighbours(&BlockPattern::new(&sizes, &pairs).unwrap());
            // Those of the last set are in none.
            let sets = Lists::sorted(3, (0..n).filter(|&i| sets_of[i] < 3).map(|i| (sets_of[i], i as u32)).collect::<Vec<_>>().into_iter());
            let order = minimum_degree(&graph, |i| sizes[i], &sets);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert!(sorted.iter().copied().eq(0..n as u32), "{order:?}");
            prop_assert!(order.is_sorted_by_key(|&i| sets_of[i as usize]), "{order:?}");
        }
    }
}
