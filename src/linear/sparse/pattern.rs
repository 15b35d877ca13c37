//! Structure of a symmetric matrix of blocks.

use crate::lists::Lists;
use std::ops::Range;

/// A structure whose entries cannot be counted in a [`usize`], or whose blocks cannot be counted in a [`u32`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// The lower triangle of a symmetric matrix of blocks, in compressed columns.
///
/// Block `i` of the vectors that the matrix multiplies has `size(i)` entries. Block `(i, j)` of the matrix, `i ≥ j`, is
/// stored row-major: `size(i)` rows of `size(j)` entries. Blocks of a column follow each other by ascending row; the first
/// is the one on the diagonal, which is always stored, as a full square. Their entries are in the same order, or in
/// [another](Self::arrange).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BlockPattern {
    /// First entry of each block of a vector, and the length of the vector.
    offsets: Vec<usize>,
    /// First stored block of each column, and the number of stored blocks.
    columns: Vec<usize>,
    /// Row of each stored block.
    rows: Vec<u32>,
    /// First entry of each stored block.
    places: Vec<usize>,
    /// Number of all entries.
    entry_count: usize,
}

/// A stored block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredBlock {
    /// Row of the block.
    pub(crate) i: usize,
    /// Column of the block, at most `i`.
    pub(crate) j: usize,
    /// Offset of its first entry among the values.
    pub(crate) at: usize,
}

impl BlockPattern {
    /// The pattern with all blocks `(i, i)` and the given pairs `(i, j)`, in either order and with repetitions.
    ///
    /// `O(p log p)` for `p` pairs. Panics if a block has no entries, or if a pair names a block
    /// that does not exist.
    pub(crate) fn new(sizes: &[usize], pairs: &[(usize, usize)]) -> Result<Self, TooLarge> {
        let n = sizes.len();
        assert!(sizes.iter().all(|&size| size > 0), "a block without entries");
        u32::try_from(n).map_err(|_| TooLarge)?;
        let offsets = sums(sizes.iter().map(|&size| Some(size)))?;
        for &(i, j) in pairs {
            assert!(i < n && j < n, "block ({i}, {j}) of {n} × {n}");
        }
        let mut below = Lists::sorted(n, pairs.iter().map(|&(i, j)| (i.min(j), i.max(j) as u32)));
        let mut columns = Vec::with_capacity(n + 1);
        let mut rows = Vec::with_capacity(n + pairs.len());
        for j in 0..n {
            columns.push(rows.len());
            rows.push(j as u32);
            let below = below.of_mut(j);
            below.sort_unstable();
            for &i in &*below {
                if rows.last() != Some(&i) {
                    rows.push(i);
                }
            }
        }
        columns.push(rows.len());
        let column_of = columns.windows(2).enumerate().flat_map(|(j, ends)| (ends[0]..ends[1]).map(move |_| j));
        let sizes_of_blocks = rows.iter().zip(column_of).map(|(&i, j)| sizes[i as usize].checked_mul(sizes[j]));
        let mut places = sums(sizes_of_blocks)?;
        let entry_count = places.pop().unwrap_or(0);
        Ok(BlockPattern { offsets, columns, rows, places, entry_count })
    }

    /// Stores the entries of the blocks in another order, given by the indices of all of them.
    pub(crate) fn arrange(&mut self, order: &[usize]) {
        let sizes: Vec<usize> = self.stored().map(|block| self.size(block.i) * self.size(block.j)).collect();
        let mut place = 0;
        for &k in order {
            self.places[k] = place;
            place += sizes[k];
        }
    }

    /// Number of stored blocks.
    pub(crate) fn stored_blocks(&self) -> usize {
        self.rows.len()
    }

    /// Returns true if no block beside the diagonal is stored.
    pub(crate) fn is_diagonal(&self) -> bool {
        self.stored_blocks() == self.blocks()
    }

