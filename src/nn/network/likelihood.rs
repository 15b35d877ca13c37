//! The loss of a batch as a likelihood.

use super::Network;
use crate::nn::losses::{CurvatureRoot, Reduction, Targets};
use crate::nn::term::LossTerm;
use crate::real::Real;

impl<T: Real> Network<T> {
    /// Factor of the negative log-likelihood in the loss of the bound batch; `None` unless all losses are of probabilities, labels or counts, with the same
    /// factor. No noise is to be estimated for these. A loss of one entry of the output after the other is their mean.
    pub(super) fn dispersion_of_losses(&self) -> Option<T> {
        let factor_of = |term: &LossTerm<T>| {
            let is_likelihood = match term.loss.targets() {
                Targets::Probabilities | Targets::Labels | Targets::NonNegative => true,
                Targets::None | Targets::Values => false,
            };
            let form = term.loss.least_squares().filter(|_| is_likelihood)?;
            let entries = if form.root() == CurvatureRoot::Diagonal { term.output.width() } else { 1 };
            Some(term.weight * self.share_of_sample(term) / T::from_f64(entries as f64))
        };
        let mut factors = self.sweeps.terms.iter().map(factor_of);
        let first = factors.next()??;
        factors.all(|factor| factor == Some(first)).then_some(first)
    }

    /// Standard deviation of the residuals of a loss for a standard deviation of one of its target, for each entry of the output; `None` for a loss whose residuals
    /// are not multiples of errors.
    pub(crate) fn residuals_per_target(&self, term: usize) -> Option<Vec<T>> {
        let term = self.sweeps.terms.get(term)?;
        let form =
            term.loss.least_squares().filter(|form| form.is_exact() && form.root() == CurvatureRoot::Diagonal)?;
        let zeros = vec![T::ZERO; term.output.width()];
        let (mut residuals, mut roots) = (zeros.clone(), zeros.clone());
        let targets = if term.loss.targets() == Targets::Values { &zeros[..] } else { return None };
        form.residuals(&zeros, zeros.len(), targets, &mut residuals, &mut roots);
        let unit = (term.weight * self.share_of_sample(term)).sqrt();
        Some(roots.into_iter().map(|root| root * unit).collect())
    }

    /// Returns true if the entries of the first output are logits of probabilities that add up to one.
    pub(crate) fn has_shared_probabilities(&self) -> bool {
        let form = self.sweeps.terms.first().and_then(|term| term.loss.least_squares());
        form.is_some_and(|form| form.root() != CurvatureRoot::Diagonal)
    }

    /// Factor by which the loss of a sample enters that of the batch, but for weights.
    fn share_of_sample(&self, term: &LossTerm<T>) -> T {
        match term.reduction {
            Reduction::Mean => T::from_f64(self.sweeps.batch.mean_over.max(1) as f64).recip(),
            Reduction::Sum => T::ONE,
        }
    }
}
