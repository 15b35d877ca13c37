//! Bayes tree: a factor of normal equations that are changed a few terms at a time.

use super::front_sums::FrontSums;
use super::pattern::{BlockPattern, TooLarge};
use super::symbolic::SymbolicCholesky;
use crate::kernels::front::SolveBackward;
use crate::kernels::simd;
use crate::linear::IllConditioned;
use crate::real::Real;

/// No clique, and no place.
const NONE: usize = usize::MAX;

/// Products of the rows of one residual block.
#[derive(Debug, Clone, Default)]
pub(crate) struct Term<T> {
    /// Blocks of columns.
    pub(crate) blocks: Vec<u32>,
    /// `[J r]ᵀ[J r]` by rows, of which the upper triangle counts; empty for a term that is left out.
    pub(crate) gram: Vec<T>,
}

/// A supernode of the factor, with the right-hand side as the last column of its front.
#[derive(Debug, Clone, Default)]
struct Clique<T> {
    frontal: Vec<u32>,
    separator: Vec<u32>,
    parent: usize,
    children: Vec<usize>,
    panel: Vec<T>,
    /// Inverse diagonal of the factor.
    inverses: Vec<T>,
    /// Schur complement of the frontal blocks, for the separator.
    update: Vec<T>,
    is_removed: bool,
}

/// Factor of a sum of terms, and the solution of its normal equations (Kaess, Johannsson, Roberts, Ila, Leonard & Dellaert 2012).
///
/// A change of terms removes the cliques of their blocks and the ancestors of those. The blocks of the removed cliques are put into a new
/// order and eliminated again, with what the remaining subtrees have left for them.
#[derive(Debug, Clone)]
pub(crate) struct BayesTree<T> {
    /// First entry of each block in the solution, and the number of entries.
    offsets: Vec<usize>,
    solution: Vec<T>,
    clique_of: Vec<usize>,
    cliques: Vec<Clique<T>>,
    /// Cliques that are not in use.
    free: Vec<usize>,
    terms: Vec<Term<T>>,
    /// Terms of each block.
    terms_of: Vec<Vec<u32>>,
    /// Place of each block among those that are eliminated again.
    places: Vec<usize>,
    is_changed: Vec<bool>,
    /// Number of blocks that the last change has eliminated.
    eliminated: usize,
}

impl<T: Real> BayesTree<T> {
    /// A tree without blocks.
    pub(crate) fn new() -> Self {
        BayesTree {
            offsets: vec![0],
            solution: Vec::new(),
            clique_of: Vec::new(),
            cliques: Vec::new(),
            free: Vec::new(),
            terms: Vec::new(),
            terms_of: Vec::new(),
            places: Vec::new(),
            is_changed: Vec::new(),
            eliminated: 0,
        }
    }

    /// Adds a block of so many columns.
    pub(crate) fn add_block(&mut self, size: usize) {
        self.solution.resize(self.solution.len() + size, T::ZERO);
        self.offsets.push(self.solution.len());
        self.clique_of.push(NONE);
        self.terms_of.push(Vec::new());
        self.places.push(NONE);
        self.is_changed.push(false);
    }

    fn size(&self, block: u32) -> usize {
        self.offsets[block as usize + 1] - self.offsets[block as usize]
    }

    /// Solution of a block, `−H⁻¹Jᵀr`.
    pub(crate) fn solution(&self, block: usize) -> &[T] {
        &self.solution[self.offsets[block]..self.offsets[block + 1]]
    }

    /// Sets the solution of a block to zero, because its terms will be those at another point.
    pub(crate) fn clear_solution(&mut self, block: usize) {
        self.solution[self.offsets[block]..self.offsets[block + 1]].fill(T::ZERO);
    }

    /// Terms of a block.
    pub(crate) fn terms_of(&self, block: usize) -> &[u32] {
        &self.terms_of[block]
    }

    /// Number of blocks that the last change has eliminated.
    pub(crate) fn eliminated(&self) -> usize {
        self.eliminated
    }

