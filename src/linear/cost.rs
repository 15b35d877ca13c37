//! Cost of each form of the linear system.

use super::cgls::Truncation;
use super::form::LinearForm;
use crate::evaluation::Tiles;
use crate::problem::{ProductWork, Rate, Work};
use crate::real::Real;
use crate::storage::Dynamic;

/// The size of a problem, as far as the choice depends on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Size {
    /// Residuals.
    pub(crate) m: usize,
    /// Parameters.
    pub(crate) n: usize,
    /// Residuals that are computed together.
    pub(crate) group: usize,
    /// Cost of products with the Jacobian where it need not be formed.
    pub(crate) products: Option<ProductWork>,
    /// Ridge on top of the damping.
    pub(crate) ridge: Ridge,
    /// True if parameters have bounds, at which only the primal forms can hold them.
    pub(crate) bounded: bool,
    /// True if the Jacobian is made of blocks.
    pub(crate) blocks: bool,
    /// True if the rows are spread over ranks, of which none has all to make a dual of.
    pub(crate) spread: bool,
    /// Truncation of conjugate gradients.
    pub(crate) truncation: Truncation,
}

impl Size {
    /// The size of a problem without a ridge, bounds, blocks and ranks, such as that of a minibatch.
    pub(crate) fn plain(
        m: usize,
        n: usize,
        group: usize,
        products: Option<ProductWork>,
        truncation: Truncation,
    ) -> Self {
        let (bounded, blocks, spread) = (false, false, false);
        Size { m, n, group, products, ridge: Ridge::None, bounded, blocks, spread, truncation }
    }
}

/// A ridge `½ Σ w_j x_j²`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ridge {
    None,
    /// Ridge with the same weight for all parameters.
    Uniform,
    /// Ridge with weights that differ.
    Varied,
}

/// Rounds of conjugate gradients that a step is expected to take.
const ROUNDS: f64 = 50.0;

/// Fewest rounds of conjugate gradients worth a try in place of a factorisation: most systems of training take as many at most.
const FEWEST_ROUNDS: usize = 40;

/// Part of the time of a factorisation that conjugate gradients may take in its place.
const AFFORDABLE: f64 = 0.75;

/// Conjugate gradients in place of the Gram matrix of some rows and its factorisation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StandIn {
    /// Rounds that cost less than the factorisation: enough to be worth a try.
    pub(crate) rounds: usize,
    round: Work,
    blocks: Work,
}

impl StandIn {
    /// Conjugate gradients in place of the factorisation of `m` rows; `None` where their rounds are too few.
    pub(crate) fn new(work: &ProductWork, m: usize, group: usize) -> Option<Self> {
        let (gram, product) = (work.row_gram?, work.gram_product?);
        let (rows, samples) = (m as f64, (m / group.max(1)) as f64);
        let factorization = gram + Work::elementwise(rows * rows, 2.0, 3.0) + Work::cholesky(rows);
        // The preconditioner has blocks of one residual each.
        let round = product + Work::substitution(samples) * group as f64 + Work::elementwise(rows, 10.0, 10.0);
        let blocks = (Work::triangle(samples, samples) + Work::cholesky(samples)) * group as f64;
        let rounds = (AFFORDABLE * factorization.time() - blocks.time()) / round.time();
        (rounds >= FEWEST_ROUNDS as f64).then_some(StandIn { rounds: rounds as usize, round, blocks })
    }

    /// Estimated work of a linearisation and one damped solve of as many rounds as are expected.
    pub(crate) fn work(&self, products: &ProductWork) -> Work {
        let rounds = ROUNDS.min(self.rounds as f64);
        products.linearize + self.blocks + self.round * rounds + products.product
    }
}

impl LinearForm {
    /// Estimated work of a linearisation and one damped solve; `None` where the problem is not one for this form.
    pub(crate) fn work<T: Real>(self, size: &Size) -> Option<Work> {
        let (m, n) = (size.m as f64, size.n as f64);
        // What a problem without products takes for its rows is the same in all its forms.
        let rows = size.products.map_or(Some(Work::NONE), |products| products.jacobian);
        Some(match self {
            LinearForm::Cholesky => {
                // Each tile passes over the triangle, which is cleared before, copied after, and factorised.
                let tiles = (m / Tiles::<T, Dynamic>::rows(size.m, size.n, size.group).max(1) as f64).ceil();
                let sums = Work::new(Rate::Triangle, m * n * (n + 1.0), m * n + tiles * n * n);
                rows? + sums + Work::elementwise(n * n, 0.0, 3.0) + Work::cholesky(n) + Work::substitution(n)
            }
            LinearForm::Qr => {
                let reflections = 2.0 * m * n * n + 4.0 * n * n * n / 3.0;
                rows? + Work::new(Rate::Factorization, reflections, m * n + n * n) + Work::substitution(n)
            }
            LinearForm::Dual => {
                // The rows are copied, scaled, and multiplied by.
                let passes = Work::elementwise(m * n, 4.0, 8.0) + Work::elementwise(m * m, 0.0, 2.0);
                rows? + passes + Work::triangle(m, n) + Work::cholesky(m) + Work::substitution(m)
            }
            LinearForm::FactoredDual => {
                let ProductWork { linearize, row_gram, product, .. } = size.products?;
                // The matrix is copied, and multiplied by the solution.
                let passes = Work::elementwise(m * m, 2.0, 3.0);
                linearize + row_gram? + passes + Work::cholesky(m) + Work::substitution(m) + product
            }
            LinearForm::ConjugateGradients => {
                let ProductWork { linearize, product, .. } = size.products?;
                linearize + product * (2.0 * ROUNDS + 1.0) + Work::elementwise(m, 10.0 * ROUNDS, 10.0 * ROUNDS)
            }
            LinearForm::TruncatedConjugateGradients => {
                let ProductWork { linearize, product, .. } = size.products?;
                let rounds = size.truncation.rounds as f64;
                linearize + product * (2.0 * rounds) + Work::elementwise(m + n, 8.0 * rounds, 8.0 * rounds)
            }
            // The structure says it, which is analysed when the model is made.
            LinearForm::SparseCholesky | LinearForm::Cgnr | LinearForm::Schur | LinearForm::IterativeSchur => {
                (size.blocks && !size.spread).then_some(Work::NONE)?
            }
        })
    }

