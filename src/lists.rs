//! Lists of different lengths in one vector.

use std::ops::Range;

/// First entries of parts of these sizes that are stored one behind the other, and the size of all.
pub(crate) fn prefix_sums(sizes: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sums = vec![0];
    sums.extend(sizes.scan(0, |sum, size| {
        *sum += size;
        Some(*sum)
    }));
    sums
}

/// Splits off the first entries of a slice.
pub(crate) fn take_first<'a, T>(slice: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, others) = std::mem::take(slice).split_at_mut(count);
    *slice = others;
    first
}

/// Lists, one behind the other.
#[derive(Debug, Clone)]
pub(crate) struct Lists<I> {
    /// Index of the first item of each list, and the number of items.
    pub(crate) starts: Vec<usize>,
    pub(crate) items: Vec<I>,
}

impl<I> Lists<I> {
    /// No lists.
    pub(crate) fn new() -> Self {
        Lists { starts: vec![0], items: Vec::new() }
    }

    /// Lists of these lengths, all of one item.
    pub(crate) fn filled(lengths: impl Iterator<Item = usize>, item: I) -> Self
    where
        I: Clone,
    {
        let starts = prefix_sums(lengths);
        Lists { items: vec![item; starts[starts.len() - 1]], starts }
    }

    /// Last item of the last list.
    pub(crate) fn last_mut(&mut self) -> Option<&mut I> {
        self.items[self.starts[self.starts.len() - 1]..].last_mut()
    }

    /// Appends a list.
    pub(crate) fn push(&mut self, list: &[I])
    where
        I: Copy,
    {
        self.items.extend_from_slice(list);
        self.end();
    }

    /// Ends the last list.
    pub(crate) fn end(&mut self) {
        self.starts.push(self.items.len());
    }

    /// Items by the list that each belongs to, in their order.
    pub(crate) fn sorted(lists: usize, items: impl Iterator<Item = (usize, I)> + Clone) -> Self
    where
        I: Copy,
    {
        let mut starts = vec![0; lists + 1];
        items.clone().for_each(|(list, _)| starts[list + 1] += 1);
        for k in 0..lists {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let mut sorted = Vec::new();
        if let Some((_, item)) = items.clone().next() {
            sorted.resize(starts[lists], item);
        }
        for (list, item) in items {
            sorted[next[list]] = item;
            next[list] += 1;
        }
        Lists { starts, items: sorted }
    }

    /// Forgets all lists.
    pub(crate) fn clear(&mut self) {
        self.starts.truncate(1);
        self.items.clear();
    }

    /// Number of lists.
    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Range of a list among all items.
    pub(crate) fn range(&self, list: usize) -> Range<usize> {
        self.starts[list]..self.starts[list + 1]
    }

    /// Items of a list.
    pub(crate) fn of(&self, list: usize) -> &[I] {
        &self.items[self.range(list)]
    }

    /// Items of a list, to change.
    pub(crate) fn of_mut(&mut self, list: usize) -> &mut [I] {
        let range = self.range(list);
        &mut self.items[range]
    }
}

impl<I> Default for Lists<I> {
    fn default() -> Self {
        Self::new()
    }
}

impl Lists<u32> {
    /// The children of each node of a forest, in ascending order. The parent of a root is no node.
    pub(crate) fn children(parents: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let nodes = parents.len();
        let with_parent = parents.enumerate().filter(|&(_, parent)| parent < nodes);
        Lists::sorted(nodes, with_parent.map(|(node, parent)| (parent, node as u32)))
    }
}
