//! Streams of random numbers, one for each piece of work: results do not depend on the thread that does it.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// Stream number `index` of a seed.
pub(crate) fn stream(seed: u64, index: usize) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(index as u64);
    random
}

/// One of `0..count`, all equally likely.
pub(crate) fn below(count: usize, random: &mut ChaCha8Rng) -> usize {
    ((u128::from(random.next_u64()) * count as u128) >> 64) as usize
}

/// `0..count` in random order.
pub(crate) fn permutation(count: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        order.swap(last, below(last + 1, random));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_drawn_about_equally_often() {
        let mut random = stream(3, 0);
        let mut counts = [0; 5];
        (0..5000).for_each(|_| counts[below(5, &mut random)] += 1);
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn a_permutation_has_all_and_streams_differ() {
        let order = |index| permutation(40, &mut stream(3, index));
        let mut sorted = order(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..40).collect::<Vec<_>>());
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
    }
}