    /// Number of blocks of a vector.
    pub(crate) fn blocks(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Length of a vector.
    pub(crate) fn len(&self) -> usize {
        self.offsets[self.blocks()]
    }

    /// Number of entries in the stored blocks.
    pub(crate) fn entry_count(&self) -> usize {
        self.entry_count
    }

    /// Entries of block `i` in a vector.
    pub(crate) fn range(&self, i: usize) -> Range<usize> {
        self.offsets[i]..self.offsets[i + 1]
    }

    /// Length of block `i` of a vector.
    pub(crate) fn size(&self, i: usize) -> usize {
        self.offsets[i + 1] - self.offsets[i]
    }

    /// Offset of the first entry of block `(i, j)`, `i ≥ j`, among the values; `None` if it is not stored.
    pub(crate) fn slot(&self, i: usize, j: usize) -> Option<usize> {
        self.index(i, j).map(|k| self.places[k])
    }

    /// Index of block `(i, j)`, `i ≥ j`, among the stored blocks, column after column; `None` if it is not stored.
    pub(crate) fn index(&self, i: usize, j: usize) -> Option<usize> {
        let column = self.columns[j]..self.columns[j + 1];
        let at = self.rows[column.clone()].binary_search(&u32::try_from(i).ok()?).ok()?;
        Some(column.start + at)
    }

    /// Offset of the first entry of stored block `index` among the values.
    pub(crate) fn place(&self, index: usize) -> usize {
        self.places[index]
    }

    /// Offset of the first entry of the diagonal block `j` among the values.
    pub(crate) fn diagonal_slot(&self, j: usize) -> usize {
        self.places[self.columns[j]]
    }

    /// Stored blocks of column `j`, the diagonal one first.
    pub(crate) fn column(&self, j: usize) -> impl Iterator<Item = StoredBlock> + Clone {
        (self.columns[j]..self.columns[j + 1]).map(move |k| StoredBlock {
            i: self.rows[k] as usize,
            j,
            at: self.places[k],
        })
    }

    /// Stored blocks, column after column.
    pub(crate) fn stored(&self) -> impl Iterator<Item = StoredBlock> + Clone {
        (0..self.blocks()).flat_map(|j| self.column(j))
    }
}

/// Sums of all entries before each, and of all.
fn sums(sizes: impl Iterator<Item = Option<usize>>) -> Result<Vec<usize>, TooLarge> {
    let mut sums = vec![0_usize];
    let mut sum = 0_usize;
    for size in sizes {
        sum = size.and_then(|size| sum.checked_add(size)).ok_or(TooLarge)?;
        sums.push(sum);
    }
    Ok(sums)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::structures;
    use super::*;

    proptest! {
        #[test]
        fn pairs_have_blocks_and_others_have_none((sizes, pairs) in structures()) {
            let pattern = BlockPattern::new(&sizes, &pairs).unwrap();
            let mut end = 0;
            for j in 0..sizes.len() {
                for i in j..sizes.len() {
                    let given = i == j || pairs.contains(&(i, j)) || pairs.contains(&(j, i));
                    let slot = pattern.slot(i, j);
                    prop_assert_eq!(slot, given.then_some(end));
                    end += if given { sizes[i] * sizes[j] } else { 0 };
                }
            }
            prop_assert_eq!(pattern.entry_count(), end);
            prop_assert_eq!(pattern.len(), sizes.iter().sum::<usize>());
        }
    }

    #[test]
    fn what_cannot_be_counted_is_an_error() {
        assert_eq!(BlockPattern::new(&[usize::MAX / 2, usize::MAX / 2, 2], &[]), Err(TooLarge));
        assert_eq!(BlockPattern::new(&[1 << (usize::BITS / 2 + 8)], &[]), Err(TooLarge));
        assert_eq!(BlockPattern::new(&[1 << (usize::BITS / 2 - 1); 5], &[]), Err(TooLarge));
    }
}
