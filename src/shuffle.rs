//! Random permutations.

use chacha20::ChaCha8Rng;
use chacha20::rand_core::Rng;

/// Puts items into a random order, each with the same probability (Fisher & Yates; Durstenfeld 1964).
pub(crate) fn shuffle<I>(items: &mut [I], random: &mut ChaCha8Rng) {
    for last in (1..items.len()).rev() {
        // The high half of a product is below the bound, and as even as 64 bits allow.
        let place = (u128::from(random.next_u64()) * (last as u128 + 1)) >> 64;
        items.swap(last, place as usize);
    }
}
