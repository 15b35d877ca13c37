//! The order of the rows in an epoch.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;

/// Puts `0, 1, 2, …` into the order of an epoch, which depends on the seed and the number of the epoch alone.
pub(super) fn shuffle(order: &mut [usize], seed: u64, epoch: usize) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch as u64);
    order.iter_mut().enumerate().for_each(|(place, row)| *row = place);
    crate::shuffle::shuffle(order, &mut random);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(rows: usize, seed: u64, epoch: usize) -> Vec<usize> {
        let mut order = vec![usize::MAX; rows];
        shuffle(&mut order, seed, epoch);
        order
    }

    #[test]
    fn an_epoch_has_an_order_of_its_own_that_can_be_had_again() {
        let first = order(100, 7, 0);
        assert_eq!(order(100, 7, 0), first);
        assert_ne!(order(100, 7, 1), first);
        assert_ne!(order(100, 8, 0), first);
        let mut sorted = order(100, 7, 3);
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..100));
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut counts = [0; 6];
        for epoch in 0..6000 {
            let order = order(3, 1, epoch);
            counts[2 * order[0] + usize::from(order[1] > order[2])] += 1;
        }
        // Five standard deviations of a count are 144.
        assert!(counts.iter().all(|count| (1000_i32 - count).abs() < 144), "{counts:?}");
    }
}