    /// Numbers that the form keeps in memory.
    fn numbers(self, &Size { m, n, group, products, .. }: &Size) -> Option<usize> {
        let square = |n: usize| n.saturating_mul(n);
        let of_products = || products.map(|products| products.numbers);
        Some(match self {
            LinearForm::Cholesky => square(n).saturating_mul(3).saturating_add(n.saturating_mul(4)),
            LinearForm::Qr => square(n).saturating_mul(4).saturating_add(n.saturating_mul(8)),
            LinearForm::Dual => m.saturating_mul(n).saturating_mul(3).saturating_add(square(m).saturating_mul(2)),
            LinearForm::FactoredDual => of_products()?
                .saturating_add(square(m).saturating_mul(2))
                .saturating_add(m.saturating_mul(8))
                .saturating_add(n.saturating_mul(2)),
            LinearForm::ConjugateGradients => {
                let columns = group.saturating_mul(2).saturating_add(12);
                of_products()?.saturating_add(m.saturating_mul(columns)).saturating_add(n.saturating_mul(3))
            }
            LinearForm::TruncatedConjugateGradients => {
                of_products()?.saturating_add(m.saturating_mul(6)).saturating_add(n.saturating_mul(7))
            }
            LinearForm::SparseCholesky | LinearForm::Cgnr | LinearForm::Schur | LinearForm::IterativeSchur => m,
        })
    }

    /// Bytes that the form needs, with the vectors that every form needs.
    pub(crate) fn bytes<T: Real>(self, size: &Size) -> Option<usize> {
        let tile = Tiles::<T, Dynamic>::numbers(size.m, self.formed_columns(size.n), size.group);
        let vectors = size.n.saturating_mul(8);
        Some(self.numbers(size)?.saturating_add(tile).saturating_add(vectors).saturating_mul(size_of::<T>()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(m: usize, n: usize) -> Size {
        let (rows, columns) = (m as f64, n as f64);
        let products = ProductWork {
            linearize: Work::product(rows, columns, 1.0),
            row_gram: Some(Work::triangle(rows, columns)),
            product: Work::product(rows, columns, 1.0),
            gram_product: None,
            jacobian: Some(Work::product(rows, columns, 2.0)),
            numbers: m + n,
        };
        Size::plain(m, n, 1, Some(products), Truncation::default())
    }

    #[test]
    fn estimates_grow_with_residuals_and_parameters() {
        for form in LinearForm::ALL {
            let work = |m, n| form.work::<f64>(&size(m, n)).unwrap();
            for (small, large) in
                [((50, 40), (51, 40)), ((50, 40), (50, 41)), ((1000, 9), (1001, 9)), ((9, 500), (9, 501))]
            {
                let (small, large) = (work(small.0, small.1), work(large.0, large.1));
                assert!(small.flops() < large.flops() && small.time() < large.time(), "{form}: {small:?}, {large:?}");
            }
        }
    }

    #[test]
    fn the_leading_terms_are_those_of_the_textbooks() {
        let leading = |form: LinearForm, m: usize, n: usize| {
            form.work::<f64>(&Size { products: None, ..size(m, n) }).map(Work::flops)
        };
        let near = |found: Option<f64>, expected: f64| (found.unwrap() / expected - 1.0).abs() < 0.01;
        assert!(near(leading(LinearForm::Cholesky, 1_000_000, 1000), 1e12));
        assert!(near(leading(LinearForm::Cholesky, 1, 10_000), 1e12 / 3.0));
        assert!(near(leading(LinearForm::Qr, 1_000_000, 1000), 2e12));
        assert!(near(leading(LinearForm::Dual, 1000, 1_000_000), 1e12));
        assert!(near(leading(LinearForm::Dual, 10_000, 1), 1e12 / 3.0));
        assert_eq!(leading(LinearForm::FactoredDual, 10, 10), None);
        assert_eq!(leading(LinearForm::ConjugateGradients, 10, 10), None);
    }

    /// The Jacobian is paid for by the forms that take it, and by no other.
    #[test]
    fn rows_cost_where_they_are_formed() {
        let size = size(30, 40);
        let without = |products: ProductWork| Size {
            products: Some(ProductWork { jacobian: Some(Work::NONE), ..products }),
            ..size
        };
        for form in LinearForm::ALL {
            let work = |size: &Size| form.work::<f64>(size).unwrap().flops();
            let jacobian = size.products.unwrap().jacobian.unwrap().flops();
            let expected = if form.multiplies() { 0.0 } else { jacobian };
            assert_eq!(work(&size) - work(&without(size.products.unwrap())), expected, "{form}");
        }
    }
}
