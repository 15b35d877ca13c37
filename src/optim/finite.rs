//! Looking for numbers that are none.

use crate::Real;

/// Numbers looked at together, without a branch for each.
const BLOCK: usize = 64;

/// Where the first NaN or infinity is.
pub(super) fn first_non_finite<T: Real>(x: &[T]) -> Option<usize> {
    let is_bad = |block: &&[T]| !block.iter().fold(true, |finite, x| finite & x.is_finite());
    let block = x.chunks(BLOCK).position(|block| is_bad(&block))?;
    let within = x[block * BLOCK..].iter().position(|x| !x.is_finite())?;
    Some(block * BLOCK + within)
}

#[cfg(test)]
mod tests {
    use super::first_non_finite;

    #[test]
    fn the_first_of_several_is_found() {
        let mut x = vec![1.0_f32; 200];
        assert_eq!(first_non_finite(&x), None);
        for (place, bad) in [(199, f32::NAN), (130, f32::INFINITY), (64, f32::NEG_INFINITY), (0, f32::NAN)] {
            x[place] = bad;
            assert_eq!(first_non_finite(&x), Some(place));
        }
    }
}
