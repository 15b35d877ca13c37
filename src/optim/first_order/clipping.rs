//! Clipping gradients.

use super::StepSettings;
use crate::kernels::vector::dot;
use crate::optim::Convention;
use crate::real::Real;
use crate::variables::{Gradients, Variable};

/// Clips by whichever kind is on. Rows must have been summed.
pub(super) fn clip<T: Real>(
    gradients: &mut Gradients<T>,
    variables: impl Iterator<Item = Variable> + Clone,
    now: &StepSettings<'_>,
    convention: Convention,
) {
    let margin = match convention {
        Convention::Keras => 0.0,
        Convention::PyTorch => 1e-6,
    };
    if now.clipvalue > 0.0 {
        let limit = T::from_f64(now.clipvalue);
        for variable in variables {
            for number in gradients.given_mut(variable) {
                *number = number.max(-limit).min(limit);
            }
        }
    } else if now.clipnorm > 0.0 {
        for variable in variables {
            let numbers = gradients.given_mut(variable);
            let factor = factor([&*numbers].into_iter(), now.clipnorm, margin);
            scale(numbers, factor);
        }
    } else if now.global_clipnorm > 0.0 {
        let all = variables.clone().map(|variable| gradients.given(variable));
        let factor = factor(all, now.global_clipnorm, margin);
        for variable in variables {
            scale(gradients.given_mut(variable), factor);
        }
    }
}

/// Factor that reduces the norm of all entries together to `limit`.
fn factor<'a, T: Real>(numbers: impl Iterator<Item = &'a [T]> + Clone, limit: f64, margin: f64) -> f64 {
    let square = numbers.clone().fold(T::ZERO, |sum, numbers| sum + dot(numbers, numbers));
    let norm = if square.is_finite() { square.to_f64().sqrt() } else { norm_of_large(numbers) };
    if norm + margin > limit { limit / (norm + margin) } else { 1.0 }
}

/// The norm of numbers whose squares overflow.
fn norm_of_large<'a, T: Real>(numbers: impl Iterator<Item = &'a [T]> + Clone) -> f64 {
    let all = numbers.flatten().map(|x| x.to_f64());
    let largest = all.clone().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    let relative = all.map(|x| (x / largest) * (x / largest)).sum::<f64>().sqrt();
    // Norms beyond the largest float cannot be distinguished.
    (largest * relative).min(f64::MAX)
}

fn scale<T: Real>(numbers: &mut [T], factor: f64) {
    if factor < 1.0 {
        let factor = T::from_f64(factor);
        for number in numbers {
            *number *= factor;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn squares_may_overflow() {
        let large = [3e30_f32, 4e30];
        assert!((factor([&large[..]].into_iter(), 1.0, 0.0) * 5e30 - 1.0).abs() < 1e-6);
        let large = [3e200, -4e200];
        assert!((factor([&large[..1], &large[1..]].into_iter(), 1.0, 0.0) * 5e200 - 1.0).abs() < 1e-12);
        assert!(factor([&[f64::MAX; 4][..]].into_iter(), 1.0, 0.0) > 0.0);
    }

    #[test]
    fn short_gradients_are_left_alone() {
        assert_eq!(factor([&[3.0, 4.0][..]].into_iter(), 5.0, 0.0), 1.0);
        assert_eq!(factor([&[0.0, 0.0][..]].into_iter(), 5.0, 0.0), 1.0);
        assert_eq!(factor([&[6.0, 8.0][..]].into_iter(), 5.0, 0.0), 0.5);
    }
}
