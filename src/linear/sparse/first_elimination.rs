//! Blocks that are eliminated before all others, such as the points of bundle adjustment.

use crate::linear::independent_set::first_of_neighbours;
use crate::lists::Lists;

/// Most neighbours of a block that is eliminated first: all of them become neighbours of each other.
const FEW: usize = 64;

/// Largest share of the columns that the other blocks have.
const OF_OTHERS: f64 = 0.25;

/// Blocks of few neighbours, none of them a neighbour of another, and the graph of the other blocks after their elimination.
pub(super) struct FirstElimination {
    first: Vec<u32>,
    others: Vec<u32>,
    /// Neighbours of the other blocks, by their places among them.
    pub(super) graph: Lists<u32>,
}

impl FirstElimination {
    /// The elimination of the blocks of fewest neighbours; `None` if it leaves many columns. A minimum degree finds the same order, but looks at all points
    /// that a camera sees for each of them.
    pub(super) fn new(graph: &Lists<u32>, sizes: impl Fn(usize) -> usize) -> Option<Self> {
        let n = graph.len();
        let few = (0..n).filter(|&i| graph.of(i).len() <= FEW);
        let by_degree = Lists::sorted(FEW + 1, few.map(|i| (graph.of(i).len(), i as u32)));
        let order = by_degree.items.iter().map(|&i| i as usize);
        let first = first_of_neighbours(n, order, |i| graph.of(i).iter().map(|&other| other as usize));
        let columns: usize = (0..n).map(&sizes).sum();
        let columns_left = columns - first.iter().map(|&i| sizes(i)).sum::<usize>();
        if columns_left > (OF_OTHERS * columns as f64) as usize {
            return None;
        }
        let mut is_other = vec![true; n];
        first.iter().for_each(|&i| is_other[i] = false);
        let others: Vec<u32> = (0..n as u32).filter(|&i| is_other[i as usize]).collect();
        let mut place = vec![0; n];
        others.iter().enumerate().for_each(|(k, &i)| place[i as usize] = k as u32);
        let mut of_others = Lists::new();
        // The last block of which each other one was found to be a neighbour.
        let mut neighbour_of = vec![u32::MAX; others.len()];
        for (k, &i) in others.iter().enumerate() {
            neighbour_of[k] = k as u32;
            for &neighbour in graph.of(i as usize) {
                let beyond = if is_other[neighbour as usize] {
                    std::slice::from_ref(&neighbour)
                } else {
                    graph.of(neighbour as usize)
                };
                let places = beyond.iter().map(|&j| place[j as usize]);
                of_others
                    .items
                    .extend(places.filter(|&j| std::mem::replace(&mut neighbour_of[j as usize], k as u32) != k as u32));
            }
            of_others.end();
        }
        let first = first.iter().map(|&i| i as u32).collect();
        Some(FirstElimination { first, others, graph: of_others })
    }

    /// Block at a place among the others.
    pub(super) fn other(&self, place: usize) -> usize {
        self.others[place] as usize
    }

    /// The order of all blocks, with this order of the others.
    pub(super) fn followed_by(&self, others: &[u32]) -> Vec<u32> {
        self.first.iter().copied().chain(others.iter().map(|&place| self.others[place as usize])).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::ordering::neighbours;
    use super::super::pattern::BlockPattern;
    use super::*;

    /// Each point is seen by cameras beside each other, around a ring.
    fn ring(cameras: usize, points: usize) -> Lists<u32> {
        let seen = |point: usize| (0..4).map(move |k| (point * 7 + k) % cameras);
        let pairs: Vec<_> =
            (0..points).flat_map(|point| seen(point).map(move |camera| (cameras + point, camera))).collect();
        neighbours(&BlockPattern::new(&vec![1; cameras + points], &pairs).unwrap())
    }

    #[test]
    fn points_come_first_and_connect_the_cameras_that_see_them() {
        let (cameras, points) = (30, 400);
        let found = FirstElimination::new(&ring(cameras, points), |i| if i < cameras { 9 } else { 3 }).unwrap();
        assert!((0..cameras).map(|camera| found.other(camera)).eq(0..cameras));
        for camera in 0..cameras {
            let mut near: Vec<_> = [1, 2, 3]
                .iter()
                .flat_map(|k| [camera + k, camera + cameras - k])
                .map(|k| (k % cameras) as u32)
                .collect();
            near.sort_unstable();
            let mut own = found.graph.of(camera).to_vec();
            own.sort_unstable();
            assert_eq!(own, near, "of camera {camera}");
        }
        let backwards: Vec<u32> = (0..cameras as u32).rev().collect();
        let order = found.followed_by(&backwards);
        assert!(order[..points].iter().all(|&block| block as usize >= cameras) && order[points..] == backwards);
    }

    #[test]
    fn there_is_none_where_many_columns_are_left() {
        assert!(FirstElimination::new(&ring(100, 50), |_| 1).is_none());
        let chain: Vec<_> = (1..100).map(|i| (i - 1, i)).collect();
        assert!(FirstElimination::new(&neighbours(&BlockPattern::new(&[1; 100], &chain).unwrap()), |_| 1).is_none());
    }
}
