//! Values of the nodes: those of the last forward sweep, and those kept for later sweeps at the same point.

use std::ops::Range;

use crate::real::Real;

/// Most bytes of values that are kept, and of the point that they belong to.
const MOST_KEPT_BYTES: usize = 16 * 1024 * 1024;

/// Batch size from which values are kept whatever the number of parameters: a forward sweep then costs more than comparing two
/// points.
const MANY_ROWS: usize = 16;

/// Memory of the forward sweeps.
#[derive(Debug, Clone)]
pub(super) struct ForwardValues<T> {
    /// Values of a tile that are not kept.
    tile: Vec<T>,
    /// Kept values of the bound batch; those of a tile begin at `width` times its first row. Empty if none are kept.
    kept: Vec<T>,
    /// Entries in a row of these.
    width: usize,
    /// The point that the kept values belong to.
    x: Vec<T>,
    /// The tiles whose values are kept, in ascending order.
    tiles: Vec<Range<usize>>,
    /// Offset in `kept` of the values of the last sweep; `None` if they are in `tile`.
    place: Option<usize>,
}

impl<T: Real> ForwardValues<T> {
    /// Workspace for a tile of `rows` of `width` entries.
    pub(super) fn new(rows: usize, width: usize) -> Self {
        let tile = vec![T::ZERO; rows * width];
        ForwardValues { tile, kept: Vec::new(), width, x: Vec::new(), tiles: Vec::new(), place: None }
    }

    /// Forgets the kept values. Reserves memory for those of a batch of `rows`, unless they take too much of it, or are fewer
    /// than the parameters of the point that would be stored with them.
    pub(super) fn prepare(&mut self, rows: usize, parameters: usize) {
        self.tiles.clear();
        let numbers = rows.saturating_mul(self.width);
        let is_worthwhile =
            (parameters <= numbers || rows >= MANY_ROWS) && numbers.max(parameters) <= MOST_KEPT_BYTES / size_of::<T>();
        self.kept.resize(if is_worthwhile { numbers } else { 0 }, T::ZERO);
    }

    /// Values of the last forward sweep.
    pub(super) fn current(&self) -> &[T] {
        match self.place {
            Some(place) => &self.kept[place..],
            None => &self.tile,
        }
    }

    /// Destination of the values of a forward sweep that are not kept.
    pub(super) fn passing(&mut self) -> &mut [T] {
        self.place = None;
        &mut self.tile
    }

    /// Makes the kept values of a tile at `x` the current ones; `false` if there are none.
    pub(super) fn recall(&mut self, x: &[T], rows: &Range<usize>) -> bool {
        let found = self.tiles.binary_search_by_key(&rows.start, |tile| tile.start);
        let is_kept = found.is_ok_and(|index| self.tiles[index] == *rows) && is_same(&self.x, x);
        if is_kept {
            self.place = Some(rows.start * self.width);
        }
        is_kept
    }

    /// Destination of the values of a tile at `x`, which are kept if memory was reserved for a batch.
    pub(super) fn keep(&mut self, x: &[T], rows: &Range<usize>) -> &mut [T] {
        if self.kept.is_empty() {
            return self.passing();
        }
        let is_next = self.tiles.last().is_some_and(|last| last.end <= rows.start);
        if !(is_next && is_same(&self.x, x)) {
            self.tiles.clear();
            self.x.clear();
            self.x.extend_from_slice(x);
        }
        self.tiles.push(rows.clone());
        let place = rows.start * self.width;
        self.place = Some(place);
        &mut self.kept[place..]
    }
}

/// The points are the same to the bit.
pub(super) fn is_same<T: Real>(a: &[T], b: &[T]) -> bool {
    let same = |(&a, &b): (&T, &T)| (a == b) & (T::ONE.copy_sign(a) == T::ONE.copy_sign(b));
    // All entries of a chunk are compared, in registers, before it is decided.
    let same_chunk = |(a, b): (&[T], &[T])| a.iter().zip(b).fold(true, |all, pair| all & same(pair));
    a.len() == b.len() && a.chunks(64).zip(b.chunks(64)).all(same_chunk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_recalled_at_their_point_alone() {
        let mut values = ForwardValues::new(2, 1);
        values.prepare(5, 2);
        for rows in [0..2, 2..4, 4..5] {
            assert!(!values.recall(&[0.0, 1.0], &rows));
            let first = rows.start as f64;
            values.keep(&[0.0, 1.0], &rows)[0] = first;
        }
        values.passing().fill(f64::NAN);
        assert!(values.recall(&[0.0, 1.0], &(2..4)) && values.current()[0] == 2.0);
        assert!(!values.recall(&[0.0, 2.0], &(2..4)));
        assert!(!values.recall(&[-0.0, 1.0], &(2..4)), "a sign can be seen by a quotient");
        assert!(!values.recall(&[0.0, 1.0], &(2..5)) && !values.recall(&[0.0, 1.0], &(1..2)));

        // Another partition, another point, and another batch each take the place of what was kept.
        values.keep(&[0.0, 1.0], &(1..3));
        assert!(!values.recall(&[0.0, 1.0], &(2..4)) && values.recall(&[0.0, 1.0], &(1..3)));
        values.keep(&[0.0, 3.0], &(3..5));
        assert!(!values.recall(&[0.0, 1.0], &(1..3)) && values.recall(&[0.0, 3.0], &(3..5)));
        values.prepare(5, 2);
        assert!(!values.recall(&[0.0, 3.0], &(3..5)));
    }

    #[test]
    fn values_of_many_rows_are_kept_for_many_parameters() {
        let mut values = ForwardValues::new(MANY_ROWS, 1);
        let x = [1.0; 100];
        values.prepare(MANY_ROWS, x.len());
        values.keep(&x, &(0..MANY_ROWS))[0] = 3.0;
        assert!(values.recall(&x, &(0..MANY_ROWS)) && values.current()[0] == 3.0);
    }

    #[test]
    fn nothing_is_kept_where_it_would_not_pay() {
        let mut values = ForwardValues::new(2, 3);
        for (rows, parameters) in [(5, 16), (usize::MAX, 1), (MOST_KEPT_BYTES, 1)] {
            values.prepare(rows, parameters);
            let x = vec![1.0; parameters];
            assert_eq!(values.keep(&x, &(0..2)).len(), 6);
            assert!(!values.recall(&x, &(0..2)));
        }
    }
}
