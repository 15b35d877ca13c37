//! Masks of dropout, which are the same in all forward passes of a step.

use candle_core::{Device, Result, Tensor};
use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};

/// The masks of one step, in the order in which a pass asks for them. They follow from the seed and the number of the step, so that a
/// training that is resumed draws the same.
pub(crate) struct Masks {
    seed: u64,
    step: u64,
    drawn: Vec<Tensor>,
}

impl Masks {
    /// Creates masks for the step of this number, none drawn yet.
    pub(crate) fn new(seed: u64, step: u64) -> Self {
        Masks { seed, step, drawn: Vec::new() }
    }

    /// The mask at a place, drawn by the first pass that comes there; or the shape that it had then, if it is another.
    pub(crate) fn at(
        &mut self,
        place: usize,
        shape: &[usize],
        p: f64,
        device: &Device,
    ) -> std::result::Result<Result<Tensor>, Vec<usize>> {
        if let Some(mask) = self.drawn.get(place) {
            return if mask.dims() == shape { Ok(Ok(mask.clone())) } else { Err(mask.dims().to_vec()) };
        }
        let mask = self.draw(place, shape, p, device);
        if let Ok(mask) = &mask {
            self.drawn.push(mask.clone());
        }
        Ok(mask)
    }

    /// Numbers of which each is zero with probability `p`, and otherwise `1/(1 − p)`.
    fn draw(&self, place: usize, shape: &[usize], p: f64, device: &Device) -> Result<Tensor> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed ^ self.step.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        random.set_stream(place as u64);
        // The share of all 32-bit numbers that is dropped.
        let dropped = (p * (u64::from(u32::MAX) + 1) as f64) as u64;
        let kept = (1.0 / (1.0 - p)) as f32;
        let count = shape.iter().product();
        let numbers = (0..count).map(|_| if u64::from(random.next_u32()) < dropped { 0.0 } else { kept });
        Tensor::from_vec(numbers.collect::<Vec<f32>>(), shape, device)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(masks: &mut Masks, place: usize) -> Vec<f32> {
        masks.at(place, &[200, 50], 0.3, &Device::Cpu).unwrap().unwrap().flatten_all().unwrap().to_vec1().unwrap()
    }

    #[test]
    fn masks_follow_from_seed_step_and_place() {
        let first = numbers(&mut Masks::new(7, 3), 0);
        let mut masks = Masks::new(7, 3);
        assert_eq!(numbers(&mut masks, 0), first);
        assert_eq!(numbers(&mut masks, 0), first);
        assert_ne!(numbers(&mut masks, 1), first);
        assert_ne!(numbers(&mut Masks::new(7, 4), 0), first);
        assert_ne!(numbers(&mut Masks::new(8, 3), 0), first);
        // Three in ten are dropped, within five standard deviations, and the mean is kept.
        let dropped = first.iter().filter(|&&number| number == 0.0).count() as f64;
        assert!((dropped - 3000.0).abs() < 5.0 * (10_000.0_f64 * 0.3 * 0.7).sqrt(), "{dropped}");
        assert!(first.iter().all(|&number| number == 0.0 || (number - 1.0 / 0.7).abs() < 1e-6));
    }

    #[test]
    fn another_shape_is_refused() {
        let mut masks = Masks::new(1, 1);
        numbers(&mut masks, 0);
        assert_eq!(masks.at(0, &[50, 200], 0.3, &Device::Cpu).unwrap_err(), [200, 50]);
    }
}
