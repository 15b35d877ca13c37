//! Normalisation by means and standard deviations of data.

use ndarray::{ArrayD, ArrayView2, IxDyn};

use super::{Layer, NetworkError, Recorder};
use crate::nn::{Node, TapeError};
use crate::real::Real;

/// Keras' `Normalization`: the entries of a sample, less the means of data that the layer was adapted to, over their standard deviations.
///
/// The role of MATLAB's `mapminmax` and scikit-learn's `StandardScaler`, inside of the network: means and deviations are variables, `mean` and
/// `deviation`, which are not trained, and are saved and loaded with the others. As the last layer, [adapted](Self::adapt) to the targets and
/// [inverted](Self::inverted), it gives predictions the unit of the targets, and a training is the same whatever that unit is.
///
/// ```
/// use marquardt::nn::{MeanSquaredError, Normalization, Sequential};
/// use marquardt::{LevenbergMarquardt, Variables};
/// use ndarray::Array2;
///
/// let x = Array2::from_shape_fn((40, 1), |(i, _)| 1500.0 + 10.0 * i as f64);
/// let y = x.mapv(|x| 2e5 + 1e5 * (x / 100.0).sin());
///
/// let layers = Sequential::new(1)
///     .push(Normalization::new().adapt(x.view())?)
///     .dense(10)
///     .tanh()
///     .dense(1)
///     .push(Normalization::new().adapt(y.view())?.inverted());
/// let mut variables = Variables::new();
/// let mut network = layers.compile(&mut variables, 0, MeanSquaredError)?;
/// network.batch(&[x.view()], &[y.view()])?;
/// LevenbergMarquardt::new().minimize_variables(&mut network, &mut variables)?;
///
/// let output = network.outputs()[0];
/// let errors = network.predict(&variables, &[x.view()], output)? - &y;
/// assert!(errors.iter().all(|error| error.abs() < 1e3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Normalization {
    /// Mean and standard deviation of each entry; empty before the layer is adapted.
    moments: Vec<[f64; 2]>,
    inverted: bool,
}

impl Normalization {
    /// Creates a layer that changes nothing until it is adapted: means of 0, and deviations of 1.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes mean and standard deviation (with divisor `n`) of each column of data. A column of equal entries has the deviation 1.
    ///
    /// # Errors
    ///
    /// [`TapeError::Setting`] for data without rows, and for entries that are not finite.
    pub fn adapt<T: Real>(mut self, data: ArrayView2<'_, T>) -> Result<Self, NetworkError> {
        let (of, rows) = ("normalization", data.nrows() as f64);
        if data.nrows() == 0 {
            let (setting, requirement) = ("rows of data", "positive");
            return Err(TapeError::Setting { of, setting, requirement, value: rows }.into());
        }
        if let Some(entry) = data.iter().find(|entry| !entry.is_finite()) {
            let (setting, requirement) = ("data", "finite");
            return Err(TapeError::Setting { of, setting, requirement, value: entry.to_f64() }.into());
        }
        let columns = data.columns().into_iter();
        self.moments = columns
            .map(|column| {
                // Relative to the largest entry, no square overflows or vanishes.
                let largest = column.iter().fold(0.0_f64, |largest, entry| largest.max(entry.to_f64().abs()));
                let unit = if largest > 0.0 { largest } else { 1.0 };
                let mean = column.iter().map(|entry| entry.to_f64() / unit).sum::<f64>() / rows;
                let squares = column.iter().map(|entry| (entry.to_f64() / unit - mean).powi(2));
                let deviation = (squares.sum::<f64>() / rows).sqrt();
                // What is left of equal entries is rounding.
                let is_constant = deviation <= T::EPSILON.to_f64() * mean.abs();
                [unit * mean, if is_constant { 1.0 } else { unit * deviation }]
            })
            .collect();
        Ok(self)
    }

    /// Multiplies by the standard deviations and adds the means, Keras' `invert=True`.
    pub fn inverted(mut self) -> Self {
        self.inverted = true;
        self
    }
}

impl<T: Real> Layer<T> for Normalization {
    fn kind(&self) -> &'static str {
        "normalization"
    }

    fn record(&self, recorder: &mut Recorder<'_, T>, x: Node) -> Result<Node, NetworkError> {
        let width = x.width();
        if !self.moments.is_empty() && self.moments.len() != width {
            let (operation, left, right) = ("normalization", width, self.moments.len());
            return Err(TapeError::Widths { operation, left, right }.into());
        }
        let moment = |which: usize| {
            let entry = |j: usize| self.moments.get(j).map_or([0.0, 1.0][which], |moments| moments[which]);
            ArrayD::from_shape_fn(IxDyn(&[width]), |index| T::from_f64(entry(index[0])))
        };
        let mean = recorder.constant("mean", moment(0).view())?;
        let deviation = recorder.constant("deviation", moment(1).view())?;
        let tape = recorder.tape();
        let (mean, deviation) = (tape.variable(mean), tape.variable(deviation));
        if self.inverted {
            let scaled = tape.mul(x, deviation)?;
            return Ok(tape.add(scaled, mean)?);
        }
        let centred = tape.sub(x, mean)?;
        Ok(tape.div(centred, deviation)?)
    }
}
