//! The report on a fit.

use std::marker::PhantomData;

use super::FittedCurve;
use crate::curve::likelihood::Likelihood;
use crate::curve::noise::Noise;
use crate::curve::parameter::{Parameter, Role};
use crate::curve::{
    CorrelationSummary, DataSummary, FitStatistics, FitSummary, Interval, IntervalSummary, LossSummary, ParameterState,
    ParameterSummary, PriorSummary, Warning,
};
use crate::precision::Compiled;
use crate::real::Real;

/// The confidence of the intervals in a report.
pub(super) const LEVEL: f64 = 0.95;

/// Correlations weaker than this are not worth a line in the report.
const WORTH_PRINTING: f64 = 0.1;

/// Summaries are compiled in this crate, for each float once.
struct Summaries<'f, 'a>(PhantomData<&'f &'a ()>);

impl<'f, 'a: 'f> Compiled for Summaries<'f, 'a> {
    type Call<T: Real> = &'f FittedCurve<'a, T>;
    type Output<T: Real> = FitSummary;

    fn in_single(fit: &FittedCurve<'_, f32>) -> FitSummary {
        fit.summarize()
    }

    fn in_double(fit: &FittedCurve<'_, f64>) -> FitSummary {
        fit.summarize()
    }
}

impl<'a, T: Real> FittedCurve<'a, T> {
    /// Content of the report, as plain numbers and texts: to print, to write as Markdown or, with the feature `json`, as JSON.
    ///
    /// ```
    /// let x = [0.0, 1.0, 2.0, 3.0_f64];
    /// let y = [0.1, 1.9, 4.2, 5.8];
    /// let fit = marquardt::curve_fit(|x, [a, b]| a + b * x, &x, &y, [0.0, 1.0])?;
    /// let summary = marquardt::curve::FitSummary { title: Some("A line".into()), ..fit.summary() };
    /// println!("{}", summary.to_markdown());
    /// # Ok::<(), marquardt::CurveError>(())
    /// ```
    pub fn summary(&self) -> FitSummary {
        T::run_compiled::<Summaries<'_, 'a>>(self)
    }

    fn summarize(&self) -> FitSummary {
        let report = self.report();
        FitSummary {
            title: None,
            model: None,
            status: report.status.to_string(),
            is_converged: report.is_converged(),
            iterations: report.iterations,
            evaluations: report.evaluations.total(),
            derivative_evaluations: report.evaluations.jacobians,
            attempts: self.attempts.count,
            kept_attempt: (self.attempts.count > 1).then(|| self.attempts.kept.to_string()),
            data: self.data_summary(),
            statistics: self.statistics(),
            parameters: self.parameter_summaries(),
            derived: self.derived_summaries(),
            correlations: self.correlations(),
            warnings: self.warnings.iter().map(Warning::to_string).collect(),
        }
    }

    fn data_summary(&self) -> DataSummary {
        let checked = &self.checked;
        let size = if checked.options.absolute_sigma { "absolute" } else { "relative" };
        let noise = match (&checked.likelihood, &checked.data.noise) {
            (Likelihood::Poisson, _) => "Poisson counts".to_owned(),
            (_, Noise::Uniform) if checked.data.has_errors_in_x() => "relative errors in x".to_owned(),
            (_, Noise::Uniform) => String::new(),
            (_, Noise::Sigma(_)) if checked.data.has_errors_in_x() => format!("{size} sigma, with errors in x"),
            (_, Noise::Sigma(_)) => format!("{size} sigma"),
            (_, Noise::Correlated(_)) => format!("{size} covariance"),
        };
        let loss = match &checked.likelihood {
            Likelihood::Robust(loss, scale) => {
                Some(LossSummary { name: loss.name().to_owned(), scale: scale.to_f64() })
            }
            Likelihood::Gaussian | Likelihood::Poisson => None,
        };
        DataSummary { observations: self.number_of_observations(), omitted: checked.data.all_omitted(), noise, loss }
    }

    fn statistics(&self) -> FitStatistics {
        let number = |value: T| Some(value.to_f64()).filter(|value| value.is_finite());
        let sum_of_squares = self.residual_sum_of_squares();
        let freedom = self.degrees_of_freedom();
        let variance = (freedom > 0).then(|| sum_of_squares / T::from_f64(freedom as f64));
        // Without weights they are what has been said already.
        let is_weighted = self.covariance().is_absolute() || !matches!(self.checked.data.noise, Noise::Uniform);
        let criteria = self.criteria();
        FitStatistics {
            degrees_of_freedom: freedom,
            residual_sum_of_squares: sum_of_squares.to_f64(),
            residual_standard_deviation: variance.map(|variance| variance.sqrt().to_f64()),
            chi_squared: number(self.chi_square()).filter(|_| is_weighted),
            reduced_chi_squared: self.reduced_chi_square().and_then(number).filter(|_| is_weighted),
            r_squared: self.r_squared().and_then(number),
            aic: number(criteria.aic()),
            aicc: number(criteria.aicc()),
            bic: number(criteria.bic()),
        }
    }

    fn parameter_summaries(&self) -> Vec<ParameterSummary> {
        let intervals = self.confidence_intervals(LEVEL).unwrap_or_default();
        let finite = |value: T| Some(value.to_f64()).filter(|value| value.is_finite());
        let described = self.parameters().iter().zip(&self.checked.map.parameters).enumerate();
        let summary = described.map(|(index, (fitted, Parameter { start, lower, upper, role, prior, .. }))| {
            let does_move = matches!(fitted.state, ParameterState::Free | ParameterState::Tied);
            let interval = intervals.get(index).filter(|_| does_move && fitted.standard_error.is_finite());
            let tie = if let Role::Tied(tie) = role { Some(tie.to_string()) } else { None };
            ParameterSummary {
                name: fitted.name.clone(),
                value: fitted.value.to_f64(),
                standard_error: if does_move { fitted.standard_error.to_f64() } else { f64::NAN },
                interval: interval.copied().map(interval_summary),
                start: finite(*start).filter(|_| tie.is_none()),
                lower: finite(*lower),
                upper: finite(*upper),
                state: fitted.state,
                tie,
                prior: prior.map(|(mean, deviation)| PriorSummary {
                    mean: mean.to_f64(),
                    standard_deviation: deviation.to_f64(),
                }),
            }
        });
        summary.collect()
    }

    /// The stronger correlations, strongest first; not those of parameters that follow from others.
    fn correlations(&self) -> Vec<CorrelationSummary> {
        let correlation = self.covariance().correlation();
        let n = self.parameters().len();
        let is_tied = |index: usize| self.parameters()[index].state == ParameterState::Tied;
        let pairs = (0..n).flat_map(|j| (0..j).map(move |i| (i, j))).filter(|&(i, j)| !is_tied(i) && !is_tied(j));
        let mut correlations: Vec<CorrelationSummary> = pairs
            .map(|(i, j)| CorrelationSummary {
                first: self.parameters()[i].name.clone(),
                second: self.parameters()[j].name.clone(),
                correlation: correlation[(i, j)].to_f64(),
            })
            .filter(|pair| pair.correlation.abs() >= WORTH_PRINTING)
            .collect();
        correlations.sort_by(|a, b| b.correlation.abs().total_cmp(&a.correlation.abs()));
        correlations
    }
}

/// An interval of the report's confidence.
pub(super) fn interval_summary<T: Real>(Interval { low, high }: Interval<T>) -> IntervalSummary {
    IntervalSummary { level: LEVEL, low: low.to_f64(), high: high.to_f64() }
}