    /// Replaces terms, or adds those that follow the last one. Returns the blocks with a solution that changes by more than `threshold`;
    /// smaller changes are left out. `last` are the blocks that are likely to be changed next. A tree that has failed is of no use.
    pub(crate) fn change(
        &mut self,
        changed: Vec<(usize, Term<T>)>,
        last: &[u32],
        threshold: T,
    ) -> Result<Vec<usize>, IllConditioned> {
        let blocks = self.remove(&changed);
        for (k, term) in changed {
            if k == self.terms.len() {
                term.blocks.iter().for_each(|&block| self.terms_of[block as usize].push(k as u32));
                self.terms.push(term);
            } else {
                self.terms[k].gram = term.gram;
            }
        }
        self.eliminated = blocks.0.len();
        if blocks.0.is_empty() {
            return Ok(Vec::new());
        }
        let roots = self.eliminate(&blocks.0, &blocks.1, last)?;
        blocks.0.iter().for_each(|&block| self.places[block as usize] = NONE);
        Ok(self.substitute(roots, threshold))
    }

    /// Removes the cliques of the blocks of these terms with their ancestors. Returns the blocks of those and new ones, and the subtrees that remain.
    fn remove(&mut self, changed: &[(usize, Term<T>)]) -> (Vec<u32>, Vec<usize>) {
        let (mut blocks, mut removed) = (Vec::new(), Vec::new());
        for &block in changed.iter().flat_map(|(_, term)| &term.blocks) {
            let mut clique = self.clique_of[block as usize];
            if clique == NONE && std::mem::replace(&mut self.places[block as usize], 0) == NONE {
                blocks.push(block);
            }
            while clique != NONE && !std::mem::replace(&mut self.cliques[clique].is_removed, true) {
                removed.push(clique);
                clique = self.cliques[clique].parent;
            }
        }
        let mut orphans = Vec::new();
        for &clique in &removed {
            let children = &self.cliques[clique].children;
            orphans.extend(children.iter().filter(|&&child| !self.cliques[child].is_removed));
        }
        for clique in removed {
            blocks.extend(std::mem::take(&mut self.cliques[clique]).frontal);
            self.free.push(clique);
        }
        blocks.iter().enumerate().for_each(|(place, &block)| self.places[block as usize] = place);
        (blocks, orphans)
    }

    /// Eliminates blocks, on top of the subtrees that remain; returns the cliques without parents.
    fn eliminate(&mut self, blocks: &[u32], orphans: &[usize], last: &[u32]) -> Result<Vec<usize>, IllConditioned> {
        let place = |block: u32| self.places[block as usize];
        let mut terms: Vec<u32> =
            blocks.iter().flat_map(|&block| self.terms_of[block as usize].iter().copied()).collect();
        terms.sort_unstable();
        terms.dedup();
        // Other terms are in what the subtrees have left.
        terms.retain(|&k| {
            let Term { blocks, gram } = &self.terms[k as usize];
            !gram.is_empty() && blocks.iter().all(|&block| place(block) != NONE)
        });
        let groups = terms.iter().map(|&k| &self.terms[k as usize].blocks);
        let groups = groups.chain(orphans.iter().map(|&orphan| &self.cliques[orphan].separator));
        let pairs = groups.flat_map(|group| {
            group.iter().enumerate().flat_map(move |(k, &i)| group[..k].iter().map(move |&j| (place(i), place(j))))
        });
        let sizes: Vec<usize> = blocks.iter().map(|&block| self.size(block)).collect();
        let mut is_last = vec![false; blocks.len()];
        last.iter().filter(|&&block| place(block) != NONE).for_each(|&block| is_last[place(block)] = true);
        let symbolic = BlockPattern::new(&sizes, &pairs.collect::<Vec<_>>())
            .and_then(|pattern| SymbolicCholesky::with_last(&pattern, |block| is_last[block]))
            .map_err(|TooLarge| IllConditioned)?;
        let supernode_of = symbolic.supernode_of_all();
        // The supernode in which the first of some blocks is eliminated.
        let owner = |group: &[u32]| group.iter().map(|&block| symbolic.label[place(block)]).min();
        let count = symbolic.supernodes.len();
        let (mut terms_of, mut children_of) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for &k in &terms {
            if let Some(label) = owner(&self.terms[k as usize].blocks) {
                terms_of[supernode_of[label as usize]].push(k as usize);
            }
        }
        for &orphan in orphans {
            if let Some(label) = owner(&self.cliques[orphan].separator) {
                children_of[supernode_of[label as usize]].push(orphan);
            }
        }
        let ids: Vec<usize> = (0..count)
            .map(|_| {
                self.free.pop().unwrap_or_else(|| {
                    self.cliques.push(Clique::default());
                    self.cliques.len() - 1
                })
            })
            .collect();
        let mut positions = vec![0; blocks.len()];
        let mut roots = Vec::new();
        for (s, node) in symbolic.supernodes.iter().enumerate() {
            let block_of = |label: usize| blocks[symbolic.order[label] as usize];
            let frontal: Vec<u32> = (node.first..node.first + node.columns).map(block_of).collect();
            let separator: Vec<u32> = symbolic.rows_below(node).map(block_of).collect();
            symbolic.find_positions(node, &mut positions);
            let position = |block: u32| positions[symbolic.label[self.places[block as usize]] as usize];
            let mut sums = FrontSums::new(node.pivots, node.size + 1);
            for &k in &terms_of[s] {
                let Term { blocks, gram } = &self.terms[k];
                sums.add(blocks.iter().map(|&block| (position(block), self.size(block))), gram);
            }
            for &child in &children_of[s] {
                let Clique { separator, update, .. } = &self.cliques[child];
                sums.add(separator.iter().map(|&block| (position(block), self.size(block))), update);
            }
            let mut inverses = Vec::with_capacity(node.pivots);
            frontal.iter().for_each(|&block| self.push_diagonal(block, &mut inverses));
            sums.eliminate(&mut inverses)?;
            frontal.iter().for_each(|&block| self.clique_of[block as usize] = ids[s]);
            let parent = ids.get(node.parent).copied().unwrap_or(NONE);
            if parent == NONE {
                roots.push(ids[s]);
            } else {
                children_of[node.parent].push(ids[s]);
            }
            let children = std::mem::take(&mut children_of[s]);
            children.iter().for_each(|&child| self.cliques[child].parent = ids[s]);
            let FrontSums { panel, update, .. } = sums;
            self.cliques[ids[s]] =
                Clique { frontal, separator, parent, children, panel, inverses, update, is_removed: false };
        }
        // Their solutions are new, however little they change.
        blocks.iter().for_each(|&block| self.is_changed[block as usize] = true);
        Ok(roots)
    }

