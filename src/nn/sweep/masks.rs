//! Dropout masks: the entries that dropout sets to zero.

use crate::real::Real;

/// A source of masks. A mask depends on the seed, the batch and the node alone: not on tiles, ranks or repeated evaluations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Masks {
    /// Seed of all masks.
    pub(crate) seed: u64,
    /// Number of the batch in the network's life.
    pub(crate) step: u64,
}

impl Masks {
    /// The mask of a node, for rows at these places in the batch.
    pub(crate) fn fill<T: Real>(
        self,
        node: usize,
        places: impl Iterator<Item = usize>,
        width: usize,
        rate: T,
        mask: &mut [T],
    ) {
        let key = scramble(scramble(scramble(self.seed) ^ self.step) ^ node as u64);
        // Exact, as the rate is less than one.
        let dropped = (rate.to_f64() * 2.0_f64.powi(64)) as u64;
        let kept = T::ONE / (T::ONE - rate);
        for (place, row) in places.zip(mask.chunks_exact_mut(width)) {
            for (place, number) in ((place * width) as u64..).zip(row) {
                let random = scramble(key.wrapping_add(place.wrapping_mul(GOLDEN)));
                *number = if random < dropped { T::ZERO } else { kept };
            }
        }
    }
}

/// `2⁶⁴` over the golden ratio: SplitMix64's increment.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function: every bit depends on every bit.
#[inline]
fn scramble(state: u64) -> u64 {
    let z = state.wrapping_add(GOLDEN);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Random signs for rows at these places in the batch, from a seed and a count: the same in whatever tiles, and on whatever
/// rank.
pub(crate) fn fill_signs<T: Real>(
    [seed, count]: [u64; 2],
    places: impl Iterator<Item = usize>,
    width: usize,
    signs: &mut [T],
) {
    let key = scramble(scramble(!seed) ^ count);
    for (place, row) in places.zip(signs.chunks_exact_mut(width)) {
        let mut bits = key.wrapping_add((place as u64).wrapping_mul(GOLDEN));
        for signs in row.chunks_mut(64) {
            bits = scramble(bits);
            for (bit, sign) in signs.iter_mut().enumerate() {
                *sign = if bits >> bit & 1 == 0 { T::ONE } else { -T::ONE };
            }
        }
    }
}

/// The same places, each with random bits.
pub(crate) fn random_bits(
    [seed, count]: [u64; 2],
    places: impl Iterator<Item = usize>,
) -> impl Iterator<Item = (usize, u64)> {
    let key = scramble(scramble(seed) ^ !count);
    places.map(move |place| (place, scramble(key.wrapping_add((place as u64).wrapping_mul(GOLDEN)))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MASKS: Masks = Masks { seed: 7, step: 3 };

    fn mask(masks: Masks, node: usize, first: usize, rows: usize) -> Vec<f64> {
        let mut mask = vec![0.0; rows * 5];
        masks.fill(node, first..first + rows, 5, 0.3, &mut mask);
        mask
    }

    #[test]
    fn tiles_are_parts_of_one_mask() {
        let whole = mask(MASKS, 4, 0, 20);
        assert_eq!(mask(MASKS, 4, 7, 6), whole[35..65]);
    }

    #[test]
    fn rows_keep_their_masks_wherever_they_are() {
        let whole = mask(MASKS, 4, 0, 20);
        let mut some = vec![0.0; 3 * 5];
        MASKS.fill(4, [13, 2, 19].into_iter(), 5, 0.3, &mut some);
        assert_eq!(some, [&whole[65..70], &whole[10..15], &whole[95..]].concat());
    }

    #[test]
    fn another_seed_step_or_node_is_another_mask() {
        let whole = mask(MASKS, 4, 0, 20);
        assert_ne!(mask(MASKS, 5, 0, 20), whole);
        assert_ne!(mask(Masks { step: 4, ..MASKS }, 4, 0, 20), whole);
        assert_ne!(mask(Masks { seed: 8, ..MASKS }, 4, 0, 20), whole);
    }

    #[test]
    fn the_rate_is_kept_and_the_mean_is_one() {
        let mask = mask(MASKS, 4, 0, 20_000);
        let dropped = mask.iter().filter(|&&number| number == 0.0).count() as f64 / mask.len() as f64;
        assert!((dropped - 0.3).abs() < 0.005, "{dropped}");
        assert!((mask.iter().sum::<f64>() / mask.len() as f64 - 1.0).abs() < 0.01);
    }
}
