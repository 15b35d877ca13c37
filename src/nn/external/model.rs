//! A model that another library evaluates and differentiates.

use crate::kernels::Factor;
use crate::kernels::vector::add_scaled;
use crate::nn::arithmetic::put;
use crate::nn::sweep::row_number;
use crate::nn::work::SweepWork;
use crate::problem::EvaluationError;
use crate::real::Real;

/// A model of another library, on a batch of samples: its outputs, and products with the transpose of their Jacobian.
///
/// [`External`](super::External) makes an [`Objective`](crate::problem::Objective) of it, for all losses and all optimizers. Numbers are
/// row after row: `width` outputs for each sample. The outputs of a sample must not depend on other samples.
///
/// # Recorded layers
///
/// A model that knows the inputs of its layers, and can be asked for the derivatives with respect to what comes out of them,
/// gets exact steps: the dual form or the normal equations, whichever is cheaper, and no Jacobian is pulled out of the other
/// library row by row. Where layers do not cover all parameters, or a parameter acts outside of its layers as well, which is found
/// out by comparing a gradient, steps are those of
/// [truncated conjugate gradients](crate::linear::LinearForm::TruncatedConjugateGradients).
pub trait ExternalModel<T: Real> {
    /// Number of parameters.
    fn parameter_count(&self) -> usize;

    /// Fills `outputs` at `x`.
    ///
    /// # Errors
    ///
    /// Whatever keeps the other library from it, as for all methods; the step is not taken.
    fn outputs(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError>;

    /// Fills `outputs` at `x`, which becomes the point that [`pull`](Self::pull), [`push`](Self::push), [`layers`](Self::layers) and
    /// what belongs to these are of, whatever is evaluated in between.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn linearize(&mut self, x: &[T], outputs: &mut [T]) -> Result<(), EvaluationError>;

    /// Fills `gradient` with that of `Σ cotangents · outputs`, by all parameters.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn pull(&mut self, cotangents: &[T], gradient: &mut [T]) -> Result<(), EvaluationError>;

    /// Fills `tangents` with the derivative of the outputs along `v`, and returns `true`; `false`, the default, where that is not
    /// known, and a difference of outputs is taken.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn push(&mut self, v: &[T], tangents: &mut [T]) -> Result<bool, EvaluationError> {
        let _ = (v, tangents);
        Ok(false)
    }

    /// The recorded layers; none by default.
    fn layers(&self) -> &[RecordedLayer] {
        &[]
    }

    /// Fills `inputs` with what went into a recorded layer: for each sample, and each of the layer's positions, its inputs.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn inputs(&mut self, layer: usize, inputs: &mut [T]) -> Result<(), EvaluationError> {
        let _ = (layer, inputs);
        Err("no layers are recorded".into())
    }

    /// Calls `keep` with every recorded layer's place among them, and the gradient of `Σ cotangents · outputs` by what came out of
    /// it: for each sample, and each position, a number for each output.
    ///
    /// # Errors
    ///
    /// As [`outputs`](Self::outputs).
    fn sensitivities(&mut self, cotangents: &[T], keep: &mut dyn FnMut(usize, &[T])) -> Result<(), EvaluationError> {
        let _ = (cotangents, keep);
        Err("no layers are recorded".into())
    }

    /// Name of parameter `index` in reports.
    fn parameter_name(&self, index: usize) -> String {
        format!("x[{index}]")
    }
}

/// A layer whose inputs and sensitivities are known. Parameters are given by the place of their first number among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RecordedLayer {
    /// `y = x Wᵀ + b` at each of the positions of a sample: of a plain dense layer one, of a sequence its length, of a convolution
    /// as many as its outputs have pixels, with the patches of the image for `x`.
    Dense {
        /// The weight, of `outputs × inputs` numbers, row after row.
        weight: usize,
        /// The bias, of a number for each output.
        bias: Option<usize>,
        /// Numbers that go in at each position.
        inputs: usize,
        /// Numbers that come out at each position.
        outputs: usize,
        /// Positions in a sample.
        positions: usize,
    },
    /// Rows of a table, whose numbers are the inputs.
    Embedding {
        /// The table, of `rows × columns` numbers.
        table: usize,
        /// Rows of the table.
        rows: usize,
        /// Numbers in a row.
        columns: usize,
        /// Rows that a sample looks up.
        positions: usize,
    },
    /// `y = w ⊙ x + b` at each of the positions: the last part of a normalisation.
    Scale {
        /// The weight.
        weight: Option<usize>,
        /// The bias.
        bias: Option<usize>,
        /// Numbers at each position.
        width: usize,
        /// Positions in a sample.
        positions: usize,
    },
}