    /// Appends the diagonal of `JᵀJ` for a block.
    fn push_diagonal(&self, block: u32, diagonal: &mut Vec<T>) {
        let start = diagonal.len();
        diagonal.resize(start + self.size(block), T::ZERO);
        for Term { blocks, gram } in self.terms_of[block as usize].iter().map(|&k| &self.terms[k as usize]) {
            let mut first = 0;
            for &other in blocks {
                let size = self.size(other);
                if other == block && !gram.is_empty() {
                    let width = gram.len().isqrt();
                    let entries = gram.iter().step_by(width + 1).skip(first);
                    diagonal[start..].iter_mut().zip(entries).for_each(|(sum, &entry)| *sum += entry);
                }
                first += size;
            }
        }
    }

    /// Solves from these cliques downwards, as far as solutions change by more than `threshold`; returns the blocks whose solutions do.
    fn substitute(&mut self, mut stack: Vec<usize>, threshold: T) -> Vec<usize> {
        let (mut blocks, mut x) = (Vec::new(), Vec::new());
        let mut touched = Vec::new();
        while let Some(clique) = stack.pop() {
            let BayesTree { cliques, offsets, solution, is_changed, .. } = self;
            let Clique { frontal, separator, children, panel, inverses, .. } = &cliques[clique];
            let range = |block: u32| offsets[block as usize]..offsets[block as usize + 1];
            x.clear();
            x.resize(inverses.len(), T::ZERO);
            separator.iter().for_each(|&block| x.extend_from_slice(&solution[range(block)]));
            x.push(T::ONE);
            simd::run(SolveBackward { panel, inverses, x: &mut x });
            let mut rest = x.as_slice();
            for &block in frontal {
                let old = &mut solution[range(block)];
                let (new, others) = rest.split_at(old.len());
                rest = others;
                let change = old.iter().zip(new).fold(T::ZERO, |largest, (&old, &new)| largest.max((new - old).abs()));
                touched.push(block);
                is_changed[block as usize] = !(change <= threshold);
                if is_changed[block as usize] {
                    old.copy_from_slice(new);
                    blocks.push(block as usize);
                }
            }
            let needs = |child: &&usize| {
                let Clique { frontal, separator, .. } = &cliques[**child];
                // Blocks that have just been eliminated are marked.
                separator.iter().chain(frontal).any(|&block| is_changed[block as usize])
            };
            stack.extend(children.iter().filter(needs));
        }
        touched.iter().for_each(|&block| self.is_changed[block as usize] = false);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Pairs of blocks of sizes one to three, with two more rows for each pair than it has columns, so that any sum of them determines its blocks.
    fn term(blocks: [usize; 2], sizes: &[usize], seed: usize) -> Term<f64> {
        let blocks: Vec<usize> = if blocks[0] == blocks[1] { vec![blocks[0]] } else { blocks.to_vec() };
        let width = 1 + blocks.iter().map(|&block| sizes[block]).sum::<usize>();
        let rows: Vec<f64> =
            (0..(width + 2) * width).map(|k| ((k * k + 3 * k + 7 * seed) as f64 * 0.7).sin()).collect();
        let mut gram = vec![0.0; width * width];
        for row in rows.chunks_exact(width) {
            for (sums, a) in gram.chunks_exact_mut(width).zip(row) {
                sums.iter_mut().zip(row).for_each(|(sum, b)| *sum += a * b);
            }
        }
        Term { blocks: blocks.into_iter().map(|block| block as u32).collect(), gram }
    }

    fn assert_solved(tree: &BayesTree<f64>, sizes: &[usize]) {
        let n = tree.offsets[sizes.len()];
        let (mut h, mut g) = (DMatrix::<f64>::identity(n, n) * 1e-300, DVector::zeros(n));
        for Term { blocks, gram } in tree.terms.iter().filter(|term| !term.gram.is_empty()) {
            let columns: Vec<usize> =
                blocks.iter().flat_map(|&b| tree.offsets[b as usize]..tree.offsets[b as usize + 1]).collect();
            let width = columns.len() + 1;
            for (i, &a) in columns.iter().enumerate() {
                g[a] += gram[i * width + width - 1];
                columns.iter().enumerate().for_each(|(j, &b)| h[(a, b)] += gram[i * width + j]);
            }
        }
        let expected = h.cholesky().expect("the terms determine all blocks").solve(&-g);
        let largest = expected.amax();
        for (found, expected) in tree.solution.iter().zip(&expected) {
            assert!((found - expected).abs() <= 1e-8 * largest, "{:?} {expected:?}", tree.solution);
        }
    }

    proptest! {
        /// However terms are added, replaced and left out, the solution is that of the dense system.
        #[test]
        fn solutions_are_those_of_the_dense_system(
            sizes in vec(1..4_usize, 2..25),
            closures in vec((any::<usize>(), any::<usize>(), 0..3_u8), 0..40),
        ) {
            let mut tree = BayesTree::new();
            let mut closures = closures.into_iter();
            for block in 0..sizes.len() {
                tree.add_block(sizes[block]);
                let k = tree.terms.len();
                let mut next = k;
                let mut changed = vec![(k, term([block.saturating_sub(1), block], &sizes, k))];
                for (a, b, kind) in closures.by_ref().take(2) {
                    let (a, b) = (a % (block + 1), b % (block + 1));
                    match kind {
                        0 => {}
                        1 => {
                            next += 1;
                            changed.push((next, term([a, b], &sizes, a + b)));
                        }
                        // Another value of an old term, or none; the chain remains.
                        _ if k > 0 && changed.iter().all(|(other, _)| *other != a % k) => {
                            let blocks = tree.terms[a % k].blocks.iter().map(|&block| block as usize).collect::<Vec<_>>();
                            let is_link = blocks.len() == 1 || blocks[0] + 1 == blocks[1];
                            let mut new = term([blocks[0], blocks[blocks.len() - 1]], &sizes, b + 50);
                            if !is_link {
                                new.gram.clear();
                            }
                            changed.push((a % k, new));
                        }
                        _ => {}
                    }
                }
                changed.sort_by_key(|(k, _)| *k);
                tree.change(changed, &[block as u32], 0.0).expect("a definite system");
                assert_solved(&tree, &sizes[..=block]);
            }
        }
    }

    #[test]
    fn a_new_block_at_the_end_of_a_chain_eliminates_few_blocks() {
        let sizes = vec![3; 2000];
        let mut tree = BayesTree::new();
        let mut most = 0;
        for block in 0..sizes.len() {
            tree.add_block(3);
            let term = term([block.saturating_sub(1), block], &sizes, block);
            tree.change(vec![(block, term)], &[block as u32], 0.0).unwrap();
            most = most.max(tree.eliminated());
        }
        assert!(most < 20, "{most}");
    }

    #[test]
    fn an_undetermined_block_is_an_error() {
        let mut tree = BayesTree::<f64>::new();
        tree.add_block(2);
        let gram = vec![1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0];
        assert_eq!(tree.change(vec![(0, Term { blocks: vec![0], gram })], &[], 0.0), Err(IllConditioned));
    }
}
