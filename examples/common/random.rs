//! Random numbers that several examples draw.

use chacha20::rand_core::Rng;

/// Fisher and Yates' shuffle.
pub fn shuffle<T>(order: &mut [T], random: &mut impl Rng) {
    for last in (1..order.len()).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