impl RecordedLayer {
    /// Numbers that go in for each sample.
    pub fn inputs(&self) -> usize {
        match *self {
            RecordedLayer::Dense { inputs, positions, .. } => inputs * positions,
            RecordedLayer::Embedding { positions, .. } => positions,
            RecordedLayer::Scale { width, positions, .. } => width * positions,
        }
    }

    /// Numbers that come out for each sample.
    pub fn outputs(&self) -> usize {
        match *self {
            RecordedLayer::Dense { outputs, positions, .. } => outputs * positions,
            RecordedLayer::Embedding { columns, positions, .. } => columns * positions,
            RecordedLayer::Scale { width, positions, .. } => width * positions,
        }
    }

    /// Its parameters: where the first number of each array is, and how many there are.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = (usize, usize)> {
        let [first, second] = match *self {
            RecordedLayer::Dense { weight, bias, inputs, outputs, .. } => {
                [Some((weight, inputs * outputs)), bias.map(|bias| (bias, outputs))]
            }
            RecordedLayer::Embedding { table, rows, columns, .. } => [Some((table, rows * columns)), None],
            RecordedLayer::Scale { weight, bias, width, .. } => {
                [weight.map(|weight| (weight, width)), bias.map(|bias| (bias, width))]
            }
        };
        first.into_iter().chain(second)
    }

    /// Where its arrays of parameters begin: the weight or table, and the bias.
    pub(crate) fn arrays(&self) -> [Option<usize>; 2] {
        match *self {
            RecordedLayer::Dense { weight, bias, .. } => [Some(weight), bias],
            RecordedLayer::Embedding { table, .. } => [Some(table), None],
            RecordedLayer::Scale { weight, bias, .. } => [weight, bias],
        }
    }

    /// Work for each sample of a forward pass, and of forming the columns of one residual.
    pub(crate) fn work(&self) -> (SweepWork, SweepWork) {
        match *self {
            RecordedLayer::Dense { inputs, outputs, positions, .. } => {
                let columns = SweepWork::elementwise(inputs * outputs, 2.0 * positions as f64, 1.0);
                (SweepWork::product(positions, inputs, outputs), columns)
            }
            _ => {
                let pass = SweepWork::elementwise(self.outputs(), 2.0, 2.0);
                (pass, pass)
            }
        }
    }

    /// Adds one sample's columns of a row of the Jacobian to those of its arrays that have a place in the row, from the sample's
    /// inputs and its sensitivities.
    pub(crate) fn add_columns<T: Real>(&self, places: [Option<usize>; 2], inputs: &[T], deltas: &[T], row: &mut [T]) {
        let [first, second] = places;
        match *self {
            RecordedLayer::Dense { inputs: columns, outputs, positions, .. } => {
                if let Some(place) = first {
                    let weight = &mut row[place..place + outputs * columns];
                    T::multiply(weight, true, Factor::Transposed(deltas), inputs, positions, columns);
                }
            }
            RecordedLayer::Embedding { columns, .. } => {
                for (&number, deltas) in inputs.iter().zip(deltas.chunks_exact(columns)) {
                    let place = first.unwrap_or(0) + row_number(number) * columns;
                    add_scaled(&mut row[place..place + columns], T::ONE, deltas);
                }
            }
            RecordedLayer::Scale { width, .. } => {
                if let Some(place) = first {
                    for (inputs, deltas) in inputs.chunks_exact(width).zip(deltas.chunks_exact(width)) {
                        let products = inputs.iter().zip(deltas).map(|(&input, &delta)| input * delta);
                        put(&mut row[place..place + width], true, products);
                    }
                }
            }
        }
        if let Some(place) = second {
            let bias = self.bias_width();
            deltas.chunks_exact(bias).for_each(|deltas| add_scaled(&mut row[place..place + bias], T::ONE, deltas));
        }
    }

    /// Numbers in the bias.
    fn bias_width(&self) -> usize {
        match *self {
            RecordedLayer::Dense { outputs, .. } => outputs,
            RecordedLayer::Embedding { columns, .. } => columns,
            RecordedLayer::Scale { width, .. } => width,
        }
    }
}
