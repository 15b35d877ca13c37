//! A network with a fault, as Kronecker-factored Levenberg–Marquardt sees it.

use std::ops::Range;

use marquardt::nn::Network;
use marquardt::problem::{
    FactorSample, KroneckerBlock, KroneckerFactored, NotKroneckerFactored, NotLeastSquares, Objective, OutputProducts,
};
use marquardt::variables::Gradients;
use marquardt::{EvaluationError, LeastSquares, Real};

/// Faults of a step, or of none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Fault {
    Evaluation,
    Loss,
    Gradient,
    Factors,
    Curvature,
    CurvatureEvaluation,
    LossAfter,
    /// Products are not formed, so that the optimizer multiplies gradients.
    NoProducts,
    /// Products are formed before the fault.
    Products,
}

/// A network with a fault.
pub struct Faulty<'a, T: Real>(pub &'a mut Network<T>, pub Fault);

impl<T: Real> Objective<T> for Faulty<'_, T> {
    fn loss(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        self.0.loss(x)
    }
    fn loss_and_gradient(&mut self, x: &[T], gradients: &mut Gradients<T>) -> Result<T, EvaluationError> {
        self.0.loss_and_gradient(x, gradients)
    }
    fn least_squares(&mut self) -> Result<&mut dyn LeastSquares<T>, NotLeastSquares> {
        self.0.least_squares()
    }
    fn kronecker_factored(&mut self) -> Result<&mut dyn KroneckerFactored<T>, NotKroneckerFactored> {
        self.0.kronecker_factored()?;
        Ok(self)
    }
}

impl<T: Real> KroneckerFactored<T> for Faulty<'_, T> {
    fn kronecker_blocks(&self) -> &[KroneckerBlock] {
        self.0.kronecker_blocks()
    }
    fn linearize_factored(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        sample: Option<FactorSample<'_, T>>,
        keep: bool,
    ) -> Result<T, EvaluationError> {
        if self.1 == Fault::Evaluation {
            return Err("no".into());
        }
        match (self.1, sample) {
            (Fault::Factors, Some(FactorSample { factors, share, signs })) => {
                let sample = FactorSample { factors: &mut *factors, share, signs };
                let loss = self.0.linearize_factored(x, trainable, gradients, Some(sample), keep)?;
                factors.add_sensitivities(0, &[T::from_f64(f64::NAN); 6]);
                Ok(loss)
            }
            (fault, sample) => {
                let loss = self.0.linearize_factored(x, trainable, gradients, sample, keep)?;
                if fault == Fault::Gradient {
                    gradients.flat_mut()[3] = T::INFINITY;
                }
                Ok(if fault == Fault::Loss { T::from_f64(f64::NAN) } else { loss })
            }
        }
    }
    fn linearize_with_products(
        &mut self,
        x: &[T],
        trainable: &[Range<usize>],
        gradients: &mut Gradients<T>,
        products: OutputProducts<'_, T>,
        keep: bool,
    ) -> Result<T, EvaluationError> {
        if self.1 != Fault::Products {
            return self.linearize_factored(x, trainable, gradients, None, keep);
        }
        self.0.linearize_with_products(x, trainable, gradients, products, keep)?;
        Err("no".into())
    }
    fn curvature(&mut self, x: &[T], directions: &[&[T]], products: &mut [T]) -> Result<(), EvaluationError> {
        if self.1 == Fault::CurvatureEvaluation {
            return Err("no".into());
        }
        self.0.curvature(x, directions, products)?;
        if self.1 == Fault::Curvature {
            products[0] = T::from_f64(f64::NAN);
        }
        Ok(())
    }
    fn loss_at(&mut self, x: &[T]) -> Result<T, EvaluationError> {
        match self.1 {
            Fault::LossAfter => Err("no".into()),
            // Wherever it is asked for: it is not the last step's.
            Fault::Loss => Ok(T::from_f64(f64::NAN)),
            _ => self.0.loss_at(x),
        }
    }
}
