//! Fewer points where a picture has more than can be told apart.

use std::collections::{BTreeMap, HashSet};
use std::hash::Hash;

/// Points that a panel shows at most, unless each is alone in its cell.
pub(super) const MOST: usize = 4000;
/// The same of points with error bars in one direction, and in both.
pub(super) const MOST_BARS: [usize; 2] = [3600, 2400];

/// Side of the smallest cells, in pixels.
const SMALLEST: f64 = 2.0;

/// A point as it is thinned: its kind, and its place and reach in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Spot<K> {
    /// Points of different kinds do not hide each other.
    pub(super) kind: K,
    pub(super) x: f64,
    pub(super) y: f64,
    /// Half the length of its error bar.
    pub(super) error: f64,
}

/// Returns the places in the list of the points to draw, in order: the first in each cell of a grid, and in each column of cells those
/// that reach lowest and highest, so that no outlier is lost. The cells are the smallest that leave few enough.
pub(super) fn drawn<K: Copy + Ord + Hash>(spots: &[Spot<K>], most: usize) -> Vec<usize> {
    let mut left: Vec<usize> = (0..spots.len()).collect();
    let mut side = SMALLEST;
    while left.len() > most && side < 1e4 {
        left = one_to_a_cell(spots, &left, side);
        side *= 2.0;
    }
    left
}

/// Thins by one grid. The cells of a coarser one, with twice the side, are made of these.
fn one_to_a_cell<K: Copy + Ord + Hash>(spots: &[Spot<K>], left: &[usize], side: f64) -> Vec<usize> {
    let (mut cells, mut columns, mut kept) = (HashSet::new(), BTreeMap::new(), Vec::new());
    for &index in left {
        let Spot { kind, x, y, error } = spots[index];
        let (column, row) = ((x / side).floor() as i64, (y / side).floor() as i64);
        if cells.insert((kind, column, row)) {
            kept.push(index);
        }
        let (low, high) = (y - error, y + error);
        let ends = columns.entry((kind, column)).or_insert([(low, index), (high, index)]);
        if low < ends[0].0 {
            ends[0] = (low, index);
        }
        if high > ends[1].0 {
            ends[1] = (high, index);
        }
    }
    kept.extend(columns.into_values().flatten().map(|(_, index)| index));
    kept.sort_unstable();
    kept.dedup();
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(count: usize) -> Vec<Spot<u8>> {
        let part = |i: usize, factor: f64| (i as f64 * factor).fract();
        let spot =
            |i| Spot { kind: 0, x: 800.0 * part(i, 0.618_033_988_7), y: 400.0 * part(i, 0.754_877_666_2), error: 0.0 };
        (0..count).map(spot).collect()
    }

    #[test]
    fn few_points_are_all_drawn() {
        assert_eq!(drawn(&cloud(MOST), MOST), (0..MOST).collect::<Vec<_>>());
        assert_eq!(drawn::<u8>(&[], MOST), [0; 0]);
    }

    #[test]
    fn many_points_are_thinned_and_outliers_stay() {
        let mut spots = cloud(200_000);
        let lowest = spots.iter().map(|spot| spot.y).fold(f64::INFINITY, f64::min);
        spots[77_777].y = -300.0;
        spots[150_001].error = 900.0;
        spots[3].kind = 1;
        let kept = drawn(&spots, MOST);
        assert!((1000..=MOST).contains(&kept.len()), "{}", kept.len());
        assert!(kept.windows(2).all(|pair| pair[0] < pair[1]));
        assert!([3, 77_777, 150_001].iter().all(|index| kept.contains(index)));
        assert!(kept.iter().any(|&index| spots[index].y == lowest));
    }

    /// Each column keeps its ends, however coarse the grid became.
    #[test]
    fn the_envelope_stays() {
        let spots: Vec<Spot<u8>> = (0..100_000)
            .map(|i| Spot { kind: 0, x: 0.008 * f64::from(i), y: 200.0 * (0.7 * f64::from(i)).sin(), error: 0.0 })
            .collect();
        let kept = drawn(&spots, MOST);
        for column in 0..50 {
            let within = |index: &usize| (spots[*index].x / 16.0).floor() as i32 == column;
            let highest = |indices: &mut dyn Iterator<Item = usize>| {
                indices.map(|index| spots[index].y).fold(f64::NEG_INFINITY, f64::max)
            };
            assert_eq!(
                highest(&mut kept.iter().copied().filter(within)),
                highest(&mut (0..spots.len()).filter(within)),
                "{column}"
            );
        }
    }
}
