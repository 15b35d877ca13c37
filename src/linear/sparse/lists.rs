//! Lists of different lengths in one vector.

/// Lists, one behind the other.
#[derive(Debug, Clone)]
pub(super) struct Lists<I> {
    pub(super) starts: Vec<usize>,
    pub(super) items: Vec<I>,
}

impl<I> Lists<I> {
    pub(super) fn new() -> Self {
        Lists { starts: vec![0], items: Vec::new() }
    }

    /// Last item of the last list.
    pub(super) fn last_mut(&mut self) -> Option<&mut I> {
        self.items[self.starts[self.starts.len() - 1]..].last_mut()
    }

    /// Ends the last list.
    pub(super) fn end(&mut self) {
        self.starts.push(self.items.len());
    }

    /// Items by the list that each belongs to, in their order.
    pub(super) fn sorted(lists: usize, items: impl Iterator<Item = (usize, I)> + Clone) -> Self
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

    pub(super) fn of(&self, list: usize) -> &[I] {
        &self.items[self.starts[list]..self.starts[list + 1]]
    }

    pub(super) fn of_mut(&mut self, list: usize) -> &mut [I] {
        &mut self.items[self.starts[list]..self.starts[list + 1]]
    }
}

impl Lists<u32> {
    /// The children of each node of a forest, in ascending order. The parent of a root is no node.
    pub(super) fn children(parents: impl ExactSizeIterator<Item = usize> + Clone) -> Self {
        let nodes = parents.len();
        let with_parent = parents.enumerate().filter(|&(_, parent)| parent < nodes);
        Lists::sorted(nodes, with_parent.map(|(node, parent)| (parent, node as u32)))
    }
}
