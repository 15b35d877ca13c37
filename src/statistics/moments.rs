//! Mean and variance of values that come block by block.

use crate::kernels::vector::dot;

/// The mean of weighted values, and the sum of their weighted squares about it (Chan, Golub & LeVeque 1983).
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Moments {
    /// Sum of the weights.
    pub(crate) weight: f64,
    /// The weighted mean.
    pub(crate) mean: f64,
    /// `Σ w (v − mean)²`.
    squares: f64,
}

impl Moments {
    /// Takes in values whose weights have these square roots. The values are overwritten.
    pub(crate) fn extend(&mut self, values: &mut [f64], roots: &[f64]) {
        let Some(&first) = values.first() else { return };
        // Squares about a value near the mean do not cancel.
        let shift = if self.weight > 0.0 { self.mean } else { first };
        for (value, &root) in values.iter_mut().zip(roots) {
            *value = root * (*value - shift);
        }
        let (weight, along, squares) = (dot(roots, roots), dot(roots, values), dot(values, values));
        let block =
            Moments { weight, mean: shift + along / weight, squares: (squares - along * (along / weight)).max(0.0) };
        self.merge(block);
    }

    fn merge(&mut self, other: Moments) {
        let weight = self.weight + other.weight;
        let (share, difference) = (other.weight / weight, other.mean - self.mean);
        self.squares += other.squares + self.weight * share * difference * difference;
        self.mean += share * difference;
        self.weight = weight;
    }

    /// `Σ w (v − m)²` for another mean `m`.
    pub(crate) fn squares_about(&self, mean: f64) -> f64 {
        self.squares + self.weight * (self.mean - mean) * (self.mean - mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests blocks of several sizes; a million is what squares about zero would cancel by.
    #[test]
    fn blocks_have_the_moments_of_the_whole() {
        let values: Vec<f64> = (0..1000).map(|i| 1e6 + f64::from(i * i % 37) + 0.01 * f64::from(i)).collect();
        let roots: Vec<f64> = (0..1000).map(|i| 1.0 + f64::from(i % 3)).collect();
        let weight: f64 = roots.iter().map(|root| root * root).sum();
        let mean = values.iter().zip(&roots).map(|(v, root)| v * root * root).sum::<f64>() / weight;
        let squares: f64 = values.iter().zip(&roots).map(|(v, root)| (root * (v - mean)).powi(2)).sum();
        for size in [1, 7, 100, 1000] {
            let mut moments = Moments::default();
            for (values, roots) in values.clone().chunks_mut(size).zip(roots.chunks(size)) {
                moments.extend(values, roots);
            }
            assert_eq!(moments.weight, weight);
            assert!((moments.mean - mean).abs() < 1e-9, "blocks of {size}: {} {mean}", moments.mean);
            assert!((moments.squares_about(mean) - squares).abs() < 1e-10 * squares, "blocks of {size}");
            assert!((moments.squares_about(mean + 1.0) - squares - weight).abs() < 1e-9 * squares);
        }
    }

    #[test]
    fn equal_values_have_no_variance() {
        let mut moments = Moments::default();
        for _ in 0..10 {
            moments.extend(&mut [0.1; 33], &[3.0; 33]);
        }
        assert_eq!((moments.mean, moments.squares_about(0.1)), (0.1, 0.0));
    }
}
