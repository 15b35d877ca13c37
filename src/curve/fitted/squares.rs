//! Sums of squares over all responses of a fit.

use super::basis::Basis;
use crate::curve::checked_fit::CheckedFit;
use crate::curve::data::Data;
use crate::curve::noise::Noise;
use crate::curve::{Curve, CurveError};
use crate::distributed::{Communicator, CommunicatorError};
use crate::kernels::vector::dot;
use crate::real::Real;
use crate::statistics::Moments;

/// Responses that are evaluated at a time, so that they stay in the cache.
const BLOCK: usize = 1024;

/// Sums over the responses of all ranks that every report needs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Squares<T> {
    /// Sum of the squared whitened residuals; for counts Pearson's `Σ (y − μ)²/μ`.
    pub(super) whitened: T,
    /// Sum of the squared residuals.
    pub(super) residuals: T,
    /// Sum of the squares of the responses about their mean, each divided by its sigma; several responses in a row have a mean each.
    /// Zero where that is rounding.
    pub(super) about_mean: T,
    /// Sum of the squared responses, each divided by its sigma.
    pub(super) responses: f64,
}

impl<T: Real> Squares<T> {
    /// The sums at the point where a solve has ended; those of residuals are infinite if the curve returns an error there. Collective.
    pub(super) fn at(checked: &CheckedFit<'_, T>, at: &[T]) -> Result<Self, CurveError> {
        let (data, ranks) = (&checked.data, checked.data.ranks());
        let typical = typical_sigma(data)?;
        let own = Own::at(checked, at, typical);
        let mut sums = [own.whitened, own.residuals, own.responses];
        ranks.all_sum(&mut sums)?;
        let [whitened, residuals, responses] = sums;
        let about_mean = match data.noise {
            Noise::Correlated(_) => squares_about_constants(data, typical),
            _ => squares_about_mean(&own.moments, ranks)?,
        };
        let count = (data.all_rows() * data.outputs()) as f64;
        let noise = 10.0 * (T::EPSILON.to_f64() + count * f64::EPSILON);
        let about_mean = if about_mean > noise * noise * responses { about_mean } else { 0.0 };
        let [whitened, residuals, about_mean] = [whitened, residuals, about_mean].map(T::from_f64);
        Ok(Squares { whitened, residuals, about_mean, responses })
    }
}

/// Sums over this rank's responses.
struct Own {
    whitened: f64,
    residuals: f64,
    responses: f64,
    /// Moments of the responses in units of a typical sigma, weighted by the inverse squares of their sigmas; one for each response of a
    /// row.
    moments: Vec<Moments>,
}

impl Own {
    /// The responses of the curve are evaluated in blocks, and not kept.
    fn at<T: Real>(checked: &CheckedFit<'_, T>, at: &[T], typical: T) -> Self {
        let data = &checked.data;
        let (outputs, responses) = (data.outputs(), data.y().len());
        let block = match data.noise {
            Noise::Correlated(_) => responses,
            _ if checked.curve.takes_all_rows() => responses,
            _ => BLOCK.next_multiple_of(outputs).min(responses),
        };
        let mut own = Own { whitened: 0.0, residuals: 0.0, responses: 0.0, moments: vec![Moments::default(); outputs] };
        let mut is_lost = false;
        let (mut fitted, mut residuals) = (vec![T::ZERO; block], vec![T::ZERO; block]);
        let (mut values, mut roots) = (vec![0.0; block], vec![1.0; block]);
        for (first, y) in (0..responses).step_by(block.max(1)).zip(data.y().chunks(block.max(1))) {
            let (fitted, residuals) = (&mut fitted[..y.len()], &mut residuals[..y.len()]);
            let x = data.predictors(first, y.len());
            is_lost = is_lost || checked.curve.responses(x, data.width(), at, fitted).is_err();
            for ((residual, &y), &fitted) in residuals.iter_mut().zip(y).zip(&*fitted) {
                *residual = y - fitted;
            }
            own.residuals += dot(residuals, residuals).to_f64();
            checked.whiten(first, fitted, residuals);
            own.whitened += dot(residuals, residuals).to_f64();
            for (output, moments) in own.moments.iter_mut().enumerate() {
                let count = y.len() / outputs;
                let of_output = y.iter().skip(output).step_by(outputs).zip(&mut values).zip(&mut roots);
                if let Noise::Uniform = data.noise {
                    of_output.for_each(|((&y, value), _)| *value = y.to_f64());
                    own.responses += dot(&values[..count], &values[..count]);
                } else {
                    for (row, ((&y, value), root)) in of_output.enumerate() {
                        *value = (y / typical).to_f64();
                        *root = (typical / data.noise.sigma(first + row * outputs + output)).to_f64();
                    }
                    let scaled = values[..count].iter().zip(&roots).map(|(value, root)| (root * value).powi(2));
                    own.responses += scaled.sum::<f64>();
                }
                moments.extend(&mut values[..count], &roots[..count]);
            }
        }
        if is_lost {
            (own.whitened, own.residuals) = (f64::INFINITY, f64::INFINITY);
        }
        own
    }
}

/// The sum of squares that the best constants leave of correlated responses, which one rank has, to each of several in a row its own.
fn squares_about_constants<T: Real>(data: &Data<'_, T>, typical: T) -> f64 {
    let (outputs, mut rest) = (data.outputs(), data.y().to_vec());
    let mut columns = vec![T::ZERO; rest.len() * outputs];
    for (response, row) in columns.chunks_exact_mut(outputs).enumerate() {
        row[response % outputs] = typical;
    }
    data.noise.whiten(0, &mut rest, &mut columns, outputs);
    let [mut rest, columns] = [rest, columns].map(|values| values.into_iter().map(T::to_f64).collect::<Vec<_>>());
    Basis::of_columns(&columns, outputs).reject(&mut rest);
    dot(&rest, &rest)
}

/// The standard deviation of the first response of all. Collective.
fn typical_sigma<T: Real>(data: &Data<'_, T>) -> Result<T, CommunicatorError> {
    if let Noise::Uniform = data.noise {
        return Ok(T::ONE);
    }
    let own = if data.y().is_empty() { None } else { Some(data.noise.sigma(0)) };
    let all = data.ranks().all_gather(own.as_slice())?;
    Ok(all.concat().first().copied().unwrap_or(T::ONE))
}

/// The sum over these moments, each about the mean of all ranks. Collective.
fn squares_about_mean(own: &[Moments], ranks: &Communicator) -> Result<f64, CommunicatorError> {
    let mut sums: Vec<f64> = own.iter().flat_map(|own| [own.weight, own.weight * own.mean]).collect();
    ranks.all_sum(&mut sums)?;
    let means = sums.chunks_exact(2).map(|sums| sums[1] / sums[0]);
    let mut squares = [own.iter().zip(means).map(|(own, mean)| own.squares_about(mean)).sum()];
    ranks.all_sum(&mut squares)?;
    Ok(squares[0])
}
